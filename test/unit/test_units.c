/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bramah/units.h"
#include "test/support/run.h"

#define PI 3.14159265358979323846
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const struct {
  const char *text;
  double factor;
  bramah_dimension dimension; /* m kg s V rad, in halves */
} units[] = {
    {"1", 1.0, {0, 0, 0, 0, 0}},
    {"m", 1.0, {2, 0, 0, 0, 0}},
    {"mm", 1e-3, {2, 0, 0, 0, 0}},
    {"cm", 1e-2, {2, 0, 0, 0, 0}},
    {"km", 1e3, {2, 0, 0, 0, 0}},
    {"um", 1e-6, {2, 0, 0, 0, 0}},
    {"\xc2\xb5m", 1e-6, {2, 0, 0, 0, 0}},
    {"kg", 1.0, {0, 2, 0, 0, 0}},
    {"g", 1e-3, {0, 2, 0, 0, 0}},
    {"t", 1e3, {0, 2, 0, 0, 0}},
    {"s", 1.0, {0, 0, 2, 0, 0}},
    {"ms", 1e-3, {0, 0, 2, 0, 0}},
    {"us", 1e-6, {0, 0, 2, 0, 0}},
    {"min", 60.0, {0, 0, 2, 0, 0}},
    {"h", 3600.0, {0, 0, 2, 0, 0}},
    {"N", 1.0, {2, 2, -4, 0, 0}},
    {"kN", 1e3, {2, 2, -4, 0, 0}},
    {"Pa", 1.0, {-2, 2, -4, 0, 0}},
    {"kPa", 1e3, {-2, 2, -4, 0, 0}},
    {"MPa", 1e6, {-2, 2, -4, 0, 0}},
    {"GPa", 1e9, {-2, 2, -4, 0, 0}},
    {"bar", 1e5, {-2, 2, -4, 0, 0}},
    {"mbar", 1e2, {-2, 2, -4, 0, 0}},
    {"V", 1.0, {0, 0, 0, 2, 0}},
    {"mV", 1e-3, {0, 0, 0, 2, 0}},
    {"rad", 1.0, {0, 0, 0, 0, 2}},
    {"mrad", 1e-3, {0, 0, 0, 0, 2}},
    {"deg", PI / 180.0, {0, 0, 0, 0, 2}},
    {"Hz", 1.0, {0, 0, -2, 0, 0}},
    {"kHz", 1e3, {0, 0, -2, 0, 0}},
    {"L", 1e-3, {6, 0, 0, 0, 0}},
    {"mL", 1e-6, {6, 0, 0, 0, 0}},
    {"J", 1.0, {4, 2, -4, 0, 0}},
    {"kJ", 1e3, {4, 2, -4, 0, 0}},
    {"W", 1.0, {4, 2, -6, 0, 0}},
    {"rpm", PI / 30.0, {0, 0, -2, 0, 2}},
    {"rev", 2.0 * PI, {0, 0, 0, 0, 2}},
    {"m/s^2", 1.0, {2, 0, -4, 0, 0}},
    {"kg*m^2", 1.0, {4, 2, 0, 0, 0}},
    {"kg m^2", 1.0, {4, 2, 0, 0, 0}},
    {"kg.m^2", 1.0, {4, 2, 0, 0, 0}},
    {"N*s/m", 1.0, {0, 2, -2, 0, 0}},
    {"N s / m", 1.0, {0, 2, -2, 0, 0}},
    {"m/s/V", 1.0, {2, 0, -2, -2, 0}},
    {"W/m s", 1.0, {2, 2, -8, 0, 0}},
    {"W/m*s", 1.0, {2, 2, -4, 0, 0}},
    {"W/(m*s)", 1.0, {2, 2, -8, 0, 0}},
    {"s^-1", 1.0, {0, 0, -2, 0, 0}},
    {"1/s", 1.0, {0, 0, -2, 0, 0}},
    {"m^(1/2)", 1.0, {1, 0, 0, 0, 0}},
    {"m^(-3/2)", 1.0, {-3, 0, 0, 0, 0}},
    {"m^1.50", 1.0, {3, 0, 0, 0, 0}},
    {"(m/s)^2", 1.0, {4, 0, -4, 0, 0}},
    {"L/min", 1e-3 / 60.0, {6, 0, -2, 0, 0}},
    {"mm^2", 1e-6, {4, 0, 0, 0, 0}},
    {"m^3/s/Pa^0.5", 1.0, {7, -1, 0, 0, 0}},
    {"m^3/s/Pa^0.5/V", 1.0, {7, -1, 0, -2, 0}},
    {"rad/s^2/Hz^0.5", 1.0, {0, 0, -3, 0, 2}},
    {"deg/s^2/Hz^0.5", PI / 180.0, {0, 0, -3, 0, 2}},
    {"bar/s^0.5", 1e5, {-2, 2, -5, 0, 0}},
    {"Pa/sqrt(s)", 1.0, {-2, 2, -5, 0, 0}},
    {"sqrt(kPa)", 31.622776601683793, {-1, 1, -2, 0, 0}},
    {"sqrt(sqrt(mm/m))", 0.17782794100389228, {0, 0, 0, 0, 0}},
    {"((m/mm)^0.5)^0.5", 5.6234132519034908, {0, 0, 0, 0, 0}},
    {"mm^0.5", 0.03162277660168379, {1, 0, 0, 0, 0}},
    {"1/min^0.5", 0.12909944487358055, {0, 0, -1, 0, 0}},
    {"m/s\xc2\xb2", 1.0, {2, 0, -4, 0, 0}},
    {"cm\xc2\xb3", 1e-6, {6, 0, 0, 0, 0}},
    {"N/mm\xc2\xb2", 1e6, {-2, 2, -4, 0, 0}},
    {"N\xc2\xb7m", 1.0, {4, 2, -4, 0, 0}},
    {"W/m\xc2\xb7s", 1.0, {2, 2, -4, 0, 0}},
    {"(m/s)\xc2\xb2", 1.0, {4, 0, -4, 0, 0}},
    {" mm ", 1e-3, {2, 0, 0, 0, 0}},
};

EACH_TEST(unit_has_factor_and_dimension, 0, COUNT(units))
{
  bramah_dimension d;
  bramah_diag diag;
  double factor;
  const bramah_dimension *e = &units[_i].dimension;
  ck_assert_msg(bramah_unit_parse(units[_i].text, &factor, &d, &diag) == BRAMAH_OK, "%s: %s", units[_i].text,
                diag.message);
  ck_assert_msg(fabs(factor / units[_i].factor - 1.0) < 4e-16, "%s: %.17g", units[_i].text, factor);
  ck_assert_msg(memcmp(&d, e, sizeof d) == 0, "%s: %d %d %d %d %d", units[_i].text, d.m, d.kg, d.s, d.volt,
                d.rad);
}

static const struct {
  const char *text, *message;
} bad_units[] = {
    {"", "a unit is missing at the end"},
    {"m/", "a unit is missing at the end (in 'm/')"},
    {"mmm", "unknown unit 'mmm'; did you mean 'mm'?"},
    {"Mpa", "unknown unit 'Mpa'; did you mean 'MPa'?"},
    {"sec", "unknown unit 'sec'; did you mean 's'?"},
    {"Ns", "unknown unit 'Ns'; did you mean 'N*s'?"},
    {"lbs/in2", "unknown unit 'lbs/in2'; did you mean 'psi'?"},
    {"lbs / in^2", "unknown unit 'lbs / in^2'; did you mean 'psi'?"},
    {"PSI", "unknown unit 'PSI'; did you mean 'psi'?"},
    {"kg/cm2", "unknown unit 'kg/cm2'; did you mean 'kgf/cm^2'?"},
    {"lbs/ft", "unknown unit 'lbs'; did you mean 'lb'? (in 'lbs/ft')"},
    {"barg", "unknown unit 'barg'; did you mean 'bar'? (a sensor of gauge pressure says 'reference: gauge')"},
    {"ft-lb", "unknown unit 'ft-lb'; did you mean 'lbf*ft'?"},
    {"kg/m3", "unknown unit 'm3'; did you mean 'm^3'? (in 'kg/m3')"},
    {"furlong", "unknown unit 'furlong'"},
    {"a_name_longer_than_any_unit", "unknown unit 'a_name_longer_than_any_unit'"},
    {"m^", "an exponent such as 2, -1 or 0.5 is expected after 'm^'"},
    {"m^0.3", "an exponent such as 2, -1 or 0.5 is expected after 'm^' (in 'm^0.3')"},
    {"m^(1/2", "an exponent such as 2, -1 or 0.5 is expected after 'm^' (in 'm^(1/2')"},
    {"m^999", "exponent too large or no multiple of 0.5: 'm^999'"},
    {"(m^0.5)^0.5", "exponent too large or no multiple of 0.5: '(m^0.5)^0.5'"},
    {"m^60 m", "exponents are too large (in 'm^60 m')"},
    {"(m", "a closing parenthesis is missing (in '(m')"},
    {"m)", "')' is not understood here (in 'm)')"},
    {"((((((((((m))))))))))", "too many parentheses (in '((((((((((m))))))))))')"},
    {"10 m", "a unit cannot begin with '1' (in '10 m')"},
    {"\xc2\xb2", "a unit cannot begin with '\xc2\xb2'"},
    {"m\xc2\xb2\xc2\xb2", "a unit cannot begin with '\xc2\xb2' (in 'm\xc2\xb2\xc2\xb2')"},
    {"m//s", "a unit cannot begin with '/' (in 'm//s')"},
};

EACH_TEST(bad_unit_is_explained, 0, COUNT(bad_units))
{
  bramah_dimension d = {1, 1, 1, 1, 1};
  bramah_diag diag;
  double factor = 7.0;
  ck_assert_int_eq(bramah_unit_parse(bad_units[_i].text, &factor, &d, &diag), BRAMAH_E_UNIT);
  ck_assert_int_eq(diag.status, BRAMAH_E_UNIT);
  ck_assert_str_eq(diag.message, bad_units[_i].message);
  ck_assert(factor == 7.0 && d.m == 1); /* unchanged on failure */
  ck_assert_int_eq(bramah_unit_parse(bad_units[_i].text, &factor, &d, NULL), BRAMAH_E_UNIT);
}

/* Decimal prefixes cost no rounding: the result is the double nearest to the decimal number. */
static const struct {
  const char *text, *expected;
  double si;
} quantities[] = {
    {"80 mm", "m", 0.08},
    {"80mm", "m", 0.08},
    {"  80   mm ", "m", 0.08},
    {"47.1 cm^3", "m^3", 47.1e-6},
    {"28.3 mm^2", "m^2", 28.3e-6},
    {"78.5 mL", "m^3", 78.5e-6},
    {"7.6 MPa", "Pa", 7.6e6},
    {"31.5 GPa", "Pa", 31.5e9},
    {"-0.5 bar", "Pa", -0.5e5},
    {"+1.5e3 mm", "m", 1.5},
    {"4.5e-0 ms", "s", 4.5e-3},
    {".5 kN", "N", 500.0},
    {"5. N", "N", 5.0},
    {"12.5 mm/s", "m/s", 0.0125},
    {"60 deg", "rad", 60.0 * (PI / 180.0)},
    {"180 deg/s", "rad/s", PI},
    {"30 rpm", "rad/s", PI},
    {"2 1/s", "Hz", 2.0},
    {"0", "m", 0.0},
    {"0.0", "kg*m^2", 0.0},
    {"0.8", "1", 0.8},
    {"0.8 1", "1", 0.8},
    {"9.84e-4 rad/s", "rad/s", 9.84e-4},
    {"2.138e-8 m^3/s/Pa^0.5/V", "m^3/s/Pa^0.5/V", 2.138e-8},
    {"0.5 bar/s^0.5", "Pa/s^0.5", 0.5e5},
    {"3 N*m", "J", 3.0},
    {"3 Nm", "J", 3.0},
    {"80 %", "1", 0.8},
    {"2.5 %", "1", 0.025},
    {"0.1 V/%", "V", 10.0},
    {"45 \xc2\xb0", "rad", 45.0 * (PI / 180.0)},
    {"10 in", "m", 0.254},
    {"10 ft", "m", 3.048},
    {"12.5 mA", "A", 0.0125},
    {"12 V*A", "W", 12.0},
    {"60 lpm", "m^3/s", 1e-3},
    {"100 gal", "m^3", 0.3785411784},
    {"1 daN/cm^2", "Pa", 1e5},
    {"210 kgf/cm^2", "Pa", 210.0 * 98066.5},
    {"46 cSt", "m^2/s", 46e-6},
};

EACH_TEST(quantity_is_converted, 0, COUNT(quantities))
{
  bramah_diag diag;
  double si = NAN;
  ck_assert_msg(bramah_quantity_parse(quantities[_i].text, quantities[_i].expected, &si, &diag) == BRAMAH_OK,
                "%s: %s", quantities[_i].text, diag.message);
  ck_assert_msg(si == quantities[_i].si, "%s: %.17g", quantities[_i].text, si);
}

static const struct {
  const char *text, *expected;
  bramah_status status;
  const char *message;
} bad_quantities[] = {
    {"80 bar", "m", BRAMAH_E_UNIT, "80 bar is a pressure, a length is expected, for example '80 mm'"},
    {"80 mm", "Pa", BRAMAH_E_UNIT, "80 mm is a length, a pressure is expected, for example '80 bar'"},
    {"3 rad", "1", BRAMAH_E_UNIT, "3 rad is an angle, a pure number is expected, for example '3'"},
    {"3 1", "rad", BRAMAH_E_UNIT, "3 1 is a pure number, an angle is expected, for example '3 deg'"},
    {"1 Hz", "rad/s", BRAMAH_E_UNIT,
     "1 Hz is a frequency, an angular rate is expected, for example '1 rad/s'; did you mean 'rev/s'?"},
    {"1 kg/cm^2", "Pa", BRAMAH_E_UNIT,
     "1 kg/cm^2 is something else, a pressure is expected, for example '1 bar'; did you mean 'kgf/cm^2'?"},
    {"70 kg", "N", BRAMAH_E_UNIT,
     "70 kg is a mass, a force is expected, for example '70 N'; did you mean 'kgf'?"},
    {"2 g", "m/s^2", BRAMAH_E_UNIT,
     "2 g is a mass, an acceleration is expected, for example '2 m/s^2'; did you mean 'gn' (the standard "
     "acceleration of gravity)?"},
    {"70 kg", "Pa", BRAMAH_E_UNIT, "70 kg is a mass, a pressure is expected, for example '70 bar'"},
    {"1 m^5", "m", BRAMAH_E_UNIT, "1 m^5 is something else, a length is expected, for example '1 mm'"},
    {"1 m", "m^5", BRAMAH_E_UNIT, "1 m is a length, a value in 'm^5' is expected, for example '1 m^5'"},
    {"80", "m", BRAMAH_E_UNIT, "the unit is missing: a length is expected, for example '80 mm'"},
    {"3,5 mm", "m", BRAMAH_E_UNIT,
     "a unit cannot begin with ','; decimals are written with a point (in ',5 mm')"},
    {"0x10 m", "m", BRAMAH_E_UNIT, "unknown unit 'x10' (in 'x10 m')"},
    {"5 mn", "m", BRAMAH_E_UNIT, "unknown unit 'mn'; did you mean 'mN'?"},
    {"", "m", BRAMAH_E_VALUE, "a value is missing; a length is expected, for example '1 mm'"},
    {"mm", "m", BRAMAH_E_VALUE, "'mm' is not a number with a unit; a length is expected, for example '1 mm'"},
    {"nan m", "m", BRAMAH_E_VALUE,
     "'nan m' is not a number with a unit; a length is expected, for example '1 mm'"},
    {"inf", "m", BRAMAH_E_VALUE,
     "'inf' is not a number with a unit; a length is expected, for example '1 mm'"},
    {"- 5 m", "m", BRAMAH_E_VALUE,
     "'- 5 m' is not a number with a unit; a length is expected, for example '1 mm'"},
    {"1e999 m", "m", BRAMAH_E_VALUE, "number is too large: '1e999 m'"},
    {"1e99999999999999999999 m", "m", BRAMAH_E_VALUE, "number is too large: '1e99999999999999999999 m'"},
    {"1e308 km", "m", BRAMAH_E_VALUE, "number is too large: '1e308 km'"},
};

EACH_TEST(bad_quantity_is_explained, 0, COUNT(bad_quantities))
{
  bramah_diag diag;
  double si = 7.0;
  bramah_status status =
      bramah_quantity_parse(bad_quantities[_i].text, bad_quantities[_i].expected, &si, &diag);
  ck_assert_str_eq(diag.message, bad_quantities[_i].message);
  ck_assert_int_eq(status, bad_quantities[_i].status);
  ck_assert_int_eq(diag.status, status);
  ck_assert(si == 7.0);
  ck_assert_int_eq(bramah_quantity_parse(bad_quantities[_i].text, bad_quantities[_i].expected, &si, NULL),
                   status);
}

TEST(very_long_number_is_read)
{
  char text[1100];
  double si;
  memset(text, '0', sizeof text);
  memcpy(text + 1000, "8 mm", 5);
  ck_assert_int_eq(bramah_quantity_parse(text, "m", &si, NULL), BRAMAH_OK);
  ck_assert(fabs(si - 0.008) < 1e-17);
}

/* The process's locale may have decimal commas; the files do not. */
TEST(locale_does_not_matter)
{
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fi_FI.UTF-8", "de_DE"};
  const char *found = NULL;
  double si = 0.0;
  for (int i = 0; i < COUNT(names) && !found; i++) found = setlocale(LC_ALL, names[i]);
  ck_assert_int_eq(bramah_quantity_parse("2.5 mm", "m", &si, NULL), BRAMAH_OK);
  ck_assert(si == 0.0025);
  if (found) ck_assert_str_eq(localeconv()->decimal_point, ",");
}

int main(void) { return run_tests("units"); }

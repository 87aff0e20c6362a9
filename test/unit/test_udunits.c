/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every factor of lib/io/units.c beside the one of UDUNITS-2, which has its own table. Skips where it is not
 * installed. */
#define _POSIX_C_SOURCE 200809L /* locale_t */
#include <stdio.h>

#ifdef BRAMAH_UDUNITS
#include <math.h>
#include <string.h>
#include <udunits2.h>

#include "lib/io/quantity.h"
#include "test/support/run.h"

/* What UDUNITS calls it. It has only six digits of some: of these also what they are made of. */
static const struct {
  const char *ours, *theirs;
  double within;
} pairs[] = {
    {"1", "1", 0.0},
    {"%", "%", 1e-15},
    {"ppm", "ppm", 1e-15},
    {"m", "m", 0.0},
    {"L", "L", 1e-15},
    {"l", "l", 1e-15},
    {"cc", "cc", 1e-15},
    {"g", "g", 1e-15},
    {"t", "t", 0.0},
    {"s", "s", 0.0},
    {"min", "min", 0.0},
    {"h", "h", 0.0},
    {"Hz", "Hz", 0.0},
    {"rad", "rad", 0.0},
    {"deg", "angular_degree", 1e-15},
    {"\xc2\xb0", "angular_degree", 1e-15},
    {"rev", "revolution", 1e-15},
    {"rpm", "rpm", 1e-15},
    {"N", "N", 0.0},
    {"daN", "daN", 0.0},
    {"Nm", "N.m", 0.0},
    {"Pa", "Pa", 0.0},
    {"bar", "bar", 0.0},
    {"J", "J", 0.0},
    {"W", "W", 0.0},
    {"V", "V", 0.0},
    {"A", "A", 0.0},
    {"gn", "standard_free_fall", 0.0},
    {"kgf", "kgf", 0.0},
    {"kp", "kilogram_force", 0.0},
    {"at", "technical_atmosphere", 0.0},
    {"kgf/cm^2", "technical_atmosphere", 1e-15},
    {"kp/cm^2", "at", 1e-15},
    {"atm", "atm", 0.0},
    {"PS", "75 m.kgf/s", 1e-15},
    {"in", "in", 1e-15},
    {"ft", "ft", 1e-15},
    {"lb", "lb", 0.0},
    {"slug", "slug", 1e-6},
    {"slug", "lbf.s2/ft", 1e-15},
    {"lbf", "lbf", 0.0},
    {"psi", "psi", 1e-15},
    {"ksi", "ksi", 1e-15},
    {"lbf/in^2", "psi", 1e-15},
    {"hp", "horsepower", 1e-6},
    {"hp", "550 ft.lbf/s", 1e-15},
    {"gal", "US_liquid_gallon", 1e-6},
    {"gal", "231 in3", 1e-15},
    {"gpm", "US_liquid_gallon/min", 1e-6},
    {"gpm", "231 in3/min", 1e-15},
    {"lpm", "L/min", 1e-15},
    {"St", "stokes", 1e-15},
    {"P", "poise", 1e-15},
    {"cSt", "cSt", 1e-15},
    {"N/mm^2", "MPa", 1e-15},
    {"cc/rev", "cm3/revolution", 1e-15},
    {"mA", "mA", 1e-15},
    {"kW", "kW", 0.0},
    {"lbf*ft", "ft.lbf", 1e-15},
    {"lb/ft^3", "lb/ft3", 1e-15},
    {"L/min", "L/min", 1e-15},
};
enum { N_PAIRS = sizeof pairs / sizeof pairs[0] };

/* The value of their expression in SI, 0 where it is none. */
static double value_of(ut_system *system, const char *theirs, const bramah_dimension *d)
{
  char si[64];
  snprintf(si, sizeof si, "m%d.kg%d.s%d.V%d.rad%d", d->m / 2, d->kg / 2, d->s / 2, d->volt / 2, d->rad / 2);
  ut_unit *unit = ut_parse(system, theirs, UT_ASCII), *base = ut_parse(system, si, UT_ASCII);
  cv_converter *to_si = unit && base ? ut_get_converter(unit, base) : NULL;
  const double value = to_si ? cv_convert_double(to_si, 1.0) : 0.0;
  cv_free(to_si);
  ut_free(unit);
  ut_free(base);
  return value;
}

EACH_TEST(factor_is_that_of_udunits, 0, N_PAIRS)
{
  ut_set_error_message_handler(ut_ignore);
  ut_system *system = ut_read_xml(NULL);
  ck_assert_msg(system != NULL, "UDUNITS has no database");
  bramah_dimension d;
  bramah_diag diag;
  double factor;
  ck_assert_msg(!bramah_unit_parse(pairs[_i].ours, &factor, &d, &diag), "%s", diag.message);
  const double value = value_of(system, pairs[_i].theirs, &d);
  ck_assert_msg(fabs(factor / value - 1.0) <= pairs[_i].within, "%s is %.17g, %s %.17g", pairs[_i].ours,
                factor, pairs[_i].theirs, value);
  ut_free_system(system);
}

/* Of every two units a product of powers, and each with its prefixes. */
TEST(expression_is_that_of_udunits)
{
  ut_set_error_message_handler(ut_ignore);
  ut_system *system = ut_read_xml(NULL);
  char ours[128], theirs[128];
  bramah_dimension d;
  bramah_diag diag;
  double factor;
  for (int i = 0; i < N_PAIRS; i++) {
    if (strpbrk(pairs[i].ours, "/*^"))
      continue; /* everything behind a / is below it for one, not for the other */
    for (int k = 0; k < N_PAIRS; k++) {
      if (strpbrk(pairs[k].ours, "/*^")) continue;
      snprintf(ours, sizeof ours, "%s^2/%s", pairs[i].ours, pairs[k].ours);
      snprintf(theirs, sizeof theirs, "(%s)^2.(%s)^-1", pairs[i].theirs, pairs[k].theirs);
      ck_assert_msg(!bramah_unit_parse(ours, &factor, &d, &diag), "%s: %s", ours, diag.message);
      const double value = value_of(system, theirs, &d);
      ck_assert_msg(fabs(factor / value - 1.0) <= 4e-15 + 3.0 * fmax(pairs[i].within, pairs[k].within),
                    "%s is %.17g, %s %.17g", ours, factor, theirs, value);
    }
  }
  const char *name;
  for (size_t i = 0; (name = bramah__unit_name(i)) != NULL; i++)
    for (const char *prefix = bramah__unit_prefixes(i); *prefix; prefix++) {
      int k = 0;
      while (strcmp(pairs[k].ours, name) != 0) k++;
      snprintf(ours, sizeof ours, "%c%s", *prefix, name);
      snprintf(theirs, sizeof theirs, "(%cm/m).(%s)", *prefix, pairs[k].theirs);
      ck_assert_msg(!bramah_unit_parse(ours, &factor, &d, &diag), "%s: %s", ours, diag.message);
      const double value = value_of(system, theirs, &d);
      ck_assert_msg(fabs(factor / value - 1.0) <= 4e-15, "%s is %.17g, %s %.17g", ours, factor, theirs,
                    value);
    }
  ut_free_system(system);
}

/* No unit without its pair. */
TEST(every_unit_is_compared)
{
  const char *name;
  for (size_t i = 0; (name = bramah__unit_name(i)) != NULL; i++) {
    size_t k = 0;
    while (k < N_PAIRS && strcmp(pairs[k].ours, name) != 0) k++;
    ck_assert_msg(k < N_PAIRS, "%s is compared with nothing", name);
  }
}

int main(void) { return run_tests("udunits"); }
#else
int main(void)
{
  puts("skipped: UDUNITS-2 is not installed");
  return 77;
}
#endif

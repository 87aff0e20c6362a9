/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* strtod_l */
#include "bramah/units.h"
#include "lib/base/diag.h"
#include "lib/io/fail.h"
#include "lib/base/text.h"
#include "lib/io/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { DIMENSIONS = 5, LARGEST_EXPONENT = 120, LARGEST_POWER_OF_TEN = 300, DEEPEST_PARENTHESES = 8 };
enum { LONGEST_NAME = 15 };

/* A unit while it is put together: other * 10^(tens/2). Powers of ten are kept apart so that "47.1 cm^3" can
 * be read as the decimal number 47.1e-6, with one rounding. Exponents in halves. */
typedef struct unit {
  double other;
  int tens;
  int exponent[DIMENSIONS]; /* m, kg, s, V, rad */
} unit;

typedef struct base_unit {
  const char *name;
  const char *prefixes; /* that make sense with it; mPa and mHz are left out: slips for MPa and MHz */
  double other;
  int tens; /* whole powers of ten here */
  signed char exponent[DIMENSIONS];
} base_unit;

static const base_unit base_units[] = {
    /* SI, and what is used beside it. An ampere is a watt per volt. */
    {"1", "", 1.0, 0, {0, 0, 0, 0, 0}},
    {"%", "", 1.0, -2, {0, 0, 0, 0, 0}},
    {"ppm", "", 1.0, -6, {0, 0, 0, 0, 0}},
    {"m", "kdcmun", 1.0, 0, {2, 0, 0, 0, 0}},
    {"L", "dcmu", 1.0, -3, {6, 0, 0, 0, 0}},
    {"l", "dcmu", 1.0, -3, {6, 0, 0, 0, 0}},
    {"cc", "", 1.0, -6, {6, 0, 0, 0, 0}},
    {"g", "kmu", 1.0, -3, {0, 2, 0, 0, 0}},
    {"t", "", 1.0, 3, {0, 2, 0, 0, 0}},
    {"s", "mun", 1.0, 0, {0, 0, 2, 0, 0}},
    {"min", "", 60.0, 0, {0, 0, 2, 0, 0}},
    {"h", "", 3600.0, 0, {0, 0, 2, 0, 0}},
    {"Hz", "kM", 1.0, 0, {0, 0, -2, 0, 0}},
    {"rad", "mu", 1.0, 0, {0, 0, 0, 0, 2}},
    {"deg", "", PI / 180.0, 0, {0, 0, 0, 0, 2}},
    {"\xc2\xb0", "", PI / 180.0, 0, {0, 0, 0, 0, 2}},
    {"rev", "", 2.0 * PI, 0, {0, 0, 0, 0, 2}},
    {"rpm", "", PI / 30.0, 0, {0, 0, -2, 0, 2}},
    {"N", "mkM", 1.0, 0, {2, 2, -4, 0, 0}},
    {"daN", "", 1.0, 1, {2, 2, -4, 0, 0}},
    {"Nm", "mkM", 1.0, 0, {4, 2, -4, 0, 0}},
    {"Pa", "hkMG", 1.0, 0, {-2, 2, -4, 0, 0}},
    {"bar", "m", 1.0, 5, {-2, 2, -4, 0, 0}},
    {"J", "mkM", 1.0, 0, {4, 2, -4, 0, 0}},
    {"W", "mkM", 1.0, 0, {4, 2, -6, 0, 0}},
    {"V", "kmu", 1.0, 0, {0, 0, 0, 2, 0}},
    {"A", "mu", 1.0, 0, {4, 2, -6, -2, 0}},
    /* By the standard acceleration of gravity, 9.80665 m/s^2. */
    {"gn", "m", 9.80665, 0, {2, 0, -4, 0, 0}},
    {"kgf", "", 9.80665, 0, {2, 2, -4, 0, 0}},
    {"kp", "", 9.80665, 0, {2, 2, -4, 0, 0}},
    {"at", "", 9.80665, 4, {-2, 2, -4, 0, 0}},
    {"atm", "", 101325.0, 0, {-2, 2, -4, 0, 0}},
    {"PS", "", 735.49875, 0, {4, 2, -6, 0, 0}},
    /* By the inch, 25.4 mm, the pound, 0.45359237 kg, and the US gallon, 231 in^3. */
    {"in", "", 25.4, -3, {2, 0, 0, 0, 0}},
    {"ft", "", 304.8, -3, {2, 0, 0, 0, 0}},
    {"lb", "", 0.45359237, 0, {0, 2, 0, 0, 0}},
    {"slug", "", 14.59390293720636483, 0, {0, 2, 0, 0, 0}},
    {"lbf", "", 4.4482216152605, 0, {2, 2, -4, 0, 0}},
    {"psi", "k", 6894.757293168361337, 0, {-2, 2, -4, 0, 0}},
    {"ksi", "", 6894.757293168361337, 3, {-2, 2, -4, 0, 0}},
    {"hp", "", 745.69987158227022, 0, {4, 2, -6, 0, 0}},
    {"gal", "", 3.785411784, -3, {6, 0, 0, 0, 0}},
    {"gpm", "", 6.30901964, -5, {6, 0, -2, 0, 0}},
    {"lpm", "", 1.0 / 60.0, -3, {6, 0, -2, 0, 0}},
    /* Viscosities: stokes and poise. */
    {"St", "c", 1.0, -4, {4, 0, -2, 0, 0}},
    {"P", "c", 1.0, -1, {-2, 2, -2, 0, 0}},
};
enum { N_BASE_UNITS = sizeof base_units / sizeof base_units[0] };

const char *bramah__unit_name(size_t i) { return i < N_BASE_UNITS ? base_units[i].name : NULL; }
const char *bramah__unit_prefixes(size_t i) { return base_units[i].prefixes; }

static const struct {
  char letter;
  int tens;
} prefixes[] = {{'G', 9},  {'M', 6},  {'k', 3},  {'h', 2}, {'d', -1},
                {'c', -2}, {'m', -3}, {'u', -6}, {'n', -9}};
enum { N_PREFIXES = sizeof prefixes / sizeof prefixes[0] };

/* What a dimension is called, with the unit of an example. */
static const struct {
  const char *unit, *phrase, *example;
} quantity_names[] = {
    {"1", "a pure number", ""},
    {"m", "a length", "mm"},
    {"m^2", "an area", "mm^2"},
    {"m^3", "a volume", "cm^3"},
    {"kg", "a mass", "kg"},
    {"s", "a time", "ms"},
    {"Hz", "a frequency", "Hz"},
    {"rad", "an angle", "deg"},
    {"rad/s", "an angular rate", "rad/s"},
    {"rad/s^2", "an angular acceleration", "rad/s^2"},
    {"m/s", "a speed", "m/s"},
    {"m/s^2", "an acceleration", "m/s^2"},
    {"N", "a force", "N"},
    {"Pa", "a pressure", "bar"},
    {"V", "a voltage", "V"},
    {"kg*m^2", "a moment of inertia", "kg*m^2"},
    {"kg/m^3", "a density", "kg/m^3"},
    {"N*s/m", "a viscous friction coefficient", "N*s/m"},
    {"m^3/rad", "a displacement", "cm^3/rev"},
    {"A", "a current", "mA"},
    {"Pa*s", "a viscosity", "cP"},
    {"m^2/s", "a kinematic viscosity", "cSt"},
    {"N/m", "a stiffness", "N/m"},
    {"m^3/s", "a volume flow", "L/min"},
    {"J", "an energy or a torque", "J"},
    {"W", "a power", "W"},
    {"m^3/s/Pa^0.5", "a flow coefficient", "m^3/s/Pa^0.5"},
    {"m^3/s/Pa^0.5/V", "a flow coefficient per volt", "m^3/s/Pa^0.5/V"},
    {"rad/s^2/Hz^0.5", "a noise density of angular acceleration", "rad/s^2/Hz^0.5"},
    {"m/s^2/Hz^0.5", "a noise density of acceleration", "m/s^2/Hz^0.5"},
    {"Pa/s^0.5", "a noise density of pressure", "bar/s^0.5"},
};
enum { N_QUANTITY_NAMES = sizeof quantity_names / sizeof quantity_names[0] };

const char *bramah__unit_named(size_t i) { return i < N_QUANTITY_NAMES ? quantity_names[i].unit : NULL; }

/* ---- reading ---- */

typedef struct cursor {
  const char *text; /* all of it, for messages */
  const char *at;
  bramah_diag *diag;
} cursor;

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
/* Bytes above 127 belong to letters such as the micro sign. */
static int is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

/* The signs Â² and Â³: the exponent they stand for; for Â· 1, which is a product; else 0. */
static int superscript_at(const char *text)
{
  if (text[0] != '\xc2') return 0;
  return text[1] == '\xb2' ? 2 : text[1] == '\xb3' ? 3 : text[1] == '\xb7';
}

static void skip_spaces(cursor *c)
{
  while (is_space(*c->at)) c->at++;
}

static void add_part(bramah_diag *diag, const char *text, size_t length)
{
  char part[64] = "";
  if (length >= sizeof part) length = sizeof part - 1;
  memcpy(part, text, length);
  part[length] = '\0';
  bramah__add_text(diag, part);
}

static bramah_status fail_unit(cursor *c, const char *before, const char *part, size_t length,
                               const char *after)
{
  bramah__fail(c->diag, BRAMAH_E_UNIT, NULL, before);
  add_part(c->diag, part, length);
  bramah__add_text(c->diag, after);
  if (strcmp(c->text, part) != 0 || length != strlen(part)) {
    bramah__add_text(c->diag, " (in '");
    add_part(c->diag, c->text, strlen(c->text));
    bramah__add_text(c->diag, "')");
  }
  return BRAMAH_E_UNIT;
}

/* ---- names ---- */

/* A name as a whole comes before prefix and name: "min" is no milli-inch. */
static int find_unit(const char *name, unit *out)
{
  const base_unit *found = NULL;
  int tens = 0;
  for (size_t i = 0; !found && i < N_BASE_UNITS; i++)
    if (strcmp(base_units[i].name, name) == 0) found = &base_units[i];
  for (size_t i = 0; !found && name[0] && i < N_BASE_UNITS; i++)
    if (strcmp(base_units[i].name, name + 1) == 0 && strchr(base_units[i].prefixes, name[0]))
      found = &base_units[i];
  if (!found) return 0;
  for (size_t k = 0; strcmp(found->name, name) != 0 && k < N_PREFIXES; k++)
    if (prefixes[k].letter == name[0]) tens = prefixes[k].tens;
  out->other = found->other;
  out->tens = 2 * (found->tens + tens);
  for (int i = 0; i < DIMENSIONS; i++) out->exponent[i] = found->exponent[i];
  return 1;
}

/* What is often written, without blanks and ^ * -, and what is meant, be it that the unit is unknown or is one of
 * another dimension; with a remark, or NULL. */
static const struct {
  const char *written, *meant, *remark;
} usual_slips[] = {{"sec", "s", NULL},
                   {"seconds", "s", NULL},
                   {"hr", "h", NULL},
                   {"degree", "deg", NULL},
                   {"degrees", "deg", NULL},
                   {"volt", "V", NULL},
                   {"volts", "V", NULL},
                   {"Ns", "N*s", NULL},
                   {"kgm", "kg*m", NULL},
                   {"inch", "in", NULL},
                   {"feet", "ft", NULL},
                   {"lbs", "lb", NULL},
                   {"lbm", "lb", NULL},
                   {"kg", "kgf", NULL},
                   {"lb", "lbf", NULL},
                   {"g", "gn", "the standard acceleration of gravity"},
                   {"Hz", "rev/s", NULL},
                   {"1/min", "rpm", NULL},
                   {"RPM", "rpm", NULL},
                   {"GPM", "gpm", NULL},
                   {"PSI", "psi", NULL},
                   {"lb/in2", "psi", NULL},
                   {"lbs/in2", "psi", NULL},
                   {"psia", "psi", NULL},
                   {"bara", "bar", NULL},
                   {"psig", "psi", "a sensor of gauge pressure says 'reference: gauge'"},
                   {"barg", "bar", "a sensor of gauge pressure says 'reference: gauge'"},
                   {"kg/cm2", "kgf/cm^2", NULL},
                   {"kg/mm2", "kgf/mm^2", NULL},
                   {"ftlb", "lbf*ft", NULL},
                   {"lbft", "lbf*ft", NULL},
                   {"inlb", "lbf*in", NULL},
                   {"lbin", "lbf*in", NULL}};
enum { N_USUAL_SLIPS = sizeof usual_slips / sizeof usual_slips[0] };

/* Index of what is written there, N_USUAL_SLIPS if it is no usual slip. */
static size_t find_slip(const char *text)
{
  char squeezed[LONGEST_NAME + 1];
  size_t n = 0, i = 0;
  for (; *text && n < LONGEST_NAME; text++)
    if (!strchr(" ^*-", *text)) squeezed[n++] = *text;
  squeezed[n] = '\0';
  while (!*text && i < N_USUAL_SLIPS && strcmp(usual_slips[i].written, squeezed) != 0) i++;
  return *text ? N_USUAL_SLIPS : i;
}

/* The nearest name, with the prefixes it may have; NULL: nothing is near. `near`: room for it. */
static const char *find_near(const char *name, char near[8])
{
  enum { MOST = 128 };
  char text[MOST][8];
  const char *candidates[MOST];
  size_t n = 0;
  for (size_t i = 0; i < N_BASE_UNITS && n < MOST; i++) {
    const char *prefix = base_units[i].prefixes;
    bramah__append(text[n++], sizeof text[0], 0, base_units[i].name);
    for (; *prefix && n < MOST; prefix++) {
      text[n][0] = *prefix;
      bramah__append(text[n++], sizeof text[0], 1, base_units[i].name);
    }
  }
  for (size_t i = 0; i < n; i++) candidates[i] = text[i];
  const char *best = bramah__nearest(name, n, candidates);
  if (best) memcpy(near, best, sizeof text[0]);
  return best ? near : NULL;
}

/* What is meant perhaps: what others write for it, "m^2" for "m2", or the nearest name. */
static bramah_status fail_name(cursor *c, const char *start, size_t length, char *name)
{
  char near[8], after[160] = "'";
  unit out;
  size_t letters = strlen(name), used = 1, slip = find_slip(c->text);
  const size_t all = letters;
  const int is_whole = slip < N_USUAL_SLIPS;
  if (!is_whole) slip = find_slip(name);
  const int is_slip = slip < N_USUAL_SLIPS;
  const char *best = is_slip ? usual_slips[slip].meant : find_near(name, near);
  while (letters && is_digit(name[letters - 1])) letters--;
  const int forgotten = letters && letters < all;
  if (forgotten) name[letters] = '\0';
  const int power = forgotten && !is_slip && find_unit(name, &out);
  if (is_whole) start = c->text, length = strlen(c->text);
  if (!best && !power) return fail_unit(c, "unknown unit '", start, length, after);
  used = bramah__append(after, sizeof after, used, "; did you mean '");
  used = bramah__append(after, sizeof after, used, power ? name : best);
  if (power) {
    used = bramah__append(after, sizeof after, used, "^");
    for (size_t i = letters; i < length && used < sizeof after - 4; i++) after[used++] = start[i];
    after[used] = '\0';
  }
  used = bramah__append(after, sizeof after, used, "'?");
  if (is_slip && usual_slips[slip].remark) {
    used = bramah__append(after, sizeof after, used, " (");
    used = bramah__append(after, sizeof after, used, usual_slips[slip].remark);
    bramah__append(after, sizeof after, used, ")");
  }
  return fail_unit(c, "unknown unit '", start, length, after);
}

static bramah_status parse_name(cursor *c, unit *out)
{
  char name[LONGEST_NAME + 1] = "";
  const char *start = c->at;
  if (*c->at == '%' || (*c->at == '1' && !is_letter(c->at[1]) && !is_digit(c->at[1])))
    c->at++;
  else if (is_letter(*c->at))
    while ((is_letter(*c->at) || is_digit(*c->at)) && !superscript_at(c->at)) c->at++;
  const size_t length = (size_t)(c->at - start);
  if (!length && find_slip(c->text) < N_USUAL_SLIPS) return fail_name(c, start, length, name);
  if (!length && !*start) return fail_unit(c, "a unit is missing at the end", start, 0, "");
  if (!length)
    return fail_unit(c, "a unit cannot begin with '", start, superscript_at(start) ? 2 : 1,
                     *start == ',' ? "'; decimals are written with a point" : "'");
  if (length > LONGEST_NAME) return fail_unit(c, "unknown unit '", start, length, "'");

  /* A micro sign or Greek mu of two bytes in front is the prefix u. */
  const int micro = length > 2 && (memcmp(start, "\xc2\xb5", 2) == 0 || memcmp(start, "\xce\xbc", 2) == 0);
  if (micro) name[0] = 'u';
  memcpy(name + micro, start + 2 * micro, length - 2 * (size_t)micro);
  return find_unit(name, out) ? BRAMAH_OK : fail_name(c, start, length, name);
}

/* ---- products of powers ---- */

/* 2, -1, 0.5, 1.5, (1/2), (-3/2): in halves. Returns 0 if it is none of these. */
static int parse_exponent(cursor *c, int *halves)
{
  int whole = 0, digits = 0;
  const int parentheses = *c->at == '(';
  if (parentheses) c->at++;
  const int negative = *c->at == '-';
  if (*c->at == '-' || *c->at == '+') c->at++;
  for (; is_digit(*c->at) && digits < 3; c->at++, digits++) whole = 10 * whole + (*c->at - '0');
  if (!digits) return 0;
  *halves = 2 * whole;
  if (*c->at == '.' && is_digit(c->at[1])) {
    if (c->at[1] == '5') *halves += 1;
    if (c->at[1] != '5' && c->at[1] != '0') return 0;
    for (c->at += 2; *c->at == '0'; c->at++) continue;
  } else if (parentheses && c->at[0] == '/' && (c->at[1] == '1' || c->at[1] == '2')) {
    if (c->at[1] == '2') *halves = whole;
    c->at += 2;
  }
  if (negative) *halves = -*halves;
  if (parentheses && *c->at++ != ')') return 0;
  return !is_digit(*c->at);
}

/* Raise to halves/2; 0 if an exponent is then no multiple of a half or leaves its range. */
static int raise(unit *u, int halves)
{
  const double other = u->other;
  int *all[DIMENSIONS + 1] = {&u->tens};
  if (halves > LARGEST_EXPONENT || halves < -LARGEST_EXPONENT) return 0;
  for (int i = 0; i < DIMENSIONS; i++) all[i + 1] = &u->exponent[i];
  u->other = 1.0;
  for (int i = 0; i <= DIMENSIONS; i++) {
    int product = *all[i] * halves;
    if (product % 2) {
      if (i) return 0;
      u->other *= pow(10.0, product < 0 ? -0.25 : 0.25); /* 10^(1/4): a root of a root of ten */
      product += product < 0 ? 1 : -1;
    }
    *all[i] = product / 2;
    if (i && abs(*all[i]) > LARGEST_EXPONENT) return 0;
  }
  if (abs(u->tens) > 2 * LARGEST_POWER_OF_TEN) return 0;
  if (other != 1.0) u->other *= pow(other, halves / 2.0);
  return 1;
}

static bramah_status parse_product(cursor *c, unit *out, int depth);

/* name, (product) or sqrt(product), each with an exponent. */
static bramah_status parse_factor(cursor *c, unit *out, int depth)
{
  const char *start = c->at;
  const int root = strncmp(start, "sqrt(", 5) == 0;
  int halves = 2;
  bramah_status status;
  if (root) c->at += 4;
  if (*c->at == '(') {
    if (depth >= DEEPEST_PARENTHESES) return fail_unit(c, "too many parentheses", c->at, 0, "");
    c->at++;
    status = parse_product(c, out, depth + 1);
    if (status) return status;
    if (*c->at != ')') return fail_unit(c, "a closing parenthesis is missing", c->at, 0, "");
    c->at++;
  } else {
    status = parse_name(c, out);
    if (status) return status;
  }
  if (root && !raise(out, 1))
    return fail_unit(c, "exponents go in steps of 0.5; too fine: '", start, (size_t)(c->at - start), "'");
  const char *caret = c->at;
  const int superscript = superscript_at(caret);
  if (*caret != '^' && superscript < 2) return BRAMAH_OK;
  c->at += superscript ? 2 : 1;
  if (superscript)
    halves = 2 * superscript;
  else if (!parse_exponent(c, &halves))
    return fail_unit(c, "an exponent such as 2, -1 or 0.5 is expected after '", start,
                     (size_t)(caret - start) + 1, "'");
  if (!raise(out, halves))
    return fail_unit(c, "exponent too large or no multiple of 0.5: '", start, (size_t)(c->at - start), "'");
  return BRAMAH_OK;
}

/* Factors joined by *, /, . and spaces. After a / everything stays below the line until the next * or /. */
static bramah_status parse_product(cursor *c, unit *out, int depth)
{
  int below = 0;
  *out = (unit){.other = 1.0};
  for (;;) {
    unit factor;
    skip_spaces(c);
    const bramah_status status = parse_factor(c, &factor, depth);
    if (status) return status;

    int in_range = !below || raise(&factor, -2);
    out->other *= factor.other;
    out->tens += factor.tens;
    for (int i = 0; i < DIMENSIONS; i++) {
      out->exponent[i] += factor.exponent[i];
      in_range = in_range && abs(out->exponent[i]) <= LARGEST_EXPONENT;
    }
    if (!in_range || abs(out->tens) > 2 * LARGEST_POWER_OF_TEN)
      return fail_unit(c, "exponents are too large", c->at, 0, "");

    skip_spaces(c);
    if (!*c->at || *c->at == ')') return BRAMAH_OK;
    const int dot = superscript_at(c->at) == 1;
    if (*c->at == '*' || *c->at == '/' || dot) below = *c->at == '/';
    if (dot)
      c->at += 2;
    else if (*c->at == '*' || *c->at == '/' || *c->at == '.')
      c->at++;
  }
}

static bramah_status parse_unit(const char *text, unit *out, bramah_diag *diag)
{
  cursor c = {.text = text, .at = text, .diag = diag};
  bramah_status status = parse_product(&c, out, 0);
  if (status) return status;
  if (*c.at) return fail_unit(&c, "'", c.at, 1, "' is not understood here");
  if (out->tens % 2) {
    out->other *= sqrt(10.0);
    out->tens -= 1; /* towards the even number below, also for negative ones */
  }
  return BRAMAH_OK;
}

static bramah_dimension dimension_of(const unit *u)
{
  return (bramah_dimension){.m = (signed char)u->exponent[0],
                            .kg = (signed char)u->exponent[1],
                            .s = (signed char)u->exponent[2],
                            .volt = (signed char)u->exponent[3],
                            .rad = (signed char)u->exponent[4]};
}

bramah_status bramah_unit_parse(const char *text, double *factor, bramah_dimension *dimension,
                                bramah_diag *diag)
{
  unit u;
  bramah_status status = parse_unit(text, &u, diag);
  if (status) return status;
  const double power = pow(10.0, abs(u.tens / 2));
  *factor = u.tens < 0 ? u.other / power : u.other * power;
  *dimension = dimension_of(&u);
  return BRAMAH_OK;
}

int bramah__same_dimension(bramah_dimension a, bramah_dimension b)
{
  return a.m == b.m && a.kg == b.kg && a.s == b.s && a.volt == b.volt && a.rad == b.rad;
}

/* A decimal number: mantissa text, exponent behind its e, end. */
typedef struct number {
  const char *start, *end;
  size_t mantissa_length;
  int exponent;
} number;

/* [+-] digits [. digits] [e [+-] digits]; no hexadecimals, infinities or commas, whatever strtod may take. */
static int scan_number(const char *text, number *out)
{
  const char *p = text;
  int digits = 0;
  while (is_space(*p)) p++;
  out->start = p;
  if (*p == '+' || *p == '-') p++;
  for (; is_digit(*p); p++) digits++;
  if (*p == '.')
    for (p++; is_digit(*p); p++) digits++;
  if (!digits) return 0;
  out->mantissa_length = (size_t)(p - out->start);
  out->exponent = 0;
  const char *e = p + 1;
  if (*p == 'e' || *p == 'E') {
    int negative = *e == '-', value = 0;
    if (*e == '-' || *e == '+') e++;
    if (is_digit(*e)) {
      for (; is_digit(*e); e++)
        if (value < 100000) value = 10 * value + (*e - '0');
      out->exponent = negative ? -value : value;
      p = e;
    }
  }
  out->end = p;
  return 1;
}

const char *bramah__unit_of(const char *text)
{
  number n;
  if (!scan_number(text, &n)) return NULL;
  while (is_space(*n.end)) n.end++;
  return n.end;
}

bramah_status bramah__quantity_read(locale_t c_locale, const char *text, const char *lent,
                                    bramah__quantity *out, bramah_diag *diag)
{
  number n;
  unit u = {.other = 1.0};
  if (!scan_number(text, &n)) {
    if (!*text) return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "a value is missing");
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "'%s' is not a number with a unit", text);
  }
  const char *own = bramah__unit_of(text);
  out->unit = *own ? own : lent ? lent : "";
  out->number = n.start;
  out->number_length = (size_t)(n.end - n.start);
  bramah_status status = *out->unit ? parse_unit(out->unit, &u, diag) : BRAMAH_OK;
  if (status) return status;
  out->dimension = dimension_of(&u);

  /* The decimal number times a power of ten, rounded once; an absurdly long one twice. */
  char decimal[400];
  if (n.mantissa_length + BRAMAH__NUMBER_SIZE < sizeof decimal) {
    memcpy(decimal, n.start, n.mantissa_length);
    decimal[n.mantissa_length] = 'e';
    bramah__format_integer(decimal + n.mantissa_length + 1, n.exponent + u.tens / 2);
    out->si = strtod_l(decimal, NULL, c_locale) * u.other;
  } else {
    out->si = strtod_l(n.start, NULL, c_locale) * pow(10.0, u.tens / 2) * u.other;
  }
  if (isfinite(out->si)) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "number is too large: '%s'", text);
}

/* Index of the name of a dimension, N_QUANTITY_NAMES if it has none. */
static size_t find_quantity_name(bramah_dimension dimension)
{
  size_t i = 0;
  for (; i < N_QUANTITY_NAMES; i++) {
    unit u;
    if (!parse_unit(quantity_names[i].unit, &u, NULL) && bramah__same_dimension(dimension_of(&u), dimension))
      break;
  }
  return i;
}

static int dimension_of_text(const char *text, bramah_dimension *out)
{
  unit u;
  if (!text || parse_unit(text, &u, NULL)) return 0;
  *out = dimension_of(&u);
  return 1;
}

const char *bramah__unit_phrase(const char *text, const char **example)
{
  bramah_dimension dimension;
  const size_t name = dimension_of_text(text, &dimension) ? find_quantity_name(dimension) : N_QUANTITY_NAMES;
  if (name == N_QUANTITY_NAMES) return NULL;
  *example = quantity_names[name].example;
  return quantity_names[name].phrase;
}

static void add_phrase(bramah_diag *diag, const char *unit_text, size_t name)
{
  if (name < N_QUANTITY_NAMES) {
    bramah__add_text(diag, quantity_names[name].phrase);
    return;
  }
  bramah__add_text(diag, "a value in '");
  bramah__add_text(diag, unit_text);
  bramah__add_text(diag, "'");
}

void bramah__add_expectation(bramah_diag *diag, const char *number_text, size_t number_length,
                             const char *expected, const char *other)
{
  bramah_dimension dimension = {0, 0, 0, 0, 0}, other_dimension;
  dimension_of_text(expected, &dimension);
  size_t name = find_quantity_name(dimension);
  const char *example = name < N_QUANTITY_NAMES ? quantity_names[name].example : expected;
  add_phrase(diag, expected, name);
  if (dimension_of_text(other, &other_dimension)) {
    bramah__add_text(diag, " or ");
    add_phrase(diag, other, find_quantity_name(other_dimension));
  }
  bramah__add_text(diag, " is expected, for example '");
  add_part(diag, number_text, number_length);
  if (*example) bramah__add_text(diag, " ");
  bramah__add_text(diag, example);
  bramah__add_text(diag, "'");
}

void bramah__add_meant(bramah_diag *diag, const char *text, const char *expected)
{
  bramah_dimension wanted, meant;
  const size_t slip = find_slip(text);
  if (slip == N_USUAL_SLIPS || !dimension_of_text(expected, &wanted) ||
      !dimension_of_text(usual_slips[slip].meant, &meant) || !bramah__same_dimension(wanted, meant))
    return;
  bramah__add_text(diag, "; did you mean '");
  bramah__add_text(diag, usual_slips[slip].meant);
  bramah__add_text(diag, usual_slips[slip].remark ? "' (" : "'?");
  if (!usual_slips[slip].remark) return;
  bramah__add_text(diag, usual_slips[slip].remark);
  bramah__add_text(diag, ")?");
}

bramah_status bramah__quantity_expect(const bramah__quantity *q, const char *expected, const char *other,
                                      bramah_diag *diag)
{
  bramah_dimension wanted;
  if (!*q->unit && q->si == 0.0) return BRAMAH_OK;
  if (dimension_of_text(expected, &wanted) && bramah__same_dimension(q->dimension, wanted)) return BRAMAH_OK;
  if (dimension_of_text(other, &wanted) && bramah__same_dimension(q->dimension, wanted)) return BRAMAH_OK;
  size_t name = find_quantity_name(q->dimension);
  if (!*q->unit) {
    bramah__fail(diag, BRAMAH_E_UNIT, NULL, "the unit is missing: ");
  } else {
    bramah__fail(diag, BRAMAH_E_UNIT, NULL, "");
    add_part(diag, q->number, q->number_length);
    bramah__add_text(diag, " ");
    bramah__add_text(diag, q->unit);
    if (name < N_QUANTITY_NAMES) bramah__add_text(diag, " is ");
    bramah__add_text(diag, name < N_QUANTITY_NAMES ? quantity_names[name].phrase : " is something else");
    bramah__add_text(diag, ", ");
  }
  bramah__add_expectation(diag, q->number, q->number_length, expected, other);
  bramah__add_meant(diag, q->unit, expected);
  return BRAMAH_E_UNIT;
}

bramah_status bramah_quantity_parse(const char *text, const char *expected, double *si, bramah_diag *diag)
{
  bramah__quantity q;
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c_locale) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "no memory for the C locale");
  bramah_status status = bramah__quantity_read(c_locale, text, NULL, &q, diag);
  freelocale(c_locale);
  if (status == BRAMAH_E_VALUE && !bramah__unit_of(text)) {
    bramah__add_text(diag, "; ");
    bramah__add_expectation(diag, "1", 1, expected, NULL);
  }
  if (!status) status = bramah__quantity_expect(&q, expected, NULL, diag);
  if (!status) *si = q.si;
  return status;
}

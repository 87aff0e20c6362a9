/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as a quantity or unit: the first line is the unit that is expected, the rest is read. */
#include "bramah/units.h"
#include "test/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 256 };

static int same(bramah_dimension a, bramah_dimension b)
{
  return a.m == b.m && a.kg == b.kg && a.s == b.s && a.volt == b.volt && a.rad == b.rad;
}

static int is_opposite(bramah_dimension a, bramah_dimension b)
{
  return a.m == -b.m && a.kg == -b.kg && a.s == -b.s && a.volt == -b.volt && a.rad == -b.rad;
}

/* What fits in a factor without a limit of double; logarithms add up then. */
static int is_moderate(double factor) { return factor > 1e-140 && factor < 1e140; }

static void check_inverse(const char *unit, double factor, bramah_dimension dimension)
{
  char text[LONGEST + 16];
  bramah_dimension inverse_dimension;
  double inverse;
  snprintf(text, sizeof text, "(%s)^-1", unit);
  if (bramah_unit_parse(text, &inverse, &inverse_dimension, NULL)) return; /* parentheses too deep */
  FUZZ_CHECK(is_opposite(dimension, inverse_dimension), "dimension of '%s'", text);
  if (is_moderate(factor))
    FUZZ_CHECK(fabs(factor * inverse - 1.0) < 1e-9, "'%s' is %g and %g", text, factor, inverse);
}

static void check_unit(const char *unit)
{
  bramah_diag diag;
  bramah_dimension dimension = {0}, again;
  double factor = NAN, si;
  char text[LONGEST + 16];
  bramah_diag_clear(&diag);
  const bramah_status status = bramah_unit_parse(unit, &factor, &dimension, &diag);
  if (status) {
    FUZZ_CHECK(status == BRAMAH_E_UNIT, "%s", bramah_status_name(status));
    fuzz_check_diag(&diag, status, "", 0);
    return;
  }
  FUZZ_CHECK(isfinite(factor) && factor > 0.0, "the factor of '%s' is %g", unit, factor);
  FUZZ_CHECK(!bramah_unit_parse(unit, &si, &again, NULL) && si == factor && same(dimension, again), "twice");
  check_inverse(unit, factor, dimension);
  snprintf(text, sizeof text, "1 %s", unit);
  const bramah_status one = bramah_quantity_parse(text, unit, &si, &diag);
  if (one) FUZZ_CHECK(!unit[strspn(unit, " \t\r\n")], "'%s': %s", text, diag.message);
  if (!one && is_moderate(factor))
    FUZZ_CHECK(fabs(si / factor - 1.0) < 1e-9, "'%s' is %g, not %g", text, si, factor);
}

static void check_quantity(const char *text, const char *expected)
{
  bramah_diag diag;
  double si = NAN, again = NAN;
  bramah_diag_clear(&diag);
  const bramah_status status = bramah_quantity_parse(text, expected, &si, &diag);
  const bramah_status second = bramah_quantity_parse(text, expected, &again, NULL);
  FUZZ_CHECK(status == second && (status || memcmp(&si, &again, sizeof si) == 0), "'%s' read twice", text);
  if (status) {
    FUZZ_CHECK(status == BRAMAH_E_UNIT || status == BRAMAH_E_VALUE, "%s", bramah_status_name(status));
    FUZZ_CHECK(isnan(si), "a value beside an error");
    fuzz_check_diag(&diag, status, "", 0);
  } else {
    FUZZ_CHECK(isfinite(si), "'%s' is %g", text, si);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const expected[] = {"1", "m", "Pa", "rad/s", "m^3/s/Pa^0.5/V"};
  char text[LONGEST + 1];
  if (size > LONGEST) size = LONGEST;
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  char *rest = strchr(text, '\n');
  if (rest) *rest++ = '\0';
  check_unit(text);
  check_quantity(rest ? rest : text, text);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    check_quantity(rest ? rest : text, expected[i]);
  return 0;
}

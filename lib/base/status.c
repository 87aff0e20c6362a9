/* SPDX-License-Identifier: MIT */
#include "bramah/status.h"
#include "lib/base/text.h"

const char *bramah_status_name(bramah_status status)
{
  switch (status) {
#define CASE(name, code, text)                                                                               \
  case BRAMAH_##name:                                                                                        \
    return #name;
    BRAMAH_STATUS_LIST(CASE)
#undef CASE
  }
  return "E_?";
}

const char *bramah_status_text(bramah_status status)
{
  switch (status) {
#define CASE(name, code, text)                                                                               \
  case BRAMAH_##name:                                                                                        \
    return text;
    BRAMAH_STATUS_LIST(CASE)
#undef CASE
  }
  return "unknown status";
}

void bramah_diag_clear(bramah_diag *diag)
{
  if (!diag) return;
  diag->status = BRAMAH_OK;
  diag->line = 0;
  diag->column = 0;
  diag->file[0] = diag->thing[0] = diag->message[0] = '\0';
}

static size_t append_position(char *out, size_t n, size_t used, int number)
{
  char digits[BRAMAH__NUMBER_SIZE];
  bramah__format_integer(digits, number);
  used = bramah__append(out, n, used, digits);
  return bramah__append(out, n, used, ":");
}

size_t bramah_diag_format(const bramah_diag *diag, char *out, size_t n)
{
  size_t used = 0;
  if (n) out[0] = '\0';
  if (diag->file[0]) {
    used = bramah__append(out, n, used, diag->file);
    used = bramah__append(out, n, used, ":");
    if (diag->line) used = append_position(out, n, used, diag->line);
    if (diag->line && diag->column) used = append_position(out, n, used, diag->column);
    used = bramah__append(out, n, used, " ");
  }
  if (diag->thing[0]) {
    used = bramah__append(out, n, used, diag->thing);
    used = bramah__append(out, n, used, ": ");
  }
  used = bramah__append(out, n, used, diag->message[0] ? diag->message : bramah_status_text(diag->status));
  if (n) bramah_make_printable(out);
  return used;
}

/* As bramah__character; 0 also for one that is not printed. */
static size_t printed(const unsigned char *p)
{
  const size_t n = bramah__character((const char *)p);
  const int is_control = p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
  const int is_turn = p[0] == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
                                       (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
  return is_control || is_turn ? 0 : n;
}

void bramah_make_printable(char *text)
{
  for (unsigned char *p = (unsigned char *)text; *p;) {
    const size_t n = printed(p);
    if (!n) *p = '?';
    p += n ? n : 1;
  }
}

const char *bramah_nearest_name(const char *name, size_t n, const char *const *names)
{
  return bramah__nearest(name, n, names);
}

const char *bramah_version(void) { return BRAMAH_VERSION; }

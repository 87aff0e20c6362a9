/* SPDX-License-Identifier: MIT */
#include "lib/graph/c_source.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static void append(bramah__page *page, const char *text, size_t n)
{
  if (page->used + n + 1 > page->room) {
    const size_t room = 2 * page->room + n + 4096;
    char *larger = page->failed ? NULL : realloc(page->text, room);
    page->failed |= !larger;
    if (!larger) return;
    page->text = larger;
    page->room = room;
  }
  memcpy(page->text + page->used, text, n);
  page->used += n;
  page->text[page->used] = '\0';
}

/* 0x1.<13 digits>p<exponent> of a normal number; out [32] */
static size_t format_hexadecimal(char *out, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  size_t n = 0;
  if (bits >> 63) out[n++] = '-';
  memcpy(out + n, "0x1.", 4);
  n += 4;
  for (int digit = 12; digit >= 0; digit--) out[n++] = "0123456789abcdef"[(bits >> (4 * digit)) & 15];
  out[n++] = 'p';
  return n + bramah__format_integer(out + n, (int64_t)((bits >> 52) & 0x7ff) - 1023);
}

/* A number as C reads it to the same bits: with as few digits as that takes, in hexadecimal where our own reader, which
 * is exact, does not take it. */
static void append_number(bramah__page *page, double value)
{
  char text[BRAMAH__NUMBER_SIZE + 4];
  if (!isfinite(value)) {
    const char *word = isnan(value) ? "(double)NAN" : value > 0.0 ? "(double)INFINITY" : "-(double)INFINITY";
    append(page, word, strlen(word));
    return;
  }
  for (int digits = 6; digits <= 17; digits++) {
    double again;
    size_t n = bramah__format_number(text, value, digits);
    text[n] = ' ';
    if (!bramah__read_number(text, text + n, '.', &again) || memcmp(&again, &value, sizeof value) != 0)
      continue;
    if (!memchr(text, '.', n) && !memchr(text, 'e', n)) memcpy(text + n, ".0", 2), n += 2;
    append(page, text, n);
    return;
  }
  append(page, text, format_hexadecimal(text, value));
}

void bramah__page_write(bramah__page *page, const char *format, ...)
{
  char number[BRAMAH__NUMBER_SIZE];
  va_list list;
  va_start(list, format);
  for (const char *sign; (sign = strchr(format, '%')); format = sign + 2) {
    append(page, format, (size_t)(sign - format));
    if (sign[1] == 's') {
      const char *text = va_arg(list, const char *);
      append(page, text, strlen(text));
    } else if (sign[1] == 'd') {
      append(page, number, bramah__format_integer(number, (int64_t)va_arg(list, size_t)));
    } else {
      append_number(page, va_arg(list, double));
    }
  }
  va_end(list);
  append(page, format, strlen(format));
}

/* ---- single precision ---- */

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Behind a comment, a string, a number with its signs of exponents, a word, or one character. */
static const char *next_token(const char *at)
{
  const char *begin = at;
  if (at[0] == '/' && at[1] == '*') {
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
  }
  if (*at == '"') {
    for (at++; *at && *at != '"'; at++) at += *at == '\\' && at[1];
    return *at ? at + 1 : at;
  }
  if (!is_digit(*at) && !is_letter(*at)) return at + 1;
  while (is_letter(*at) || is_digit(*at) || (is_digit(*begin) && *at == '.') ||
         (is_digit(*begin) && (*at == '+' || *at == '-') && strchr("ep", at[-1]) && begin[1] != 'x') ||
         (is_digit(*begin) && (*at == '+' || *at == '-') && at[-1] == 'p'))
    at++;
  return at;
}

void bramah__page_make_single(bramah__page *page)
{
  static const char *const words[][2] = {{"double", "float"},
                                         {"sqrt", "sqrtf"},
                                         {"fabs", "fabsf"},
                                         {"bramah__sincos", "bramah__sincosf"},
                                         {"bramah__exp", "bramah__expf"},
                                         {"bramah__log", "bramah__logf"},
                                         {"bramah__log1p", "bramah__log1pf"},
                                         {"bramah__erfc", "bramah__erfcf"},
                                         {"bramah__tanh", "bramah__tanhf"},
                                         {"bramah__atan2", "bramah__atan2f"}};
  bramah__page out = {.failed = page->failed};
  const char *at = page->text, *end;
  for (; at && *at; at = end) {
    end = next_token(at);
    const size_t n = (size_t)(end - at);
    const char *as = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (strlen(words[i][0]) == n && memcmp(words[i][0], at, n) == 0) as = words[i][1];
    append(&out, as ? as : at, as ? strlen(as) : n);
    const int is_hexadecimal = n > 2 && at[1] == 'x';
    const int is_real = is_digit(*at) && (memchr(at, '.', n) || memchr(at, is_hexadecimal ? 'p' : 'e', n));
    if (is_real && end[-1] != 'f') append(&out, "f", 1);
  }
  free(page->text);
  *page = out;
}

/* ---- operations one by one ---- */

static const unsigned char operands_of[BRAMAH__N_CODES] = {
#define OPERANDS(name, operands) [BRAMAH__CODE_##name] = (operands),
    BRAMAH__CODES(OPERANDS)};

/* Values are numbered 2 i + k, result k of operation i, as the tape has it, and again as they are written. */
typedef struct operation {
  bramah__code code;
  int n_to, n_from;
  uint16_t to[2], from[3];
  int64_t source[3]; /* the value that is asked for; NO_VALUE: of another part, an input, a number */
  int64_t number;    /* of its first result in the text; NO_VALUE: not in order yet */
  size_t function;   /* that has it */
  size_t last[2];    /* function that asks for each result last */
  size_t handed[2];  /* 1 + where it is handed on to later functions; 0: nobody there asks */
  int live, depth;   /* values that are in use at one time while it is computed alone */
} operation;

enum { NO_VALUE = -1 };

/* Long parts are cut into functions of so many statements: compilers need less time for them. Whoever compiles source of which
 * no part has more than LONG operations may want more optimisation, which sees one function at a time. */
enum { LENGTH = 250, LONG = 700 };

/* A line of the text: an operation, or a result of the caller's that is made of a value. */
typedef struct statement {
  const bramah__c_member *result; /* NULL: the operation that makes the value */
  size_t i;                       /* of the result's */
  int64_t value;
  uint16_t from; /* register of the value */
} statement;

typedef struct writer {
  const bramah__tape *tape;
  bramah__c_source *source; /* NULL: native code */
  const char *type;         /* of a value */
  bramah__page *page;
  operation *operation; /* [largest part] of the part at hand */
  unsigned char *live;  /* [registers] asked for by what comes later, in this part or another */
  unsigned char *given; /* [registers] asked for by another part */
  size_t *kept;         /* [registers] 1 + where it is kept, of what is given */
  int64_t *value; /* [registers] that it holds after the operations so far; NO_VALUE: from before the part */
  int64_t next;   /* number in the text */
  statement *statement; /* [n_statements] of the part at hand, in the order of the text */
  size_t n_statements, function, n_functions;
  size_t *until;           /* [n_handed] function that asks for what is handed on there */
  size_t n_handed, n_most; /* of this part, of all */
} writer;

static size_t read_operations(const writer *w, size_t part)
{
  const bramah__tape_part *p = &w->tape->part[part];
  const uint16_t *code = w->tape->code + p->code, *end = code + p->n_code;
  size_t n = 0;
  while (code < end) {
    const bramah__code what = (bramah__code)code[0];
    size_t count = code[1];
    for (code += 2; count; count--, code += operands_of[what]) {
      operation *o = &w->operation[n++];
      *o = (operation){.code = what, .n_to = what == BRAMAH__CODE_SINCOS ? 2 : 1, .number = NO_VALUE};
      o->n_from = operands_of[what] - o->n_to;
      memcpy(o->to, code, (size_t)o->n_to * sizeof *code);
      memcpy(o->from, code + o->n_to, (size_t)o->n_from * sizeof *code);
    }
  }
  return n;
}

/* Which operations the results need, from the last backwards. What is live at the beginning of a part comes from another. */
static size_t find_live(const writer *w, size_t part, size_t n)
{
  const size_t first = w->tape->n_inputs + w->tape->n_numbers;
  size_t n_live = 0;
  for (size_t k = 0; k < w->source->n_results; k++) {
    const bramah__c_member *result = &w->source->result[k];
    for (size_t i = 0; result->part == part && i < result->n; i++)
      w->live[bramah__tape_results(w->tape, part)[result->first + i]] = 1;
  }
  for (size_t i = n; i-- > 0;) {
    operation *o = &w->operation[i];
    for (int k = 0; k < o->n_to; k++) o->live |= w->live[o->to[k]];
    for (int k = 0; k < o->n_to; k++) w->live[o->to[k]] = 0;
    for (int k = 0; o->live && k < o->n_from; k++) w->live[o->from[k]] = 1;
    n_live += (size_t)o->live;
  }
  for (size_t r = first; r < w->tape->n_registers; r++) w->given[r] |= w->live[r];
  return n_live;
}

/* Where each operation has its operands from. */
static void find_sources(const writer *w, size_t n)
{
  for (size_t r = 0; r < w->tape->n_registers; r++) w->value[r] = NO_VALUE;
  for (size_t i = 0; i < n; i++) {
    operation *o = &w->operation[i];
    int depth[3] = {0, 0, 0};
    for (int k = 0; k < o->n_from; k++) {
      const int64_t value = o->source[k] = w->value[o->from[k]];
      const int own = value == NO_VALUE ? 0 : w->operation[value / 2].depth;
      int at = k; /* the deepest first */
      for (; at > 0 && depth[at - 1] < own; at--) depth[at] = depth[at - 1];
      depth[at] = own;
    }
    o->depth = 1;
    for (int k = 0; k < o->n_from; k++)
      if (depth[k] + k > o->depth) o->depth = depth[k] + k;
    for (int k = 0; k < o->n_to; k++) w->value[o->to[k]] = 2 * (int64_t)i + k;
  }
}

/* ---- statements ---- */

static void write_handed(const writer *w, size_t place)
{
  if (w->source)
    bramah__page_write(w->page, "w->kept[%d]", w->source->n_kept + place - 1);
  else
    bramah__page_write(w->page, "R(%d)", w->tape->n_lasting + place - 1);
}

/* An input, a number, what another part has kept. */
static void write_register(const writer *w, uint16_t r)
{
  const bramah__tape *tape = w->tape;
  if (!w->source) {
    bramah__page_write(w->page, "R(%d)", (size_t)r);
  } else if (r < tape->n_inputs) {
    const bramah__c_member *input = w->source->input;
    while (r < input->first || r >= input->first + input->n) input++;
    bramah__page_write(w->page, "w->%s[%d]", input->name, r - input->first);
  } else if (r < tape->n_inputs + tape->n_numbers) {
    bramah__page_write(w->page, "%g", tape->number[r - tape->n_inputs]);
  } else {
    bramah__page_write(w->page, "w->kept[%d]", w->kept[r] - 1);
  }
}

/* Result k of an operation: of this function or of one before it. */
static void write_made(const writer *w, const operation *o, size_t k)
{
  if (o->function != w->function)
    write_handed(w, o->handed[k]);
  else
    bramah__page_write(w->page, "v%d", (size_t)o->number + k);
}

static void write_value(const writer *w, int64_t value, uint16_t r)
{
  if (value == NO_VALUE)
    write_register(w, r);
  else
    write_made(w, &w->operation[value / 2], (size_t)(value % 2));
}

/* Operations with a, b, c in place of their operands: on doubles, and in native code, where NAME(...) of what vectors have no
 * operator for comes from native_text.h.in. */
static const char *const formula[BRAMAH__N_CODES][2] = {
    [BRAMAH__CODE_ADD] = {"a + b", "a + b"},
    [BRAMAH__CODE_SUB] = {"a - b", "a - b"},
    [BRAMAH__CODE_MUL] = {"a * b", "a * b"},
    [BRAMAH__CODE_MADD] = {"a * b + c", "a * b + c"},
    [BRAMAH__CODE_MSUB] = {"a * b - c", "a * b - c"},
    [BRAMAH__CODE_NMADD] = {"c - a * b", "c - a * b"},
    [BRAMAH__CODE_NEG] = {"-a", "-a"},
    [BRAMAH__CODE_INV] = {"1.0 / a", "1.0 / a"},
    [BRAMAH__CODE_SQRT] = {"sqrt(a)", "SQRT(a)"},
    [BRAMAH__CODE_TANH] = {"bramah__tanh(a)", "TANH(a)"},
    [BRAMAH__CODE_EXP] = {"bramah__exp(a)", "EXP(a)"},
    [BRAMAH__CODE_LOG] = {"bramah__log(a)", "LOG(a)"},
    [BRAMAH__CODE_ABS] = {"fabs(a)", "ABS(a)"},
    [BRAMAH__CODE_MIN] = {"a < b ? a : b", "MIN(a, b)"},
    [BRAMAH__CODE_MAX] = {"a > b ? a : b", "MAX(a, b)"},
    [BRAMAH__CODE_SELECT] = {"a > 0.0 ? b : c", "SELECT(a, b, c)"},
    [BRAMAH__CODE_ATAN2] = {"bramah__atan2(a, b)", "ATAN2(a, b)"},
};

/* An operand is a letter that stands alone. */
static void write_formula(const writer *w, const operation *o)
{
  for (const char *at = formula[o->code][!w->source], *start = at; *at; at++) {
    const int alone = (at == start || !strchr("abcdefghijklmnopqrstuvwxyz_", at[-1])) &&
                      !(at[1] && strchr("abcdefghijklmnopqrstuvwxyz_", at[1]));
    if (alone && *at >= 'a' && *at <= 'c')
      write_value(w, o->source[*at - 'a'], o->from[*at - 'a']);
    else
      append(w->page, at, 1);
  }
}

/* Where a register is kept for other parts; 0: nobody asks for it. */
static int write_place(const writer *w, uint16_t r)
{
  if (w->source && w->kept[r]) bramah__page_write(w->page, "  w->kept[%d]", w->kept[r] - 1);
  if (!w->source && r < w->tape->n_lasting) bramah__page_write(w->page, "  R(%d)", (size_t)r);
  return w->source ? w->kept[r] > 0 : r < w->tape->n_lasting;
}

static void write_operation(const writer *w, const operation *o)
{
  const size_t number = (size_t)o->number;
  if (o->code == BRAMAH__CODE_SINCOS) {
    bramah__page_write(w->page, "  %s v%d, v%d;\n  %s(", w->type, number, number + 1,
                       w->source ? "bramah__sincos" : "SINCOS");
    write_value(w, o->source[0], o->from[0]);
    bramah__page_write(w->page, ", &v%d, &v%d);\n", number, number + 1);
  } else {
    bramah__page_write(w->page, "  const %s v%d = ", w->type, number);
    write_formula(w, o);
    append(w->page, ";\n", 2);
  }
  for (int k = 0; k < o->n_to; k++) {
    if (write_place(w, o->to[k])) bramah__page_write(w->page, " = v%d;\n", number + (size_t)k);
    if (!o->handed[k]) continue;
    append(w->page, "  ", 2);
    write_handed(w, o->handed[k]);
    bramah__page_write(w->page, " = v%d;\n", number + (size_t)k);
  }
}

static void write_statement(const writer *w, const statement *s)
{
  if (!s->result) {
    write_operation(w, &w->operation[s->value / 2]);
    return;
  }
  bramah__page_write(w->page, "  w->%s[%d] = ", s->result->name, s->i);
  write_value(w, s->value, s->from);
  append(w->page, ";\n", 2);
}

/* ---- their order, and functions ---- */

/* A value, and before it what it is made of, the deepest first: so that few values are in use at one time, and stay in
 * registers of the processor. The tape has operations of one kind together. */
static void order_tree(writer *w, int64_t value)
{
  if (value == NO_VALUE || w->operation[value / 2].number != NO_VALUE) return;
  operation *o = &w->operation[value / 2];
  for (int done = 0; done < o->n_from; done++) {
    int64_t deepest = NO_VALUE;
    for (int k = 0; k < o->n_from; k++) {
      const int64_t source = o->source[k];
      if (source == NO_VALUE || w->operation[source / 2].number != NO_VALUE) continue;
      if (deepest == NO_VALUE || w->operation[source / 2].depth > w->operation[deepest / 2].depth)
        deepest = source;
    }
    order_tree(w, deepest);
  }
  o->number = w->next;
  w->next += o->n_to;
  w->statement[w->n_statements++] = (statement){.value = value};
}

static void ask(const writer *w, int64_t value, size_t function)
{
  if (value != NO_VALUE) w->operation[value / 2].last[value % 2] = function;
}

/* Where a value is from function `first` to function `last`. */
static size_t find_place(writer *w, size_t first, size_t last)
{
  size_t place = 0;
  while (place < w->n_handed && w->until[place] >= first) place++;
  w->n_handed += place == w->n_handed;
  w->until[place] = last;
  return place + 1;
}

/* Cut the statements into functions of about the same length. Native code hands on in registers that do not last; where they
 * are too few the part stays whole. */
static void cut(writer *w, size_t most)
{
  w->n_functions = w->n_statements > most ? (w->n_statements + LENGTH - 1) / LENGTH : 1;
  w->n_handed = 0;
  const size_t length = w->n_statements / w->n_functions + 1;
  for (size_t s = 0; s < w->n_statements; s++) {
    const statement *at = &w->statement[s];
    operation *o = at->result ? NULL : &w->operation[at->value / 2];
    if (!o) ask(w, at->value, s / length);
    if (o) o->function = o->last[0] = o->last[1] = s / length;
    for (int k = 0; o && k < o->n_from; k++) ask(w, o->source[k], s / length);
  }
  for (size_t s = 0; s < w->n_statements; s++) {
    operation *o = w->statement[s].result ? NULL : &w->operation[w->statement[s].value / 2];
    for (int k = 0; o && k < o->n_to; k++)
      o->handed[k] = o->last[k] > o->function ? find_place(w, o->function, o->last[k]) : 0;
  }
  if (!w->source && w->n_handed > w->tape->n_registers - w->tape->n_lasting) {
    cut(w, w->n_statements);
    return;
  }
  if (w->n_handed > w->n_most) w->n_most = w->n_handed;
}

/* Statements of function i; where there is but one, of the part. */
static void write_function(writer *w, size_t i)
{
  const size_t length = w->n_statements / w->n_functions + 1;
  w->function = i;
  for (size_t s = i * length; s < w->n_statements && s < (i + 1) * length; s++)
    write_statement(w, &w->statement[s]);
}

/* Around parts that are long. What GCC would look for takes it twice the time, and in straight lines of folded expressions
 * there is next to nothing of it. */
static const char
    before_long[] =
        "\n#ifdef __GNUC__\n#define APART __attribute__((noinline))\n#else\n#define APART\n#endif\n"
        "#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__ && !defined "
        "BRAMAH_DEVICE\n#pragma GCC push_options\n"
        "#pragma GCC optimize(\"O1\", \"no-tree-fre\", \"no-tree-dominator-opts\", \"no-tree-ccp\", "
        "\"no-tree-dse\", \"no-dse\")\n#endif\n",
    after_long[] =
        "\n#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__ && !defined BRAMAH_DEVICE\n"
        "#pragma GCC pop_options\n#endif\n";

/* A member with more zeros than this is cleared as a whole first. */
enum { FEW_ZEROS = 8 };

static int prints_zero(const writer *w, uint16_t r)
{
  const bramah__tape *tape = w->tape;
  const double *x =
      r < tape->n_inputs || r >= tape->n_inputs + tape->n_numbers ? NULL : &tape->number[r - tape->n_inputs];
  return x && *x == 0.0 && !signbit(*x);
}

static int has_many_zeros(const writer *w, const bramah__c_member *result)
{
  size_t n = 0;
  for (size_t i = 0; i < result->n; i++)
    n += (size_t)prints_zero(w, bramah__tape_results(w->tape, result->part)[result->first + i]);
  return n > FEW_ZEROS;
}

/* Statements of the part in their order. */
static void order_statements(writer *w, size_t part, size_t n)
{
  w->next = 0;
  w->n_statements = 0;
  find_sources(w, n);
  for (size_t k = 0; k < w->source->n_results; k++) {
    const bramah__c_member *result = &w->source->result[k];
    const int is_cleared = result->part == part && has_many_zeros(w, result);
    for (size_t i = 0; result->part == part && i < result->n; i++) {
      const uint16_t r = bramah__tape_results(w->tape, part)[result->first + i];
      if (is_cleared && prints_zero(w, r)) continue;
      order_tree(w, w->value[r]);
      w->statement[w->n_statements++] = (statement){result, i, w->value[r], r};
    }
  }
  for (size_t i = 0; i < n; i++) /* for other parts */
    if (w->operation[i].live) order_tree(w, 2 * (int64_t)i);
}

static void write_part(writer *w, const bramah__c_part *part, size_t n)
{
  const char *prefix = w->source->prefix, *name = part->name;
  order_statements(w, part->part, n);
  cut(w, part->n_operations > LONG ? LENGTH : w->n_statements);
  for (size_t i = 0; w->n_functions > 1 && i < w->n_functions; i++) {
    bramah__page_write(w->page, "\nstatic APART void %s%s_%d(%swork *w)\n{\n", prefix, name, i, prefix);
    write_function(w, i);
    append(w->page, "}\n", 2);
  }
  bramah__page_write(w->page, "\nstatic void %s%s(%swork *w)\n{\n  (void)w;\n", prefix, name, prefix);
  for (size_t k = 0; k < w->source->n_results; k++) {
    const bramah__c_member *result = &w->source->result[k];
    if (result->part == part->part && has_many_zeros(w, result))
      bramah__page_write(w->page, "  memset(w->%s, 0, sizeof w->%s);\n", result->name, result->name);
  }
  if (w->n_functions == 1) write_function(w, 0);
  for (size_t i = 0; w->n_functions > 1 && i < w->n_functions; i++)
    bramah__page_write(w->page, "  %s%s_%d(w);\n", prefix, name, i);
  append(w->page, "}\n", 2);
}

/* ---- all parts ---- */

/* Backwards through the parts, then, with what each asks of the others, forwards. Scratch registers are never asked for
 * by another part; kept ones are written by one part. */
static void write_parts(writer *w)
{
  bramah__c_source *source = w->source;
  int any_long = 0;
  for (size_t k = source->n_parts; k-- > 0;) {
    bramah__c_part *part = &source->part[k];
    /* What is asked for by parts behind it that it does not make is asked of those before it. */
    memcpy(w->live, w->given, w->tape->n_registers);
    part->n_operations = find_live(w, part->part, read_operations(w, part->part));
    any_long |= part->n_operations > LONG;
  }
  for (size_t r = w->tape->n_inputs + w->tape->n_numbers; r < w->tape->n_registers; r++)
    if (w->given[r]) w->kept[r] = ++source->n_kept;
  bramah__page_write(w->page, any_long ? before_long : "");
  for (size_t k = 0; k < source->n_parts; k++) {
    memcpy(w->live, w->given, w->tape->n_registers);
    const size_t n = read_operations(w, source->part[k].part);
    find_live(w, source->part[k].part, n);
    write_part(w, &source->part[k], n);
  }
  bramah__page_write(w->page, any_long ? after_long : "");
  source->n_kept += w->n_most;
}

/* A part with what it leaves for others or for whoever reads its results: the registers that last. */
static void write_native_part(writer *w, size_t p)
{
  const size_t n = read_operations(w, p);
  w->next = 0;
  w->n_statements = 0;
  find_sources(w, n);
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < w->operation[i].n_to; k++)
      if (w->operation[i].to[k] < w->tape->n_lasting) order_tree(w, 2 * (int64_t)i);
  cut(w, LENGTH);
  for (size_t i = 0; w->n_functions > 1 && i < w->n_functions; i++) {
    bramah__page_write(w->page, "PIECE(%d, %d)\n", p, i);
    write_function(w, i);
    append(w->page, "}\n", 2);
  }
  bramah__page_write(w->page, "PART(%d)\n", p);
  if (w->n_functions == 1) write_function(w, 0);
  for (size_t i = 0; w->n_functions > 1 && i < w->n_functions; i++)
    bramah__page_write(w->page, "  part_%d_%d(r);\n", p, i);
  append(w->page, "END\n", 4);
}

static void write_native(writer *w, size_t first, size_t end)
{
  for (size_t p = first; p < end; p++) write_native_part(w, p);
  bramah__page_write(w->page, "const native_part bramah_parts[] = {");
  for (size_t p = first; p < end; p++) bramah__page_write(w->page, p > first ? ", part_%d" : "part_%d", p);
  bramah__page_write(w->page, "};\nconst unsigned bramah_n_parts = %d;\n", end - first);
}

/* The source, or where there is none native code of the parts from first up to end. */
static int write_all(const bramah__tape *tape, bramah__c_source *source, size_t first, size_t end,
                     bramah__page *page)
{
  size_t most = 1, n = tape->n_registers + 1;
  for (size_t p = 0; p < tape->n_parts; p++)
    if (tape->part[p].n_operations > most) most = tape->part[p].n_operations;
  size_t lines = most;
  for (size_t k = 0; source && k < source->n_results; k++) lines += source->result[k].n;
  writer w = {.tape = tape,
              .source = source,
              .type = source ? "double" : "value",
              .page = page,
              .operation = calloc(most, sizeof *w.operation),
              .live = calloc(n, 1),
              .given = calloc(n, 1),
              .kept = calloc(n, sizeof *w.kept),
              .value = calloc(n, sizeof *w.value),
              .statement = calloc(lines, sizeof *w.statement),
              .until = calloc(2 * most, sizeof *w.until)};
  page->failed |= !w.operation || !w.live || !w.given || !w.kept || !w.value || !w.statement || !w.until;
  if (!page->failed && source)
    write_parts(&w);
  else if (!page->failed)
    write_native(&w, first, end);
  free(w.operation);
  free(w.live);
  free(w.given);
  free(w.kept);
  free(w.value);
  free(w.statement);
  free(w.until);
  return !page->failed;
}

int bramah__c_source_write(const bramah__tape *tape, bramah__c_source *source, bramah__page *page)
{
  source->n_kept = 0;
  return write_all(tape, source, 0, 0, page);
}

int bramah__native_write(const bramah__tape *tape, size_t first, size_t end, bramah__page *page)
{
  return write_all(tape, NULL, first, end, page);
}

/* SPDX-License-Identifier: MIT */
/* The machine that runs tapes. */
#include "lib/graph/tape.h"
#include "lib/base/processors.h"
#include "lib/math/elementary.h"

/* Lanes of one register never overlap those of another, and an operation may write over its operands: what a loop over
 * lanes reads and writes in one turn it does not touch in another. */
#if defined __clang__
#pragma clang diagnostic ignored                                                                             \
    "-Wpass-failed" /* a loop that calls sqrt may stay one where that sets errno */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined __GNUC__
#define INDEPENDENT _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define INDEPENDENT
#endif

/* `operands` words an operation; d, a, b, c are its registers, l the lane. */
#define EACH(L, operands, statement)                                                                         \
  for (; count; count--, code += (operands)) {                                                               \
    double *d = r + (size_t)code[0] * (L), *a = r + (size_t)code[1] * (L);                                   \
    double *b = r + (size_t)code[(operands) > 2 ? 2 : 1] * (L);                                              \
    double *c = r + (size_t)code[(operands) > 3 ? 3 : 1] * (L);                                              \
    (void)b, (void)c;                                                                                        \
    INDEPENDENT                                                                                              \
    for (size_t l = 0; l < (L); l++) statement                                                               \
  }                                                                                                          \
  break

#define MACHINE(name, L, attributes)                                                                         \
  attributes static void name(const uint16_t *code, const uint16_t *end, double *r)                          \
  {                                                                                                          \
    while (code < end) {                                                                                     \
      const unsigned operation = code[0];                                                                    \
      size_t count = code[1];                                                                                \
      code += 2;                                                                                             \
      switch ((bramah__code)operation) {                                                                     \
      case BRAMAH__CODE_ADD:                                                                                 \
        EACH(L, 3, { d[l] = a[l] + b[l]; });                                                                 \
      case BRAMAH__CODE_SUB:                                                                                 \
        EACH(L, 3, { d[l] = a[l] - b[l]; });                                                                 \
      case BRAMAH__CODE_MUL:                                                                                 \
        EACH(L, 3, { d[l] = a[l] * b[l]; });                                                                 \
      case BRAMAH__CODE_MADD:                                                                                \
        EACH(L, 4, { d[l] = a[l] * b[l] + c[l]; });                                                          \
      case BRAMAH__CODE_MSUB:                                                                                \
        EACH(L, 4, { d[l] = a[l] * b[l] - c[l]; });                                                          \
      case BRAMAH__CODE_NMADD:                                                                               \
        EACH(L, 4, { d[l] = c[l] - a[l] * b[l]; });                                                          \
      case BRAMAH__CODE_NEG:                                                                                 \
        EACH(L, 2, { d[l] = -a[l]; });                                                                       \
      case BRAMAH__CODE_INV:                                                                                 \
        EACH(L, 2, { d[l] = 1.0 / a[l]; });                                                                  \
      case BRAMAH__CODE_SQRT:                                                                                \
        EACH(L, 2, { d[l] = sqrt(a[l]); });                                                                  \
      case BRAMAH__CODE_SINCOS:                                                                              \
        EACH(L, 3, { bramah__sincos(b[l], &d[l], &a[l]); });                                                 \
      case BRAMAH__CODE_TANH:                                                                                \
        EACH(L, 2, { d[l] = bramah__tanh(a[l]); });                                                          \
      case BRAMAH__CODE_EXP:                                                                                 \
        EACH(L, 2, { d[l] = bramah__exp(a[l]); });                                                           \
      case BRAMAH__CODE_LOG:                                                                                 \
        EACH(L, 2, { d[l] = bramah__log(a[l]); });                                                           \
      case BRAMAH__CODE_ABS:                                                                                 \
        EACH(L, 2, { d[l] = fabs(a[l]); });                                                                  \
      case BRAMAH__CODE_MIN:                                                                                 \
        EACH(L, 3, { d[l] = a[l] < b[l] ? a[l] : b[l]; });                                                   \
      case BRAMAH__CODE_MAX:                                                                                 \
        EACH(L, 3, { d[l] = a[l] > b[l] ? a[l] : b[l]; });                                                   \
      case BRAMAH__CODE_SELECT:                                                                              \
        EACH(L, 4, { d[l] = a[l] > 0.0 ? b[l] : c[l]; });                                                    \
      case BRAMAH__CODE_ATAN2:                                                                               \
        EACH(L, 3, { d[l] = bramah__atan2(a[l], b[l]); });                                                   \
      case BRAMAH__N_CODES:                                                                                  \
        return;                                                                                              \
      }                                                                                                      \
    }                                                                                                        \
  }

MACHINE(run_alone, (size_t)1, )
#define MACHINE_OF(lanes) MACHINE(run_##lanes, (size_t)lanes, BRAMAH__FOR_PROCESSORS)
BRAMAH__LANES(MACHINE_OF)

void bramah__tape_prepare(const bramah__tape *tape, size_t lanes, double *registers)
{
  memset(registers, 0, tape->n_registers * lanes * sizeof *registers);
  for (size_t i = 0; i < tape->n_numbers; i++)
    for (size_t l = 0; l < lanes; l++) registers[(tape->n_inputs + i) * lanes + l] = tape->number[i];
}

void bramah__tape_interpret(const bramah__tape *tape, size_t part, size_t lanes, double *registers)
{
  const uint16_t *code = tape->code + tape->part[part].code, *end = code + tape->part[part].n_code;
  switch (lanes) {
#define RUN_LANES(n)                                                                                         \
  case n:                                                                                                    \
    run_##n(code, end, registers);                                                                           \
    break;
    BRAMAH__LANES(RUN_LANES)
  default:
    run_alone(code, end, registers);
  }
}

const size_t bramah__width[BRAMAH__N_WIDTHS] = {1,
#define WIDTH(n) n,
                                                BRAMAH__LANES(WIDTH)};

void bramah__tape_run(const bramah__tape *tape, size_t part, size_t lanes, double *registers)
{
  size_t width = 0;
  if (tape->part[part].n_code == 0) return; /* numbers and inputs alone */
  while (bramah__width[width] != lanes) width++;
  bramah__native *native = &tape->native[width * tape->n_parts + part];
  const bramah__native_part function = atomic_load_explicit(&native->part, memory_order_acquire);
  if (function) {
    function(registers);
    return;
  }
  if (!atomic_load_explicit(&native->asked, memory_order_relaxed))
    atomic_store_explicit(&native->asked, 1, memory_order_relaxed);
  bramah__tape_interpret(tape, part, lanes, registers);
}

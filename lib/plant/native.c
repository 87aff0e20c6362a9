/* SPDX-License-Identifier: MIT */
/* Native code of programs: its text, and whether what was made of it may be used. Who compiles and loads it is no business of
 * the core. */
#include "lib/base/diag.h"
#include "lib/base/seal.h"
#include "lib/base/text.h"
#include "lib/graph/c_source.h"
#include "lib/plant/coupled_internal.h"
#include "lib/plant/step_graph.h"

#include <stdlib.h>
#include <string.h>

/* Texts that the build puts into the library. */
extern const char bramah__elementary_text[], bramah__native_text[];

/* Pieces are numbered: those of the first program for one state, then for each number of lanes that plants use, then those of
 * the next program. A piece is so many operations, or one part; it ends where parameters or outputs begin, which not all ask for, if
 * it is not a small one. */
enum { WIDTHS = 3, PIECE = 3000, SMALL = 1000 };

typedef struct piece {
  const bramah__tape *tape;
  size_t width, first, end; /* parts from first up to end */
} piece;

static void go_on(const bramah_program *program, piece *at)
{
  const size_t outputs = BRAMAH__PART_PARAMETERS + 2 * bramah__n_columns(program);
  size_t n = 0;
  at->first = at->end;
  while (at->end < at->tape->n_parts) {
    const int begins = at->end == BRAMAH__PART_PARAMETERS || at->end == outputs;
    const size_t more = at->tape->part[at->end].n_operations;
    if (at->end > at->first && (n + more > PIECE || (begins && n > SMALL))) return;
    n += more;
    at->end++;
  }
}

/* Piece i; 0: there is none. */
static int find(const bramah_program *program, size_t i, piece *out)
{
  for (; program; program = program->next)
    for (size_t width = 0; width < WIDTHS; width++) {
      *out = (piece){.tape = &program->tape, .width = width};
      for (go_on(program, out); out->first < out->tape->n_parts; go_on(program, out))
        if (i-- == 0) return 1;
    }
  return 0;
}

static bramah__native *slot(const piece *p, size_t part)
{
  return &p->tape->native[p->width * p->tape->n_parts + part];
}

int bramah_program_native_piece(const bramah_program *program, size_t i, bramah_native_piece *out)
{
  piece p;
  if (!find(program, i, &p)) return 0;
  const size_t lanes = bramah__width[p.width];
  *out = (bramah_native_piece){.lanes = lanes, .n_parts = p.end - p.first, .is_native = 1};
  for (size_t n = p.first; n < p.end; n++) {
    out->n_operations += p.tape->part[n].n_operations;
    out->is_asked |= atomic_load_explicit(&slot(&p, n)->asked, memory_order_relaxed);
    out->is_native &= atomic_load_explicit(&slot(&p, n)->part, memory_order_acquire) != NULL;
  }
  return 1;
}

uint64_t bramah_program_native_key(const bramah_program *program, size_t i)
{
  piece p;
  if (!find(program, i, &p)) return 0;
  const size_t sizes[] = {bramah__width[p.width], p.tape->n_lasting, p.first, p.end};
  uint64_t key = bramah__mix_text(bramah__mix_text(1, bramah__elementary_text), bramah__native_text);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) key = bramah__mix(key, sizes[k]);
  for (size_t n = p.first; n < p.end; n++) {
    const bramah__tape_part *part = &p.tape->part[n];
    key = bramah__mix(key, part->n_code);
    for (size_t k = 0; k < part->n_code; k++) key = bramah__mix(key, p.tape->code[part->code + k]);
  }
  return key;
}

char *bramah_program_native_text(const bramah_program *program, size_t i)
{
  bramah__page page = {0};
  piece p;
  if (!find(program, i, &p)) return NULL;
  bramah__page_write(&page, "%s#define LANES %d\n%s", bramah__elementary_text, bramah__width[p.width],
                     bramah__native_text);
  if (bramah__native_write(p.tape, p.first, p.end, &page)) return page.text;
  free(page.text);
  return NULL;
}

/* Inputs around those of the machine's initial state, different in every lane and round. */
static void draw_inputs(const bramah_coupled *c, const bramah__tape *tape, size_t lanes, uint32_t *number,
                        double *registers)
{
  for (size_t i = 0; i < tape->n_inputs; i++)
    for (size_t l = 0; l < lanes; l++) {
      *number = 1664525u * *number + 1013904223u;
      const double part = (double)(*number >> 8) / (double)(1u << 24);
      registers[i * lanes + l] = c->compiled.registers[i] * (1.0 + 0.01 * part) + 1e-6 * part;
    }
}

/* Do these functions leave what the machine leaves, all parts run one after the other? */
static int agree(const bramah_coupled *c, const piece *p, const bramah_native_part *part, double *native,
                 double *tapes)
{
  enum { ROUNDS = 3 };
  const bramah__tape *tape = p->tape;
  const size_t lanes = bramah__width[p->width];
  uint32_t number = 1;
  for (int round = 0; round < ROUNDS; round++) {
    bramah__tape_prepare(tape, lanes, tapes);
    draw_inputs(c, tape, lanes, &number, tapes);
    for (size_t n = 0; n < p->first; n++) bramah__tape_interpret(tape, n, lanes, tapes);
    memcpy(native, tapes, tape->n_registers * lanes * sizeof *native);
    for (size_t n = p->first; n < p->end; n++) {
      bramah__tape_interpret(tape, n, lanes, tapes);
      part[n - p->first](native);
    }
    for (size_t k = 0; k < tape->n_lasting * lanes; k++)
      if (memcmp(&native[k], &tapes[k], sizeof *native) != 0 &&
          (native[k] == native[k] || tapes[k] == tapes[k]))
        return 0;
  }
  return 1;
}

bramah_status bramah_program_use_native(bramah_program *program, size_t i, const bramah_native_part *part,
                                        bramah_diag *diag)
{
  const char *name = program->model->name;
  piece p;
  bramah_coupled *c;
  if (!find(program, i, &p))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, name, "the program has no such piece");
  bramah_status status = bramah_coupled_new(program->model, diag, &c);
  if (status) return status;
  status = bramah_coupled_use(c, program, diag);
  const size_t n = p.tape->n_registers * bramah__width[p.width];
  double *registers = status ? NULL : malloc(2 * n * sizeof *registers);
  if (!status && !registers)
    status = bramah__fail(diag, BRAMAH_E_MEMORY, name, "no memory to try native code");
  if (!status) {
    const bramah_plant plant = bramah_coupled_plant(c);
    (void)plant.step(plant.self, NULL); /* for typical inputs */
    if (!agree(c, &p, part, registers, registers + n))
      status = bramah__fail(diag, BRAMAH_E_VALUE, name, "the native code does not give the bits of the tape");
  }
  free(registers);
  bramah_coupled_free(c);
  for (size_t k = p.first; k < p.end && !status; k++)
    atomic_store_explicit(&slot(&p, k)->part, part[k - p.first], memory_order_release);
  return status;
}

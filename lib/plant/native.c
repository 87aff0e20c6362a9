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

/* Versions of the tapes are numbered: of the first program all widths that plants use, then of the next one. */
enum { WIDTHS = 3 };

static const bramah__tape *tape_of(const bramah_program *program, size_t version)
{
  for (; program && version >= WIDTHS; version -= WIDTHS) program = program->next;
  return program ? &program->tape : NULL;
}

int bramah_program_native_version(const bramah_program *program, size_t i, bramah_native_version *out)
{
  const bramah__tape *tape = tape_of(program, i);
  if (!tape) return 0;
  const size_t width = i % WIDTHS, sizes[] = {bramah__width[width], tape->n_inputs, tape->n_numbers,
                                              tape->n_lasting, tape->n_parts};
  *out = (bramah_native_version){.lanes = bramah__width[width], .n_parts = tape->n_parts};
  uint64_t key = bramah__mix_text(bramah__mix_text(1, bramah__elementary_text), bramah__native_text);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) key = bramah__mix(key, sizes[k]);
  for (size_t p = 0; p < tape->n_parts; p++) {
    const bramah__tape_part *part = &tape->part[p];
    key = bramah__mix(key, part->n_code);
    for (size_t k = 0; k < part->n_code; k++) key = bramah__mix(key, tape->code[part->code + k]);
    out->n_operations += part->n_operations;
  }
  out->key = key;
  out->is_asked = atomic_load_explicit(&tape->native->asked[width], memory_order_relaxed);
  out->is_native = atomic_load_explicit(&tape->native->part[width], memory_order_acquire) != NULL;
  return 1;
}

char *bramah_program_native_text(const bramah_program *program, size_t i)
{
  bramah__page page = {0};
  const bramah__tape *tape = tape_of(program, i);
  if (!tape) return NULL;
  bramah__page_write(&page, "%s#define LANES %d\n%s", bramah__elementary_text, bramah__width[i % WIDTHS],
                     bramah__native_text);
  if (bramah__native_write(tape, &page)) return page.text;
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

/* Do these functions leave what the machine leaves, all parts one after the other? */
static int agree(const bramah_coupled *c, const bramah__tape *tape, size_t lanes,
                 const bramah_native_part *part, double *native, double *tapes)
{
  enum { ROUNDS = 3 };
  uint32_t number = 1;
  for (int round = 0; round < ROUNDS; round++) {
    bramah__tape_prepare(tape, lanes, tapes);
    draw_inputs(c, tape, lanes, &number, tapes);
    memcpy(native, tapes, tape->n_registers * lanes * sizeof *native);
    for (size_t p = 0; p < tape->n_parts; p++) {
      bramah__tape_interpret(tape, p, lanes, tapes);
      part[p](native);
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
  const bramah__tape *tape = tape_of(program, i);
  if (!tape)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, program->model->name, "the program has no such version");
  const size_t width = i % WIDTHS, lanes = bramah__width[width], n = tape->n_registers * lanes;
  bramah_coupled *c;
  bramah_status status = bramah_coupled_new(program->model, diag, &c);
  if (status) return status;
  status = bramah_coupled_use(c, program, diag);
  double *registers = status ? NULL : malloc(2 * n * sizeof *registers);
  if (!status && !registers)
    status = bramah__fail(diag, BRAMAH_E_MEMORY, program->model->name, "no memory to try native code");
  if (!status) {
    const bramah_plant plant = bramah_coupled_plant(c);
    (void)plant.step(plant.self, NULL); /* for typical inputs */
    if (!agree(c, tape, lanes, part, registers, registers + n))
      status = bramah__fail(diag, BRAMAH_E_VALUE, program->model->name,
                            "the native code does not give the bits of the tape");
  }
  free(registers);
  bramah_coupled_free(c);
  if (!status) atomic_store_explicit(&tape->native->part[width], part, memory_order_release);
  return status;
}

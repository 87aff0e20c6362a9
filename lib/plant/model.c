/* SPDX-License-Identifier: MIT */
/* The model: a compiled machine with its initial state, which a plant of its own finds while it is made. */
#include "bramah/machine.h"
#include "lib/machine/compile.h"
#include "lib/plant/coupled_internal.h"
#include "lib/base/diag.h"

/* Work of the search for equilibrium pressures: that of the expanded machine. */
static size_t work_size(const bramah_machine *machine, const bramah_model *counts)
{
  bramah_machine expanded = *machine;
  expanded.n_joints = counts->n;
  expanded.n_volumes = counts->circuit.n_volumes;
  return bramah__equilibrium_work(&expanded);
}

size_t bramah_model_size(const bramah_machine *machine)
{
  bramah_model counts;
  const size_t compiled = bramah__compile_size(machine, &counts);
  bramah__arena arena = bramah__arena_make(NULL, 0);
  BRAMAH__TAKE(&arena, double, work_size(machine, &counts));
  bramah__coupled_layout(&counts, &arena);
  return compiled + arena.used + BRAMAH__ALIGN;
}

bramah_status bramah_model_init(const bramah_machine *machine, void *mem, size_t size, bramah_diag *diag,
                                const bramah_model **out)
{
  if ((uintptr_t)mem % BRAMAH__ALIGN)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "model", "memory is not aligned to 64 bytes");
  if (!mem || size < bramah_model_size(machine))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "model", "memory is too small");
  if (bramah__is_marked(mem))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "model", "this memory holds a model: free that one first");
  bramah__arena arena = bramah__arena_make(mem, size);
  bramah__compiler k;
  bramah_status status = bramah__compile(machine, &arena, diag, &k);
  if (status != BRAMAH_OK) return status;
  double *work = BRAMAH__TAKE(&arena, double, work_size(machine, k.model));
  bramah_coupled *scratch = bramah__coupled_layout(k.model, &arena);
  if (arena.overflow) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "model", "memory is too small");
  status = bramah__assemble(scratch, k.model, k.machine, k.t.given, diag);
  if (status == BRAMAH_OK) status = bramah__equilibrium(scratch, k.model, k.machine, work, diag);
  if (status != BRAMAH_OK) return status;
  k.model->mark = bramah__mark_of(mem);
  *out = k.model;
  return BRAMAH_OK;
}

bramah_status bramah_model_new(const bramah_machine *machine, bramah_diag *diag, const bramah_model **out)
{
  const size_t size = bramah_model_size(machine);
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "model", "out of memory");
  const bramah_status status = bramah_model_init(machine, mem, size, diag, out);
  if (status == BRAMAH_OK)
    ((bramah_model *)mem)->own_memory = 1;
  else
    bramah__aligned_free(mem);
  return status;
}

void bramah_model_free(const bramah_model *model)
{
  /* The model is const for everybody but its owner, who gives it back here. */
  bramah_model *own = (bramah_model *)(uintptr_t)model;
  if (!own) return;
  own->mark = 0;
  if (own->own_memory) bramah__aligned_free(own);
}

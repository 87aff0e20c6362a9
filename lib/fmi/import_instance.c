/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An instance of an FMU, FMI 2.0 and 3.0 alike: its library is opened for us alone, what it says is kept for messages, and after it has
 * called itself fatally wrong none of its functions is called again. */
#define _GNU_SOURCE /* locale_t */
#include "lib/fmi/import_instance.h"
#include "lib/io/fail.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what it says ---- */

static void listen2(fmi2ComponentEnvironment user, fmi2String instance, fmi2Status status,
                    fmi2String category, fmi2String format, ...)
{
  local_instance *i = user;
  va_list arguments;
  (void)instance, (void)category;
  if (!i || !format || status == fmi2OK) return;
  va_start(arguments, format);
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
  vsnprintf(i->said, sizeof i->said, format, arguments);
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
  va_end(arguments);
}

static void listen3(fmi3InstanceEnvironment user, fmi3Status status, fmi3String category, fmi3String message)
{
  local_instance *i = user;
  (void)category;
  if (i && message && status != fmi3OK) snprintf(i->said, sizeof i->said, "%s", message);
}

/* ---- functions ---- */

static bramah_status get(bramah__fmu_instance *self, size_t n, const uint32_t *reference, double *value,
                         bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  CALL(i, "give values", f2->get(c, reference, n, value), f3->get(c, reference, n, value, n));
}

FUNCTION(set_plainly, "take values", f2->set(c, reference, n, value), f3->set(c, reference, n, value, n),
         size_t n, const uint32_t *reference, const double *value, bramah_diag *diag)

static bramah_status set(bramah__fmu_instance *self, size_t n, const uint32_t *reference, const double *value,
                         bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  return i->exchange ? bramah__exchange_set(i, n, reference, value, diag)
                     : set_plainly(i, n, reference, value, diag);
}

static bramah_status set_whole_plainly(local_instance *i, uint32_t reference, int is_truth, double value,
                                       bramah_diag *diag)
{
  const int whole = (int)lround(fmax(fmin(value, INT_MAX), INT_MIN));
  const fmi3Boolean truth = value != 0.0;
  if (is_truth)
    CALL(i, "take a truth value", f2->set_boolean(c, &reference, 1, &(fmi2Boolean){truth}),
         f3->set_boolean(c, &reference, 1, &truth, 1));
  CALL(i, "take a whole number", f2->set_integer(c, &reference, 1, &whole),
       f3->set_integer(c, &reference, 1, &whole, 1));
}

static bramah_status set_whole(bramah__fmu_instance *self, uint32_t reference, int is_truth, double value,
                               bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  bramah_status status = i->exchange ? bramah__exchange_open_event(i, diag) : BRAMAH_OK;
  if (!status) status = set_whole_plainly(i, reference, is_truth, value, diag);
  return status || !i->exchange ? status : bramah__exchange_close_event(i, diag);
}

FUNCTION(get_integer, "give a whole number", f2->get_integer(c, &reference, 1, value),
         f3->get_integer(c, &reference, 1, value, 1), uint32_t reference, int *value, bramah_diag *diag)

FUNCTION(get_truth, "give a truth value", f2->get_boolean(c, &reference, 1, two),
         f3->get_boolean(c, &reference, 1, three, 1), uint32_t reference, fmi2Boolean *two,
         fmi3Boolean *three, bramah_diag *diag)

static bramah_status get_whole(bramah__fmu_instance *self, uint32_t reference, int is_truth, double *value,
                               bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  const functions2 *f2 = &i->library->f2;
  const functions3 *f3 = &i->library->f3;
  fmi2Boolean two = 0;
  fmi3Boolean three = 0;
  int whole = 0;
  if (i->library->head.description->version == 2 ? !f2->get_integer || !f2->get_boolean
                                                 : !f3->get_integer || !f3->get_boolean)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, i->library->head.name,
                         "the FMU's library has no function that gives whole numbers or truth values");
  const bramah_status status =
      is_truth ? get_truth(i, reference, &two, &three, diag) : get_integer(i, reference, &whole, diag);
  *value = is_truth ? two || three : whole;
  return status;
}

FUNCTION(reset, "start anew", f2->reset(c), f3->reset(c), bramah_diag *diag)

FUNCTION(set_up, "set up", f2->set_up(c, fmi2False, 0.0, time, fmi2False, 0.0), fmi3OK, double time,
         bramah_diag *diag)

FUNCTION(begin_start, "initialize", f2->begin_start(c), f3->begin_start(c, 0, 0.0, time, 0, 0.0), double time,
         bramah_diag *diag)

FUNCTION(end_start, "initialize", f2->end_start(c), f3->end_start(c), bramah_diag *diag)

static bramah_status initialize(bramah__fmu_instance *self, int again, const bramah__fmu_start *start,
                                bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  bramah_status status = again ? reset(i, diag) : BRAMAH_OK;
  if (!status && start->n[0])
    status = set_plainly(i, start->n[0], start->reference[0], start->value[0], diag);
  for (int kind = 1; kind < 3; kind++)
    for (size_t k = 0; !status && k < start->n[kind]; k++)
      status = set_whole_plainly(i, start->reference[kind][k], kind == 2, start->value[kind][k], diag);
  if (!status) status = set_up(i, start->time, diag);
  if (!status) status = begin_start(i, start->time, diag);
  if (!status) status = end_start(i, diag);
  return status || !i->exchange ? status : bramah__exchange_begin(i, start->time, diag);
}

static bramah_status step(bramah__fmu_instance *self, double time, double length, bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  fmi3Boolean event = 0, ends = 0, early = 0;
  fmi3Float64 reached = time + length;
  bramah_status status = bramah__fmu_dead(i, diag);
  if (status) return status;
  if (i->exchange) return bramah__exchange_step(i, time, length, diag);
  const int said =
      i->library->head.description->version == 2
          ? (int)i->library->f2.step(i->component, time, length, fmi2False)
          : (int)i->library->f3.step(i->component, time, length, 0, &event, &ends, &early, &reached);
  status = bramah__fmu_judge(i, said, "make its step", diag);
  if (!status && (ends || early || fabs(reached - (time + length)) > 1e-6 * length))
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, i->library->head.name,
                         ends ? "the FMU wants to end its simulation at %.9g s"
                              : "the FMU ended its step early, at %.9g s",
                         reached);
  return status;
}

static bramah_status directional_by(local_instance *i, size_t n, const uint32_t *unknown, uint32_t known,
                                    bramah_diag *diag)
{
  static const double one = 1.0;
  CALL(i, "give directional derivatives", f2->directional(c, unknown, n, &known, 1, &one, i->column),
       f3->directional(c, unknown, n, &known, 1, &one, 1, i->column, n));
}

static bramah_status directional(bramah__fmu_instance *self, size_t n_unknown, const uint32_t *unknown,
                                 size_t n_known, const uint32_t *known, double *J, bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  if (n_unknown > i->n_column) {
    double *column = realloc(i->column, n_unknown * sizeof *column);
    if (!column) return bramah__fail_memory(diag);
    i->column = column;
    i->n_column = n_unknown;
  }
  for (size_t k = 0; k < n_known; k++) {
    const bramah_status status = directional_by(i, n_unknown, unknown, known[k], diag);
    if (status) return status;
    for (size_t r = 0; r < n_unknown; r++) J[r * n_known + k] = i->column[r];
  }
  return BRAMAH_OK;
}

/* Of model exchange with the event that was announced, which the FMU does not tell again. */
typedef struct kept_state {
  void *inside;
  bramah__fmu_event event;
} kept_state;

FUNCTION(keep_inside, "save its state", f2->keep(c, kept), f3->keep(c, kept), void **kept, bramah_diag *diag)

FUNCTION(take_inside, "restore its state", f2->take_back(c, kept), f3->take_back(c, kept), void *kept,
         bramah_diag *diag)

static bramah_status keep(bramah__fmu_instance *self, void **kept, bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  kept_state *all = *kept ? *kept : calloc(1, sizeof *all);
  if (!all) return bramah__fail_memory(diag);
  *kept = all;
  if (i->exchange) all->event = *bramah__exchange_event(i);
  return keep_inside(i, &all->inside, diag);
}

static bramah_status take_back(bramah__fmu_instance *self, void *kept, bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  const kept_state *all = kept;
  if (i->exchange) *bramah__exchange_event(i) = all->event;
  return take_inside(i, all->inside, diag);
}

static void drop(bramah__fmu_instance *self, void **kept)
{
  local_instance *i = (local_instance *)self;
  kept_state *all = *kept;
  if (i->component && all && all->inside) {
    if (i->library->head.description->version == 2)
      i->library->f2.drop(i->component, &all->inside);
    else
      i->library->f3.drop(i->component, &all->inside);
  }
  free(all);
  *kept = NULL;
}

FUNCTION(size_of, "tell the size of its state", f2->state_size(c, kept->inside, size),
         f3->state_size(c, kept->inside, size), const kept_state *kept, size_t *size, bramah_diag *diag)

FUNCTION(write_state, "write its state", f2->serialize(c, kept->inside, bytes, size),
         f3->serialize(c, kept->inside, bytes, size), const kept_state *kept, size_t size, void *bytes,
         bramah_diag *diag)

FUNCTION(read_state, "read its state", f2->deserialize(c, bytes, size, &kept->inside),
         f3->deserialize(c, bytes, size, &kept->inside), kept_state *kept, size_t size, const void *bytes,
         bramah_diag *diag)

/* Bytes of ours behind those of the FMU. */
static size_t own_bytes(const local_instance *i) { return i->exchange ? sizeof(bramah__fmu_event) : 0; }

static bramah_status state_size(bramah__fmu_instance *self, size_t *size, bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  void *kept = NULL;
  bramah_status status = keep(self, &kept, diag);
  if (!status) status = size_of(i, kept, size, diag);
  *size += own_bytes(i);
  drop(self, &kept);
  return status;
}

static bramah_status serialize(bramah__fmu_instance *self, size_t size, void *bytes, bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  void *kept = NULL;
  size_t now = 0;
  bramah_status status = keep(self, &kept, diag);
  if (!status) status = size_of(i, kept, &now, diag);
  if (!status && now + own_bytes(i) != size)
    status = bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, i->library->head.name,
                           "the FMU's state takes %zu bytes now, %zu when it was opened", now + own_bytes(i),
                           size);
  if (!status) status = write_state(i, kept, now, bytes, diag);
  if (!status && i->exchange) memcpy((unsigned char *)bytes + now, bramah__exchange_event(i), own_bytes(i));
  drop(self, &kept);
  return status;
}

static bramah_status deserialize(bramah__fmu_instance *self, size_t size, const void *bytes,
                                 bramah_diag *diag)
{
  local_instance *i = (local_instance *)self;
  kept_state *all = calloc(1, sizeof *all);
  if (!all) return bramah__fail_memory(diag);
  void *kept = all;
  const size_t inside = size - own_bytes(i);
  if (i->exchange) memcpy(&all->event, (const unsigned char *)bytes + inside, own_bytes(i));
  bramah_status status = read_state(i, all, inside, bytes, diag);
  if (!status) status = take_back(self, kept, diag);
  drop(self, &kept);
  return status;
}

static void release(bramah__fmu_instance *self)
{
  local_instance *i = (local_instance *)self;
  if (i->component) {
    if (i->library->head.description->version == 2)
      i->library->f2.free(i->component);
    else
      i->library->f3.free(i->component);
  }
  atomic_fetch_sub(i->library->alive, 1);
  bramah__exchange_free(i);
  free(i->column);
  free(i);
}

static const bramah__fmu_calls calls = {release,   initialize, get,         set,        get_whole,
                                        set_whole, step,       directional, keep,       take_back,
                                        drop,      state_size, serialize,   deserialize};

static int make_component(local_instance *i)
{
  const local_library *library = i->library;
  const bramah__fmu_description *d = library->head.description;
  if (d->version == 2)
    i->component =
        library->f2.instantiate(d->identifier, d->co_simulation ? fmi2CoSimulation : fmi2ModelExchange,
                                d->token, library->resources, &i->callbacks, fmi2False, fmi2False);
  else if (d->co_simulation)
    i->component = library->f3.instantiate(d->identifier, d->token, library->resources, 0, 0, 0, 0, NULL, 0,
                                           i, listen3, NULL);
  else
    i->component =
        library->f3.instantiate_exchange(d->identifier, d->token, library->resources, 0, 0, i, listen3);
  return i->component != NULL;
}

static bramah_status instantiate(const bramah__fmu_library *head, bramah_diag *diag,
                                 bramah__fmu_instance **out)
{
  const local_library *library = (const local_library *)head;
  local_instance *i = calloc(1, sizeof *i);
  *out = NULL;
  if (!i) return bramah__fail_memory(diag);
  if (atomic_fetch_add(library->alive, 1) > 0 && head->description->once) {
    atomic_fetch_sub(library->alive, 1);
    free(i);
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, head->name,
                         "the FMU can have one instance in a process (canBeInstantiatedOnlyOncePerProcess), "
                         "and a second is needed here");
  }
  i->head.calls = &calls;
  i->library = library;
  i->callbacks = (fmi2CallbackFunctions){listen2, calloc, free, NULL, i};
  bramah_status status = head->description->co_simulation ? BRAMAH_OK : bramah__exchange_new(i, diag);
  if (!status && !make_component(i)) {
    status = bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, head->name, "the FMU cannot be instantiated%s%s",
                           *i->said ? ": " : "", i->said);
    if (diag) bramah_make_printable(diag->message);
  }
  if (status)
    release(&i->head);
  else
    *out = &i->head;
  return status;
}

/* ---- library ---- */

#if defined(__x86_64__)
#define PLATFORM2 "linux64"
#define PLATFORM3 "x86_64-linux"
#elif defined(__aarch64__)
#define PLATFORM2 "aarch64-linux"
#define PLATFORM3 "aarch64-linux"
#else
#define PLATFORM2 "linux32"
#define PLATFORM3 "x86-linux"
#endif

/* The platforms that the archive has libraries for, for a message. */
static void list_platforms(const char *folder, char *text, size_t size)
{
  char path[4096];
  struct dirent *entry;
  size_t used = 0;
  snprintf(path, sizeof path, "%s/binaries", folder);
  DIR *all = opendir(path);
  text[0] = '\0';
  while (all && (entry = readdir(all)) && used < size)
    if (entry->d_name[0] != '.')
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", entry->d_name);
  if (all) closedir(all);
}

/* Where the FMU finds its resources: a path in FMI 3, an address in FMI 2, in which letters outside the usual ones are numbers. */
static char *resources_of(const char *folder, int is_address)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  const size_t room = 3 * strlen(folder) + 32;
  char *text = malloc(room), *to = text;
  if (!text) return NULL;
  to += snprintf(to, room, "%s", is_address ? "file://" : "");
  for (; *folder; folder++)
    to += is_address && !strchr(plain, *folder) ? snprintf(to, 4, "%%%02X", (unsigned)(unsigned char)*folder)
                                                : snprintf(to, 2, "%c", *folder);
  strcpy(to, is_address ? "/resources" : "/resources/");
  return text;
}

static void unload(bramah__fmu_library *head)
{
  local_library *library = (local_library *)head;
  if (library->handle) dlclose(library->handle);
  free(library->resources);
  free(library->alive);
  free(library);
}

/* A function by its name in the library; a pointer to data becomes one to code, as POSIX has it. */
static int find(local_library *library, const char *name, int when, void *to, bramah_diag *diag)
{
  void *found = dlsym(library->handle, name);
  const int steps = library->head.description->co_simulation;
  memcpy(to, &found, sizeof found);
  if (found || when == PROMISED || when == (steps ? EXCHANGE : STEPS)) return 1;
  bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, library->head.name,
                "the FMU's library has no function %s", name);
  return 0;
}

bramah_status bramah__fmu_load(const char *folder, const bramah__fmu_description *description,
                               const char *name, bramah_diag *diag, bramah__fmu_library **out)
{
  const int is2 = description->version == 2;
  char path[4096], others[200];
  local_library *library = calloc(1, sizeof *library);
  *out = NULL;
  if (!library) return bramah__fail_memory(diag);
  library->head = (bramah__fmu_library){
      .name = name, .description = description, .instantiate = instantiate, .unload = unload};
  bramah_status status = BRAMAH_OK;
  library->resources = resources_of(folder, is2);
  library->alive = calloc(1, sizeof *library->alive);
  if (!library->resources || !library->alive) status = bramah__fail_memory(diag);
  snprintf(path, sizeof path, "%s/binaries/%s/%s.so", folder, is2 ? PLATFORM2 : PLATFORM3,
           description->identifier);
  FILE *there = status ? NULL : fopen(path, "rbe");
  if (!status && !there) {
    list_platforms(folder, others, sizeof others);
    status = bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, name,
                           "the FMU has no library for this computer, binaries/%s/%s.so%s%s",
                           is2 ? PLATFORM2 : PLATFORM3, description->identifier,
                           *others ? "; it is for " : "", others);
  }
  if (there) fclose(there);
  if (!status && !(library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
    status = bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, name,
                           "the FMU's library cannot be loaded: %s", dlerror());
#define FIND2(member, two, three, when) &&find(library, "fmi2" #two, when, &library->f2.member, diag)
#define FIND3(member, two, three, when) &&find(library, "fmi3" #three, when, &library->f3.member, diag)
  if (!status && is2 &&
      !(find(library, "fmi2Instantiate", ALWAYS, &library->f2.instantiate, diag) &&
        find(library, "fmi2SetupExperiment", ALWAYS, &library->f2.set_up, diag) FUNCTIONS(FIND2)))
    status = BRAMAH_E_UNSUPPORTED;
  if (!status && !is2 &&
      !(find(library, "fmi3InstantiateCoSimulation", STEPS, &library->f3.instantiate, diag) &&
        find(library, "fmi3InstantiateModelExchange", EXCHANGE, &library->f3.instantiate_exchange, diag)
            FUNCTIONS(FIND3)))
    status = BRAMAH_E_UNSUPPORTED;
  const int states = is2 ? library->f2.keep && library->f2.take_back && library->f2.drop
                         : library->f3.keep && library->f3.take_back && library->f3.drop;
  const int bytes = is2 ? library->f2.state_size && library->f2.serialize && library->f2.deserialize
                        : library->f3.state_size && library->f3.serialize && library->f3.deserialize;
  if (!status && ((description->can_get_set && !states) || (description->can_serialize && !bytes) ||
                  (description->directional && !(is2 ? (void *)(uintptr_t)library->f2.directional
                                                     : (void *)(uintptr_t)library->f3.directional))))
    status = bramah__failf(
        diag, BRAMAH_E_UNSUPPORTED, NULL, 0, name,
        "the FMU's library lacks functions for saved states or derivatives that its description promises");
  if (status)
    unload(&library->head);
  else
    *out = &library->head;
  return status;
}

/* SPDX-License-Identifier: MIT */
/* Every shipped machine and booms of 5 and 10 links in all ways that a plant and a filter on it are run: interpreted, by tape, by
 * tape in lanes (8 and 32 filters in lockstep, each counts), by native code and as C source. What is run: a step, one with its
 * derivatives, a cycle of the filter with an encoder and a gyro for each degree of freedom and a sensor for each pressure; on
 * the four-bar also the correction alone, and cycles with seven estimated parameters and with the whole uncertainty budget.
 *
 *   bench_compiled table [FILE]     times, in rounds that take turns, and the instructions that FILE has ("key number")
 *   bench_compiled list             keys
 *   bench_compiled run KEY N        N units of work by bench_unit, whose instructions are then counted; bytes that they allocate, us of each
 *   bench_compiled growth           seconds of compiling, sizes and instructions over the length of booms
 *
 * CC compiles the C sources, for BENCH_PROCESSOR (native), into the folder BENCH_FOLDER, which keeps them. Not a test: nothing can fail for being slow. */
#define _GNU_SOURCE
#include "bramah/batch.h"
#include "bramah/session.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <dlfcn.h>
#include <malloc.h>
#include <math.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64, CYCLES = 400, ROUNDS = 7, WARM = 20, MOST_LANES = 32 };

static bramah_diag diag;

/* ---- what is run ---- */

typedef enum bench_work { STEP, DERIVATIVES, CYCLE, CORRECTION, CYCLE_7, CYCLE_BUDGET, N_WORKS } bench_work;
static const char *const work_name[N_WORKS] = {"step",       "derivatives", "cycle",
                                               "correction", "cycle+7",     "cycle+budget"};

typedef enum bench_way { INTERPRETED, TAPE, TAPE_8, TAPE_32, NATIVE, NATIVE_8, C_SOURCE, N_WAYS } bench_way;
static const struct {
  const char *name;
  size_t filters;
} ways[N_WAYS] = {{"interpreted", 1}, {"tape", 1},      {"tape x8", 8}, {"tape x32", 32},
                  {"native", 1},      {"native x8", 8}, {"C", 1}};

/* path: in datasets; or a boom of so many links. command: amplitude of the commands, around what is planned at the start. */
static const bramah_change firm = {.path = "joints.undercarriage.type", .value = "fixed"};
static const struct {
  const char *name, *path;
  size_t links;
  double command;
  const bramah_change *change; /* or NULL */
} machines[] = {{"four-bar", "four-bar/four-bar", 0, 3.0, NULL},
                {"lifting-four-bar", "lifting-four-bar/lifting-four-bar", 0, 1.0, NULL},
                {"quick-return", "quick-return/quick-return", 0, 1.0, NULL},
                {"linearization-four-bar", "linearization-four-bar/linearization-four-bar", 0, 1.0, NULL},
                {"crane", "crane/crane", 0, 1.0, NULL},
                {"metered-crane", "metered-crane/metered-crane", 0, 4.0, NULL},
                {"metered-arm", "metered-arm/metered-arm", 0, 4.0, NULL},
                {"two-arms", "metered-arm/two-arms", 0, 4.0, NULL},
                {"rotary-actuator", "rotary-actuator/rotary-actuator", 0, 1.0, NULL},
                {"manipulator", "manipulator/manipulator", 0, 1.0, NULL},
                {"excavator", "excavator/excavator", 0, 1.0, &firm},
                {"excavator-on-tracks", "excavator/excavator", 0, 1.0, NULL},
                {"tractor", "tractor/tractor", 0, 1.0, NULL},
                {"boom-5", NULL, 5, 1.0, NULL},
                {"boom-10", NULL, 10, 1.0, NULL}};
enum { N_MACHINES = sizeof machines / sizeof machines[0] };

/* What the table is judged by [us]. */
static const struct {
  const char *machine;
  bench_work work;
  size_t filters; /* in lockstep */
  double us;
  int way; /* 1 + one of `ways`; 0: the fastest */
} goals[] = {{"four-bar", STEP, 1, 0.45, 0},
             {"four-bar", CYCLE, 1, 0.9, 0},
             {"four-bar", CYCLE, 8, 0.25, 0},
             {"four-bar", CORRECTION, 1, 0.09, 0},
             {"four-bar", CYCLE_7, 1, 2.0, 0},
             {"boom-5", STEP, 1, 3.0, 0},
             {"boom-5", CYCLE, 1, 12.0, 0},
             {"boom-10", STEP, 1, 12.0, 0},
             {"boom-10", CYCLE, 1, 60.0, 0},
             {"tractor", STEP, 1, 15.0, 0},
             {"tractor", STEP, 1, 60.0, 1 + INTERPRETED},
             {"excavator", STEP, 1, 60.0, 1 + INTERPRETED}};

/* Where the tractor's step goes, by operations of its tape: 22,800 in all. The coarse iterate has 10,300 (residual 3,700, contacts 4,300,
 * masses 1,100 of them), another one or two with its factors 3,700, the pose 2,200, and where commands reach the mechanics at once
 * another pose and rates of 3,600. Steps with derivatives have the exact tangent, an iterate of 16,400.
 * Interpreted: by instructions a quarter for the coarse tangent, 40 % for places and forces of candidates, 10 % for commands. */

/* ---- booms ---- */

/* Link i carries what follows it: its cylinder is as thick as that asks for. Axes in the plane, or tilted to all sides. */
static void write_links(FILE *f, size_t n, double tilt)
{
  fprintf(f, "bodies:\n");
  for (size_t i = 0; i < n; i++)
    fprintf(f, "  link%zu: {mass: 20 kg, centre_of_mass: [0.5, 0, 0 m], inertia: [0.1, 1.67, 1.67 kg*m^2]}\n",
            i);
  fprintf(f, "joints:\n");
  for (size_t i = 0; i < n; i++) {
    char parent[32] = "ground";
    if (i) snprintf(parent, sizeof parent, "link%zu", i - 1);
    fprintf(f,
            "  link%zu: {type: revolute, parent: %s, child: link%zu, position: [%d, 0, 0 m], "
            "axis: [%.3f, %.3f, 1], initial: %g rad}\n",
            i, parent, i, i > 0, tilt * sin(1.0 + (double)i), tilt * cos(2.0 * (double)i), i ? -0.1 : 0.6);
  }
}

static void write_hydraulics(FILE *f, size_t n)
{
  fprintf(f, "hydraulics:\n  oil: {bulk_modulus: 1500 MPa, density: 850 kg/m^3}\n"
             "  supplies: {pump: {pressure: 200 bar}, tank: {pressure: 1 bar}}\n  volumes:\n");
  for (size_t i = 0; i < n; i++) {
    const double thick = (double)((n - i) * (n - i));
    for (int rod = 0; rod < 2; rod++)
      fprintf(f, "    %c%zu: {pressure: %s, hoses: [{volume: %g L, bulk_modulus: 1 GPa}]}\n", rod ? 'b' : 'a',
              i, rod ? "10 bar" : "equilibrium", 0.1 * thick);
  }
  fprintf(f, "  valves:\n");
  for (size_t i = 0; i < n; i++)
    fprintf(f,
            "    valve%zu: {pump: pump, tank: tank, a: a%zu, b: b%zu, flow_coefficient: %g m^3/s/Pa^0.5/V, "
            "time_constant: 10 ms, limit: 10 V, input: u%zu}\n",
            i, i, i, 4e-9 * (double)((n - i) * (n - i)), i);
  fprintf(f, "  cylinders:\n");
  for (size_t i = 0; i < n; i++) {
    const double thick = (double)((n - i) * (n - i));
    char parent[32] = "ground";
    if (i) snprintf(parent, sizeof parent, "link%zu", i - 1);
    fprintf(f,
            "    cylinder%zu: {bodies: [%s, link%zu], points: [[%g, -0.3, 0 m], [0.4, -0.1, 0 m]], "
            "piston_volume: a%zu, "
            "rod_volume: b%zu, bore: %.6g m, rod: %.6g m, bulk_modulus: 30 GPa, reference_stroke: 0.6 m, "
            "piston_chamber_length: 0.6 m, rod_chamber_length: 0.6 m, friction: {model: brown-mcphee, "
            "coulomb: 100 N, static: 150 N, stribeck_velocity: 0.02 m/s, viscous: 500 N*s/m}}\n",
            i, parent, i, i ? 0.7 : -0.3, i, i, sqrt(4e-4 * thick * 4.0 / 3.14159265),
            sqrt(1.6e-4 * thick * 4.0 / 3.14159265));
  }
  fprintf(f, "inputs:\n");
  for (size_t i = 0; i < n; i++) fprintf(f, "  u%zu: [[0 s, 0 V]]\n", i);
}

static void write_boom(const char *path, size_t n, double tilt)
{
  FILE *f = fopen(path, "w");
  if (!f) exit(EXIT_FAILURE);
  fprintf(f, "machine: boom\ngravity: [0, -9.81, 0 m/s^2]\n");
  write_links(f, n, tilt);
  write_hydraulics(f, n);
  fprintf(f, "integrator: {step: 1 ms}\n");
  fclose(f);
}

/* ---- a machine, its sensors and what they show ---- */

static char folder[512]; /* of C sources and booms */

static void open_machine(size_t machine, int is_native, bramah_machine_plant *out)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[1024];
  if (machines[machine].path) {
    snprintf(path, sizeof path, "%s/datasets/%s.yaml", root ? root : ".", machines[machine].path);
  } else {
    snprintf(path, sizeof path, "%s/%s.yaml", folder, machines[machine].name);
    write_boom(path, machines[machine].links, 0.0);
  }
  setenv("BRAMAH_NATIVE", is_native ? "wait" : "off", 1);
  must(bramah_machine_plant_open(out, path, machines[machine].change != NULL, machines[machine].change, 0,
                                 &diag),
       &diag);
  must(bramah_machine_plant_compile(out, BRAMAH_PROGRAM_PARAMETERS, 0, NULL, &diag), &diag);
}

/* An encoder and a gyro for each independent joint, a sensor for each pressure; returns how many. */
static size_t make_sensors(const bramah_plant *plant, char names[MOST][64], bramah_sensor *out)
{
  static const bramah_sensor_kind kinds[3] = {BRAMAH_SENSOR_ENCODER, BRAMAH_SENSOR_GYRO,
                                              BRAMAH_SENSOR_PRESSURE};
  static const double sigma[3] = {0.01745, 9.84e-4, 5e4};
  const size_t nf = plant->n_dof;
  size_t n = 0;
  for (size_t i = 0; i < bramah_plant_n_error(plant) && n < MOST; i++) {
    const int kind = i < nf ? 0 : i < 2 * nf ? 1 : 2;
    bramah_state_info info;
    char at[64];
    bramah_plant_state_info(plant, i, &info);
    snprintf(at, sizeof at, "%.*s", (int)strcspn(info.name, "."), info.name);
    snprintf(names[n], sizeof names[n], "%.50s_%c", at, "egp"[kind]);
    const bramah_sensor_options o = {.name = names[n], .kind = kinds[kind], .at = at, .sigma = sigma[kind]};
    if (bramah_sensor_init(&o, plant, &diag, &out[n]) == BRAMAH_OK) n++;
  }
  return n;
}

static void set_command(size_t machine, const bramah_machine_plant *m, size_t k, double *u)
{
  const bramah_plant *plant = &m->plant;
  for (size_t i = 0; i < plant->n_input; i++)
    u[i] = (m->machine->inputs[i].n_points ? m->machine->inputs[i].values[0] : 0.0) +
           machines[machine].command * sin(5e-9 * (double)k * (double)plant->step_ns + (double)i);
}

/* What sensors show over n cycles [n x n_sensors], with noise. */
static double *measure(size_t machine, size_t n, size_t *n_sensors)
{
  bramah_machine_plant truth;
  bramah_sensor sensor[MOST];
  char names[MOST][64];
  double u[MOST];
  unsigned seed = 1;
  open_machine(machine, 0, &truth);
  const bramah_plant *plant = &truth.plant;
  *n_sensors = make_sensors(plant, names, sensor);
  double *y = calloc(n * *n_sensors + 1, sizeof *y);
  for (size_t k = 0; y && k < n; k++) {
    set_command(machine, &truth, k, u);
    must(plant->set_inputs(plant->self, u, &diag), &diag);
    must(plant->step(plant->self, &diag), &diag);
    for (size_t i = 0; i < *n_sensors; i++)
      y[k * *n_sensors + i] = bramah_sensor_predict(&sensor[i], plant) + sensor[i].sigma * test_normal(&seed);
  }
  bramah_machine_plant_close(&truth);
  return y;
}

/* ---- the filter ---- */

typedef struct filter_parts {
  /* of positions, rates, first-order states; noise of accelerations, first-order states */
  double sigma[5][MOST];
  bramah_augmented augmented[3 * MOST];
  char name[3 * MOST][96];
} filter_parts;

/* One of the uncertain parameters, or an error of sensor i. */
static void add_augmented(filter_parts *p, bramah_filter_options *o, bramah_augmented_kind kind,
                          const char *at, double sigma, bramah_augmented_role role)
{
  static const char *const what[] = {"", "", ".bias", ".gain", ".delay"};
  const size_t k = o->n_augmented++;
  snprintf(p->name[k], sizeof p->name[k], "%s%s", at, what[kind]);
  p->augmented[k] = (bramah_augmented){
      .name = p->name[k], .kind = kind, .at = at, .order = 1, .sigma = sigma, .role = role};
}

static void make_options(const bramah_machine_plant *m, size_t n_sensors, const bramah_sensor *sensor,
                         bench_work work, filter_parts *p, bramah_filter_options *o)
{
  static const double of_element[5] = {0.05, 0.1, 1e5, 0.05, 8e5};
  bramah_filter_options_default(o);
  for (size_t i = 0; i < 5; i++)
    for (size_t k = 0; k < MOST; k++) p->sigma[i][k] = of_element[i];
  for (size_t k = 2 * m->plant.n_dof; k < bramah_plant_n_error(&m->plant); k++) {
    bramah_state_info info;
    bramah_plant_state_info(&m->plant, k, &info);
    if (!strcmp(info.unit, "Pa")) continue; /* flows, bristles */
    for (size_t i = 2; i < 5; i += 2) p->sigma[i][k - 2 * m->plant.n_dof] = 0.01 * info.scale;
  }
  o->position_sigma = p->sigma[0];
  o->rate_sigma = p->sigma[1];
  o->first_order_sigma = p->sigma[2];
  o->acceleration_noise = p->sigma[3];
  o->first_order_noise = p->sigma[4];
  o->augmented = p->augmented;
  for (size_t i = 0; (work == CYCLE_7 || work == CYCLE_BUDGET) && i < m->plant.n_parameter; i++) {
    bramah_parameter_info info;
    double sigma;
    m->plant.parameter_info(m->plant.self, i, &info);
    bramah_machine_plant_uncertainty(m, i, &sigma);
    if (sigma > 0.0 && (work == CYCLE_BUDGET || o->n_augmented < 7))
      add_augmented(p, o, BRAMAH_AUGMENTED_PARAMETER, info.name, sigma,
                    work == CYCLE_7 ? BRAMAH_AUGMENTED_ESTIMATED : BRAMAH_AUGMENTED_AUTO);
  }
  for (size_t i = 0; work == CYCLE_BUDGET && i < n_sensors; i++) {
    add_augmented(p, o, BRAMAH_AUGMENTED_BIAS, sensor[i].name, 2.0 * sensor[i].sigma, BRAMAH_AUGMENTED_AUTO);
    add_augmented(p, o, BRAMAH_AUGMENTED_GAIN, sensor[i].name, 0.01, BRAMAH_AUGMENTED_CONSIDERED);
    add_augmented(p, o, BRAMAH_AUGMENTED_DELAY, sensor[i].name, 1e-3, BRAMAH_AUGMENTED_CONSIDERED);
  }
}

/* ---- a case ---- */

typedef struct rig {
  size_t machine, k; /* the cycle that comes next */
  bench_work work;
  bench_way way;
  bramah_machine_plant m;
  bramah_sensor sensor[MOST];
  char names[MOST][64]; /* of the sensors */
  size_t n_sensors;
  filter_parts parts;
  bramah_filter *filter;
  bramah_batch *batch;
  const double *y;
  void *library;
  int (*c_step)(const double *u);
  int (*c_cycle)(const double *u, const double *y);
  double us[ROUNDS], median; /* of a unit */
  size_t refused;
} rig;

/* The C source of the filter, compiled, with what runs it. Returns the compiler's seconds; 0: it was there, -1: failed. */
static double compile_source(const bramah_c_source *source, const char *library)
{
  char command[2048];
  struct stat about;
  if (stat(library, &about) == 0) return 0.0;
  FILE *f = fopen("bench.h", "w");
  if (!f || fputs(source->header, f) < 0 || fclose(f)) return -1.0;
  f = fopen("bench.c", "w");
  if (!f || fputs(source->code, f) < 0) return -1.0;
  fprintf(
      f,
      "\n#ifdef BENCH_SENSORS\nstatic bench_filter filter;\nvoid run_begin(void) { bench_begin(&filter); }\n"
      "int run_cycle(const double *u, const double *y)\n{\n"
      "  static const unsigned char present[64] = {%s};\n"
      "  const int status = bench_predict(&filter, u);\n"
      "  return status < BENCH_OK ? status : bench_correct(&filter, y, present);\n}\n#endif\n"
      "static bench_state state;\nvoid run_begin_plant(void) { state = bench_start; }\n"
      "int run_step(const double *u) { return bench_step(&state, u, bench_nominal); }\n",
      "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
      "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1");
  if (fclose(f)) return -1.0;
  const char *cc = getenv("CC"), *processor = getenv("BENCH_PROCESSOR");
  snprintf(command, sizeof command,
           "%s -std=c11 -O3 -march=%s -ffp-contract=off -w -fPIC -shared -o '%s' bench.c -lm", cc ? cc : "cc",
           processor ? processor : "native", library);
  struct rusage before, after;
  getrusage(RUSAGE_CHILDREN, &before);
  if (system(command)) return -1.0;
  getrusage(RUSAGE_CHILDREN, &after);
  return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
         1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
}

static int open_source(rig *r)
{
  bramah_c_source source;
  char library[700];
  const bramah_program *program = r->m.program;
  const bramah_status status =
      !program ? BRAMAH_E_UNSUPPORTED
      : r->work == STEP
          ? bramah_program_c_source(program, r->m.coupled, "bench", BRAMAH_PRECISION_DOUBLE, &diag, &source)
          : bramah_filter_c_source(r->filter, program, r->m.coupled, "bench", BRAMAH_PRECISION_DOUBLE, &diag,
                                   &source);
  if (status) return 0;
  snprintf(library, sizeof library, "%s/%s-%s.so", folder, machines[r->machine].name, work_name[r->work]);
  const double seconds = compile_source(&source, library);
  bramah_c_source_free(&source);
  r->library = seconds < 0.0 ? NULL : dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!r->library) return 0;
  void (*begin)(void);
  *(void **)&begin = dlsym(r->library, r->work == STEP ? "run_begin_plant" : "run_begin");
  *(void **)&r->c_step = dlsym(r->library, "run_step");
  *(void **)&r->c_cycle = dlsym(r->library, "run_cycle");
  begin();
  return 1;
}

static int open_filters(rig *r)
{
  bramah_filter_options options;
  const size_t n = ways[r->way].filters;
  make_options(&r->m, r->n_sensors, r->sensor, r->work, &r->parts, &options);
  if (n == 1)
    return bramah_filter_new(&r->m.plant, r->n_sensors, r->sensor, &options, &diag, &r->filter) == BRAMAH_OK;
  bramah_filter_options all[MOST_LANES];
  for (size_t i = 0; i < n; i++) all[i] = options;
  const bramah_batch_options batch = {
      .n = n, .start = r->m.coupled, .n_sensors = r->n_sensors, .sensors = r->sensor, .options = all};
  return bramah_batch_new(&batch, &diag, &r->batch) == BRAMAH_OK;
}

/* Is there such a case? */
static int is_wanted(size_t machine, bench_work work, bench_way way)
{
  if (work >= CORRECTION && machine != 0) return 0;
  if (ways[way].filters > 1 && work < CYCLE) return 0;
  if (ways[way].filters > 1 && work == CORRECTION) return 0;
  return !(way == C_SOURCE && (work == DERIVATIVES || work == CORRECTION));
}

/* 0: this way does not do it. */
static int open_rig(rig *r, size_t machine, bench_work work, bench_way way, const double *y)
{
  *r = (rig){.machine = machine, .work = work, .way = way, .y = y};
  open_machine(machine, way == NATIVE || way == NATIVE_8, &r->m);
  r->n_sensors = make_sensors(&r->m.plant, r->names, r->sensor);
  if (way != INTERPRETED && !r->m.program) return 0;
  if (way == INTERPRETED) must(bramah_coupled_use(r->m.coupled, NULL, &diag), &diag);
  if (work >= CYCLE && !open_filters(r)) return 0;
  return way != C_SOURCE || open_source(r);
}

static void close_rig(rig *r)
{
  bramah_filter_free(r->filter);
  bramah_batch_free(r->batch);
  if (r->library) dlclose(r->library);
  bramah_machine_plant_close(&r->m);
}

/* One unit of work; of lanes, of all filters. */
bramah_status bench_unit(rig *r, const double *u);
__attribute__((noinline)) bramah_status bench_unit(rig *r, const double *u)
{
  static double F[160 * 160];
  const bramah_plant *plant = &r->m.plant;
  const double *y = r->y + r->k++ * r->n_sensors;
  unsigned char present[MOST];
  memset(present, 1, sizeof present);
  if (r->c_step && r->work == STEP) return r->c_step(u) < 0 ? BRAMAH_E_NO_CONVERGENCE : BRAMAH_OK;
  if (r->c_cycle) return r->c_cycle(u, y) < 0 ? BRAMAH_E_NO_CONVERGENCE : BRAMAH_OK;
  if (r->batch) {
    const bramah_batch_cycle cycle = {.n_u = 1, .u = u, .n_y = 1, .y = y};
    return bramah_batch_step(r->batch, &cycle) ? BRAMAH_OK : BRAMAH_E_NO_CONVERGENCE;
  }
  if (r->work == CORRECTION) return bramah_filter_correct(r->filter, r->y, present, &diag);
  if (r->work >= CYCLE) {
    const bramah_filter_cycle cycle = {.time_ns = (int64_t)r->k * plant->step_ns,
                                       .n_input = plant->n_input,
                                       .u = u,
                                       .n_sensors = r->n_sensors,
                                       .y = y,
                                       .present = present};
    return bramah_filter_step(r->filter, &cycle, NULL, &diag);
  }
  const bramah_status status = plant->set_inputs(plant->self, u, &diag);
  if (status) return status;
  return r->work == STEP ? plant->step(plant->self, &diag)
                         : plant->step_transition(plant->self, F, F + 80 * 160, 0, NULL, NULL, &diag);
}

/* Seconds of n units; a C source refuses what needs divided steps or other coordinates, and then stays as it is. */
static double run_units(rig *r, size_t n)
{
  double u[MOST];
  const double begin = bench_now();
  for (size_t i = 0; i < n; i++) {
    set_command(r->machine, &r->m, r->k, u);
    const bramah_status status = bench_unit(r, u);
    if (status == BRAMAH_OK) continue;
    if (r->way != C_SOURCE) must(status, &diag);
    r->refused++;
  }
  return bench_now() - begin;
}

static void write_key(char *out, size_t size, size_t machine, bench_work work, bench_way way)
{
  snprintf(out, size, "%s/%s/%s", machines[machine].name, work_name[work], ways[way].name);
  for (char *c = out; *c; c++)
    if (*c == ' ') *c = '_';
}

/* ---- the table ---- */

/* Instructions of a unit by the file; 0: not counted. */
static double counted(const char *file, const char *key)
{
  FILE *f = file ? fopen(file, "r") : NULL;
  char line[256];
  double n = 0.0;
  while (f && fgets(line, sizeof line, f))
    if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ' ') n = strtod(line + strlen(key), NULL);
  if (f) fclose(f);
  return n;
}

/* A unit of a rig, per filter: us; instructions by the file. NaN: refused or not counted. */
static double value_of(const rig *r, const char *file)
{
  char key[128];
  const double filters = (double)ways[r->way].filters;
  if (r->refused) return NAN;
  if (!file) return r->median / filters;
  write_key(key, sizeof key, r->machine, r->work, r->way);
  const double instructions = counted(file, key);
  return instructions > 0.0 ? instructions / filters : NAN;
}

static void print_head(const char *what)
{
  printf("%-23s %-12s", what, "work");
  for (size_t w = 0; w < N_WAYS; w++) printf(" %11s", ways[w].name);
  printf("\n");
}

/* Of one machine: a line for each work, a column for each way. */
static void print_rows(const rig *rigs, size_t n, const char *file)
{
  for (size_t i = 0; i < n;) {
    const rig *first = &rigs[i];
    printf("%-23s %-12s", file ? "  instructions" : machines[first->machine].name, work_name[first->work]);
    for (int w = 0; w < N_WAYS; w++) {
      const int is_there = i < n && rigs[i].work == first->work && rigs[i].way == (bench_way)w;
      const double value = is_there ? value_of(&rigs[i], file) : NAN;
      const size_t refused = is_there ? rigs[i].refused : 0;
      i += (size_t)is_there;
      if (refused && !file)
        printf(" %6zu left", refused);
      else if (isnan(value))
        printf(" %11s", "-");
      else
        printf(file ? " %11.0f" : " %11.3f", value);
    }
    printf("\n");
  }
  fflush(stdout);
}

/* The goal's way, or the fastest one of as many filters in lockstep as it has. */
static void print_goals(const rig *rigs, size_t n, const char *file)
{
  printf("%-12s %-12s %9s %9s %-12s %9s %7s %13s\n", "machine", "work", "lockstep", "goal us", "fastest way",
         "us", "ratio", "instructions");
  for (size_t g = 0; g < sizeof goals / sizeof goals[0]; g++) {
    const rig *best = NULL;
    for (size_t i = 0; i < n; i++) {
      const rig *r = &rigs[i];
      if (strcmp(goals[g].machine, machines[r->machine].name) == 0 && goals[g].work == r->work &&
          goals[g].filters == ways[r->way].filters && !r->refused &&
          (!goals[g].way || goals[g].way == 1 + (int)r->way) && (!best || r->median < best->median))
        best = r;
    }
    if (!best) continue;
    const double us = value_of(best, NULL), instructions = file ? value_of(best, file) : NAN;
    printf("%-12s %-12s %9zu %9.3g %-12s %9.3f %7.2f %13.0f\n", goals[g].machine, work_name[goals[g].work],
           goals[g].filters, goals[g].us, ways[best->way].name, us, us / goals[g].us, instructions);
  }
}

/* All ways of a machine, in rounds that take turns; returns how many. What is left of them are their times. */
static size_t measure_machine(size_t machine, rig *rigs)
{
  size_t n = 0, n_sensors;
  double *y = measure(machine, WARM + ROUNDS * CYCLES, &n_sensors);
  for (int work = 0; work < N_WORKS; work++)
    for (int way = 0; way < N_WAYS; way++) {
      if (!is_wanted(machine, (bench_work)work, (bench_way)way)) continue;
      if (open_rig(&rigs[n], machine, (bench_work)work, (bench_way)way, y))
        n++;
      else
        close_rig(&rigs[n]);
    }
  for (size_t i = 0; i < n; i++) run_units(&rigs[i], WARM);
  for (int round = 0; round < ROUNDS; round++)
    for (size_t i = 0; i < n; i++) rigs[i].us[round] = 1e6 * run_units(&rigs[i], CYCLES) / CYCLES;
  for (size_t i = 0; i < n; i++) {
    rigs[i].median = bench_median(rigs[i].us, ROUNDS);
    close_rig(&rigs[i]);
  }
  free(y);
  return n;
}

static void print_table(const char *file)
{
  rig *rigs = calloc(N_MACHINES * N_WORKS * N_WAYS, sizeof *rigs);
  size_t n = 0;
  bench_print_machine();
  printf("\nus of processor time per filter, median of %d rounds of %d that take turns; so many cycles that "
         "C source left, "
         "to be divided; instructions per filter by callgrind where they are counted\n\n",
         ROUNDS, CYCLES);
  print_head("machine");
  for (size_t m = 0; rigs && m < N_MACHINES; m++) {
    const size_t count = measure_machine(m, rigs + n);
    print_rows(rigs + n, count, NULL);
    if (file) print_rows(rigs + n, count, file);
    n += count;
  }
  printf("\ngoals\n\n");
  print_goals(rigs, n, file);
  free(rigs);
}

/* f for each case; with its key. */
static int each_case(int (*f)(const char *key, size_t machine, bench_work work, bench_way way, void *user),
                     void *user)
{
  for (size_t m = 0; m < N_MACHINES; m++)
    for (int work = 0; work < N_WORKS; work++)
      for (int way = 0; way < N_WAYS; way++) {
        char key[128];
        write_key(key, sizeof key, m, (bench_work)work, (bench_way)way);
        if (is_wanted(m, (bench_work)work, (bench_way)way) &&
            f(key, m, (bench_work)work, (bench_way)way, user))
          return 1;
      }
  return 0;
}

static int print_key(const char *key, size_t machine, bench_work work, bench_way way, void *user)
{
  (void)machine, (void)work, (void)way, (void)user;
  return puts(key) < 0;
}

typedef struct one {
  const char *key;
  size_t n;
} one;

static int run_one(const char *key, size_t machine, bench_work work, bench_way way, void *user)
{
  const one *wanted = user;
  rig r;
  size_t n_sensors;
  if (strcmp(key, wanted->key) != 0) return 0;
  double *y = measure(machine, wanted->n, &n_sensors);
  if (open_rig(&r, machine, work, way, y)) {
    const size_t allocated = mallinfo2().uordblks;
    const double seconds = run_units(&r, wanted->n);
    printf("allocated %zu, %.3f us\n", mallinfo2().uordblks - allocated, 1e6 * seconds / (double)wanted->n);
  }
  close_rig(&r);
  free(y);
  return 1;
}

/* ---- compiling, and growth ---- */

typedef struct sizes {
  double n, graph_s, iterate, all, kb, text_kb[2], cc_s[2]; /* of the C source of the step, of the filter */
} sizes;

/* Of the program with everything, and of the C source of a filter on it. 0: it cannot be compiled. */
static int measure_sizes(const char *path, sizes *out)
{
  bramah_machine_plant m;
  rig r = {.work = CYCLE};
  bramah_program *program;
  char library[700];
  must(bramah_machine_plant_open(&m, path, 0, NULL, 0, &diag), &diag);
  const double begin = bench_now();
  bramah_status status = bramah_program_new(m.model, &diag, &program);
  if (!status) status = bramah_program_add_bases(program, &diag);
  *out = (sizes){.n = (double)m.plant.n_dof, .graph_s = bench_now() - begin, .cc_s = {-1.0, -1.0}};
  if (!status) {
    const bramah_program_info info = bramah_program_get_info(program);
    out->iterate = (double)info.n_iterate;
    out->all = (double)info.n_operations;
    out->kb = 1e-3 * (double)info.bytes;
  }
  r.m = m;
  r.n_sensors = make_sensors(&m.plant, r.names, r.sensor);
  for (int filter = 0; filter < 2 && !status; filter++) {
    bramah_c_source source;
    if (!filter)
      status = bramah_program_c_source(program, m.coupled, "bench", BRAMAH_PRECISION_DOUBLE, &diag, &source);
    else if (open_filters(&r))
      status = bramah_filter_c_source(r.filter, program, m.coupled, "bench", BRAMAH_PRECISION_DOUBLE, &diag,
                                      &source);
    if (status) break;
    snprintf(library, sizeof library, "%s/growth.so", folder);
    unlink(library);
    out->text_kb[filter] = 1e-3 * (double)strlen(source.code);
    out->cc_s[filter] = compile_source(&source, library);
    bramah_c_source_free(&source);
  }
  bramah_filter_free(r.filter);
  bramah_machine_plant_close(&m);
  bramah_program_free(program);
  return out->iterate > 0.0;
}

static void print_sizes(const char *name, const sizes *s)
{
  printf("%-23s %7.0f %8.3f %8.0f %10.0f %8.1f", name, s->n, s->graph_s, s->iterate, s->all, s->kb);
  for (int filter = 0; filter < 2; filter++)
    if (s->cc_s[filter] < 0.0)
      printf(" %8s %8s", "-", "-");
    else
      printf(" %8.0f %8.2f", s->text_kb[filter], s->cc_s[filter]);
  printf("\n");
  fflush(stdout);
}

/* Exponent of y over n by least squares of the logarithms. */
static double exponent(size_t count, const sizes *s, size_t member)
{
  double x = 0, y = 0, xx = 0, xy = 0, n = 0;
  for (size_t i = 0; i < count; i++) {
    const double value = *(const double *)((const char *)&s[i] + member);
    if (!(value > 0.0)) continue;
    const double a = log(s[i].n), b = log(value);
    n++, x += a, y += b, xx += a * a, xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

static void print_growth(void)
{
  char path[1024];
  sizes s[10];
  bench_print_machine();
  printf(
      "\nseconds of compiling: graph and tape; C compiler (-O3) for the filter with the step's transition\n\n"
      "%-24s %7s %9s %9s %10s %9s %9s %9s\n",
      "machine", "freedom", "graph s", "iterate", "operations", "plant KB", "C KB", "cc s");
  for (size_t m = 0; m < N_MACHINES; m++) {
    const char *root = getenv("BRAMAH_SOURCE_ROOT");
    snprintf(path, sizeof path, "%s/datasets/%s.yaml", root ? root : ".",
             machines[m].path ? machines[m].path : "");
    if (machines[m].path && measure_sizes(path, s)) print_sizes(machines[m].name, s);
  }
  for (int spatial = 0; spatial < 2; spatial++) {
    size_t n = 0;
    static const size_t links[] = {1, 2, 3, 5, 7, 10};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
      char name[64];
      snprintf(path, sizeof path, "%s/growth.yaml", folder);
      snprintf(name, sizeof name, "boom, %s", spatial ? "general axes" : "plane");
      write_boom(path, links[i], spatial ? 0.2 : 0.0);
      if (measure_sizes(path, &s[n])) print_sizes(name, &s[n++]);
    }
    printf("from 3 on as n to the: graph %.2f, iterate %.2f, operations %.2f; cc of the step %.2f, of the "
           "filter %.2f\n",
           exponent(n - 2, s + 2, offsetof(sizes, graph_s)), exponent(n - 2, s + 2, offsetof(sizes, iterate)),
           exponent(n - 2, s + 2, offsetof(sizes, all)), exponent(n - 2, s + 2, offsetof(sizes, cc_s)),
           exponent(n - 2, s + 2, offsetof(sizes, cc_s) + sizeof(double)));
  }
}

int main(int argc, char **argv)
{
  char temporary[] = "/tmp/bench-XXXXXX";
  const char *what = argc > 1 ? argv[1] : "table", *given = getenv("BENCH_FOLDER");
  if (!strcmp(what, "list")) return each_case(print_key, NULL);
  if (!given && !(given = mkdtemp(temporary))) return EXIT_FAILURE;
  if (!realpath(given, folder)) return EXIT_FAILURE;
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char here[512];
  if (!root && getcwd(here, sizeof here)) setenv("BRAMAH_SOURCE_ROOT", here, 1);
  if (chdir(folder)) return EXIT_FAILURE;
  if (!strcmp(what, "growth"))
    print_growth();
  else if (!strcmp(what, "run") && argc > 3)
    return !each_case(run_one, &(one){argv[2], strtoul(argv[3], NULL, 10)});
  else
    print_table(argc > 2 ? argv[2] : NULL);
  return EXIT_SUCCESS;
}

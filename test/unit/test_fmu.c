/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FMUs as a simulator uses them: unpacked, described, loaded and stepped, by a driver of our own, beside the library's plant and filter. */
#define _XOPEN_SOURCE 700 /* temporary folders */
#include "test/support/run.h"
#include "test/support/scratch.h"

#include "bramah/alarm.h"
#include "bramah/fmu.h"
#include "bramah/session.h"

#include <math.h>

#ifdef BRAMAH_FMI
#include <dlfcn.h>
#include <expat.h>
#include <sys/stat.h>
#include <zip.h>

#include "lib/fmi/headers/fmi2FunctionTypes.h"
#include "lib/fmi/headers/fmi3FunctionTypes.h"

/* ---- an archive, unpacked and described ---- */

enum { MOST_VARIABLES = 400, MOST_STATES = 32 };

typedef struct fmu {
  char folder[SCRATCH_NAME], library[2048], token[64], identifier[64];
  char name[MOST_VARIABLES][96];
  unsigned vr[MOST_VARIABLES];
  size_t n;
  int n_icons;
  void *handle;
} fmu;

static const char *data_file(const char *name)
{
  static char path[1024];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  snprintf(path, sizeof path, "%s/datasets/%s", root ? root : ".", name);
  return path;
}

static void note_element(void *user, const char *element, const char **attribute)
{
  fmu *u = user;
  const char *name = NULL, *vr = NULL;
  for (size_t i = 0; attribute[i]; i += 2) {
    if (strcmp(attribute[i], "name") == 0) name = attribute[i + 1];
    if (strcmp(attribute[i], "valueReference") == 0) vr = attribute[i + 1];
    if (strcmp(attribute[i], "guid") == 0 || strcmp(attribute[i], "instantiationToken") == 0)
      snprintf(u->token, sizeof u->token, "%s", attribute[i + 1]);
    if (strcmp(attribute[i], "modelIdentifier") == 0)
      snprintf(u->identifier, sizeof u->identifier, "%s", attribute[i + 1]);
  }
  if (!name || !vr || strcmp(element, "Terminal") == 0) return;
  ck_assert_uint_lt(u->n, MOST_VARIABLES);
  for (size_t i = 0; i < u->n; i++) ck_assert_str_ne(u->name[i], name);
  snprintf(u->name[u->n], sizeof *u->name, "%s", name);
  u->vr[u->n++] = (unsigned)strtoul(vr, NULL, 10);
}

static void unpack_file(fmu *u, zip_t *archive, zip_int64_t i)
{
  zip_stat_t about;
  char path[2048];
  ck_assert_int_eq(zip_stat_index(archive, (zip_uint64_t)i, 0, &about), 0);
  char *bytes = malloc(about.size + 1);
  zip_file_t *in = zip_fopen_index(archive, (zip_uint64_t)i, 0);
  ck_assert(bytes && in && zip_fread(in, bytes, about.size) == (zip_int64_t)about.size);
  zip_fclose(in);
  const char *dot = strrchr(about.name, '.');
  if (strcmp(about.name, "modelDescription.xml") == 0) {
    XML_Parser parser = XML_ParserCreate(NULL);
    XML_SetUserData(parser, u);
    XML_SetStartElementHandler(parser, note_element);
    ck_assert_int_eq(XML_Parse(parser, bytes, (int)about.size, 1), XML_STATUS_OK);
    XML_ParserFree(parser);
  } else if (dot && strcmp(dot, ".xml") == 0) {
    XML_Parser parser = XML_ParserCreate(NULL);
    ck_assert_int_eq(XML_Parse(parser, bytes, (int)about.size, 1), XML_STATUS_OK);
    XML_ParserFree(parser);
  } else if (dot && strcmp(dot, ".so") == 0) {
    snprintf(path, sizeof path, "%s/model.so", u->folder);
    FILE *file = fopen(path, "wb");
    ck_assert(file && fwrite(bytes, 1, about.size, file) == about.size && fclose(file) == 0);
    snprintf(u->library, sizeof u->library, "%s", path);
  }
  free(bytes);
}

static void open_fmu(fmu *u, const char *model, int version, int64_t step_ns)
{
  char path[1024];
  bramah_diag diag;
  memset(u, 0, sizeof *u);
  ck_assert(scratch_folder(u->folder));
  snprintf(path, sizeof path, "%s/model.fmu", u->folder);
  bramah_diag_clear(&diag);
  const bramah_status status = bramah_fmu_write(data_file(model), step_ns, version, path, &diag, NULL);
  ck_assert_msg(status == BRAMAH_OK, "%s: %s", diag.thing, diag.message);
  zip_t *archive = zip_open(path, ZIP_RDONLY | ZIP_CHECKCONS, NULL);
  ck_assert_ptr_nonnull(archive);
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); i++) unpack_file(u, archive, i);
  zip_discard(archive);
  ck_assert_uint_gt(u->n, 10);
  u->handle = dlopen(u->library, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(u->handle != NULL, "%s", dlerror());
}

static void close_fmu(fmu *u)
{
  char path[2048];
  dlclose(u->handle);
  unlink(u->library);
  snprintf(path, sizeof path, "%s/model.fmu", u->folder);
  unlink(path);
  ck_assert_int_eq(rmdir(u->folder), 0);
}

static unsigned find(const fmu *u, const char *prefix, const char *name)
{
  char whole[192];
  snprintf(whole, sizeof whole, "%s%s", prefix, name);
  for (size_t i = 0; i < u->n; i++)
    if (strcmp(u->name[i], whole) == 0) return u->vr[i];
  ck_abort_msg("the FMU has no variable %s", whole);
}

static char said[1024];

static void *function(const fmu *u, const char *name)
{
  void *found = dlsym(u->handle, name);
  ck_assert_msg(found != NULL, "%s", name);
  return found;
}

#define USE(prefix, name)                                                                                    \
  prefix##name##TYPE *name = (prefix##name##TYPE *)(uintptr_t)function(&u, #prefix #name)

/* ---- a plant, version 3 ---- */

static void log_3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                  fmi3String message)
{
  (void)environment, (void)status, (void)category;
  snprintf(said, sizeof said, "%s", message);
}

static double command(int k) { return 2.0 * sin(0.02 * k); }

START_TEST(plant_steps_as_in_the_library)
{
  enum { STEPS = 300, ROLLED = 100 };
  const double h = 1e-3;
  fmu u;
  bramah_diag diag;
  bramah_machine_plant machine;
  open_fmu(&u, "four-bar/four-bar.yaml", 3, 0);
  USE(fmi3, InstantiateCoSimulation);
  USE(fmi3, EnterInitializationMode);
  USE(fmi3, ExitInitializationMode);
  USE(fmi3, GetFloat64);
  USE(fmi3, SetFloat64);
  USE(fmi3, DoStep);
  USE(fmi3, GetFMUState);
  USE(fmi3, SetFMUState);
  USE(fmi3, FreeFMUState);
  USE(fmi3, SerializedFMUStateSize);
  USE(fmi3, SerializeFMUState);
  USE(fmi3, DeserializeFMUState);
  USE(fmi3, GetDirectionalDerivative);
  USE(fmi3, FreeInstance);
  ck_assert_int_eq(
      bramah_machine_plant_open(&machine, data_file("four-bar/four-bar.yaml"), 0, NULL, 0, &diag), BRAMAH_OK);
  const bramah_plant *plant = &machine.plant;
  const size_t n = bramah_plant_n_error(plant);
  unsigned state[MOST_STATES], previous[MOST_STATES], valve = find(&u, "", "valve");
  const char *const outputs[] = {"crank.angle", "rocker.acceleration", "v1.pressure", "lift.force",
                                 "valve.spool"};
  for (size_t k = 0; k < n; k++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, k, &info);
    state[k] = find(&u, "", info.name);
    previous[k] = find(&u, "previous.", info.name);
  }
  ck_assert_ptr_null(InstantiateCoSimulation("a", "{wrong}", "", 0, 0, 0, 0, NULL, 0, NULL, log_3, NULL));
  fmi3Instance c[2];
  for (int i = 0; i < 2; i++) {
    c[i] = InstantiateCoSimulation("a", u.token, "", 0, 0, 0, 0, NULL, 0, NULL, log_3, NULL);
    ck_assert_ptr_nonnull(c[i]);
    ck_assert_int_eq(EnterInitializationMode(c[i], 0, 0.0, 0.0, 0, 0.0), fmi3OK);
    ck_assert_int_eq(ExitInitializationMode(c[i]), fmi3OK);
  }
  fmi3Boolean flag[3];
  double last, value, rolled[2][MOST_STATES];
  fmi3FMUState kept = NULL, read = NULL;

  /* Beside the library's plant; the other instance has other commands in between. */
  for (int k = 0; k < STEPS; k++) {
    const double other = -command(k), now = command(k);
    ck_assert_int_eq(SetFloat64(c[0], &valve, 1, &now, 1), fmi3OK);
    ck_assert_int_eq(SetFloat64(c[1], &valve, 1, &other, 1), fmi3OK);
    ck_assert_int_eq(plant->set_inputs(plant->self, &now, &diag), BRAMAH_OK);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
      const unsigned vr = find(&u, "", outputs[i]);
      const double true_value =
          plant->output(plant->self, (size_t)bramah_plant_find_output(plant, outputs[i]));
      ck_assert_int_eq(GetFloat64(c[0], &vr, 1, &value, 1), fmi3OK);
      ck_assert_msg(fabs(value - true_value) <= 1e-12 * fmax(1.0, fabs(true_value)),
                    "%s in step %d: %.17g, %.17g", outputs[i], k, value, true_value);
    }
    ck_assert_int_eq(plant->step(plant->self, &diag), BRAMAH_OK);
    for (int i = 0; i < 2; i++)
      ck_assert_int_eq(DoStep(c[i], k * h, h, 0, flag, flag + 1, flag + 2, &last), fmi3OK);
    ck_assert_double_eq_tol(last, (k + 1) * h, 1e-9);
  }

  /* Back by a saved state, and by one that was bytes in between, in another instance. */
  ck_assert_int_eq(GetFMUState(c[0], &kept), fmi3OK);
  for (int run = 0; run < 3; run++) {
    fmi3Instance at = c[run == 2];
    if (run == 1) ck_assert_int_eq(SetFMUState(at, kept), fmi3OK);
    if (run == 2) {
      size_t size;
      ck_assert_int_eq(SerializedFMUStateSize(c[0], kept, &size), fmi3OK);
      unsigned char *bytes = malloc(size);
      ck_assert_int_eq(SerializeFMUState(c[0], kept, bytes, size), fmi3OK);
      ck_assert_int_eq(DeserializeFMUState(at, bytes, size, &read), fmi3OK);
      bytes[3] ^= 1;
      ck_assert_int_eq(DeserializeFMUState(at, bytes, size, &read), fmi3Error);
      ck_assert_int_eq(DeserializeFMUState(at, bytes, size - 1, &read), fmi3Error);
      ck_assert_int_eq(SetFMUState(at, read), fmi3OK);
      free(bytes);
    }
    for (int k = STEPS; k < STEPS + ROLLED; k++) {
      const double now = command(k);
      ck_assert_int_eq(SetFloat64(at, &valve, 1, &now, 1), fmi3OK);
      ck_assert_int_eq(DoStep(at, k * h, h, 0, flag, flag + 1, flag + 2, &last), fmi3OK);
    }
    ck_assert_int_eq(GetFloat64(at, state, n, rolled[run > 0], n), fmi3OK);
    ck_assert(memcmp(rolled[0], rolled[run > 0], n * sizeof(double)) == 0);
  }

  /* The derivative of a step by the state where it began, and differences of whole steps. */
  double start[MOST_STATES], F[MOST_STATES * MOST_STATES], scale[MOST_STATES], end[2][MOST_STATES];
  const double t = (STEPS + ROLLED) * h;
  ck_assert_int_eq(GetFMUState(c[0], &kept), fmi3OK);
  ck_assert_int_eq(GetFloat64(c[0], state, n, start, n), fmi3OK);
  ck_assert_int_eq(DoStep(c[0], t, h, 0, flag, flag + 1, flag + 2, &last), fmi3OK);
  for (size_t k = 0; k < n; k++) {
    const double one = 1.0;
    double column[MOST_STATES];
    bramah_state_info info;
    ck_assert_int_eq(GetDirectionalDerivative(c[0], state, n, &previous[k], 1, &one, 1, column, n), fmi3OK);
    for (size_t r = 0; r < n; r++) F[r * n + k] = column[r];
    bramah_plant_state_info(plant, k, &info);
    scale[k] = info.scale;
  }
  for (size_t k = 0; k < n; k++) {
    const double d = 1e-4 * scale[k];
    for (int side = 0; side < 2; side++) {
      const double moved = start[k] + (side ? d : -d);
      ck_assert_int_eq(SetFMUState(c[0], kept), fmi3OK);
      ck_assert_int_eq(SetFloat64(c[0], &state[k], 1, &moved, 1), fmi3OK);
      ck_assert_int_eq(DoStep(c[0], t, h, 0, flag, flag + 1, flag + 2, &last), fmi3OK);
      ck_assert_int_eq(GetFloat64(c[0], state, n, end[side], n), fmi3OK);
    }
    for (size_t r = 0; r < n; r++) {
      const double difference = (end[1][r] - end[0][r]) / (2.0 * d);
      ck_assert_msg(fabs(difference - F[r * n + k]) <= 1e-6 * fmax(fabs(F[r * n + k]), scale[r] / scale[k]),
                    "F[%zu, %zu]: %.12g, by differences %.12g", r, k, F[r * n + k], difference);
    }
  }

  /* What is refused says why. */
  ck_assert_int_eq(SetFMUState(c[0], kept), fmi3OK);
  ck_assert_int_eq(DoStep(c[0], t, 1.5 * h, 0, flag, flag + 1, flag + 2, &last), fmi3Error);
  ck_assert_ptr_nonnull(strstr(said, "a whole number of steps of 0.001 s"));
  ck_assert_int_eq(DoStep(c[0], t + 1.0, h, 0, flag, flag + 1, flag + 2, &last), fmi3Error);
  ck_assert_int_eq(DoStep(c[0], t, 5.0 * h, 0, flag, flag + 1, flag + 2, &last), fmi3OK);
  const unsigned none = 9999, angle = find(&u, "", "rocker.angle");
  ck_assert_int_eq(GetFloat64(c[0], &none, 1, &value, 1), fmi3Error);
  ck_assert_int_eq(SetFloat64(c[0], &angle, 1, &value, 1), fmi3Error);
  value = NAN;
  ck_assert_int_eq(SetFloat64(c[0], &valve, 1, &value, 1), fmi3Error);
  FreeFMUState(c[0], &kept);
  FreeFMUState(c[0], &read);
  for (int i = 0; i < 2; i++) FreeInstance(c[i]);
  bramah_machine_plant_close(&machine);
  close_fmu(&u);
}
END_TEST

/* ---- an estimator, version 2 ---- */

static void log_2(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status,
                  fmi2String category, fmi2String format, ...)
{
  (void)environment, (void)name, (void)status, (void)category;
  snprintf(said, sizeof said, "%s", format); /* which is all of it */
}

START_TEST(estimator_estimates_as_in_the_library)
{
  enum { STEPS = 200, MOST = 8 };
  static const fmi2CallbackFunctions callbacks = {log_2, calloc, free, NULL, NULL};
  const double h = 1e-3;
  fmu u;
  bramah_diag diag;
  bramah_session *session;
  open_fmu(&u, "rotary-actuator/act1.yaml", 2, 0);
  USE(fmi2, Instantiate);
  USE(fmi2, SetupExperiment);
  USE(fmi2, EnterInitializationMode);
  USE(fmi2, ExitInitializationMode);
  USE(fmi2, GetReal);
  USE(fmi2, SetReal);
  USE(fmi2, GetBoolean);
  USE(fmi2, SetBoolean);
  USE(fmi2, DoStep);
  USE(fmi2, FreeInstance);
  ck_assert_int_eq(bramah_session_open(data_file("rotary-actuator/act1.yaml"), &diag, &session), BRAMAH_OK);
  bramah_filter *filter = bramah_session_filter(session);
  const bramah_plant *plant = bramah_session_plant(session);
  const bramah_session_parts *parts = bramah_session_about(session);
  const size_t m = parts->study->n_sensors;
  unsigned measured[MOST], valid[MOST], faulty[MOST], alarm_of[MOST];
  bramah_alarm *running;
  int contradicted = 0, alarms = 0;
  ck_assert_uint_lt(m, MOST);
  ck_assert_int_eq(bramah_alarm_new(filter, NULL, &diag, &running), BRAMAH_OK);
  for (size_t i = 0; i < m; i++) {
    measured[i] = find(&u, "measured.", parts->sensors[i].name);
    valid[i] = find(&u, "valid.", parts->sensors[i].name);
    faulty[i] = find(&u, "faulty.", parts->sensors[i].name);
    alarm_of[i] = find(&u, "alarm.", parts->sensors[i].name);
  }
  alarm_of[m] = find(&u, "", "alarm");
  fmi2Component c = Instantiate("a", fmi2CoSimulation, u.token, "", &callbacks, 0, 0);
  ck_assert_ptr_nonnull(c);
  ck_assert_int_eq(SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0), fmi2OK);
  ck_assert_int_eq(EnterInitializationMode(c), fmi2OK);
  ck_assert_int_eq(ExitInitializationMode(c), fmi2OK);
  const char *const names[] = {"shaft.angle", "shaft.rate", "port_1.pressure"};
  double y[MOST], value, sigma;
  for (int k = 0; k < STEPS; k++) {
    unsigned char present[MOST];
    fmi2Boolean flag[MOST], alarm;
    for (size_t i = 0; i < m; i++) {
      present[i] = (k + (int)i) % 3 != 0;
      flag[i] = present[i];
      y[i] = bramah_sensor_predict(&parts->sensors[i], plant) +
             parts->sensors[i].sigma * sin(1.7 * k + (double)i);
    }
    if (k > 100) y[1] += 5e6; /* a sensor fails */
    ck_assert_int_eq(bramah_filter_correct(filter, y, present, &diag), BRAMAH_OK);
    ck_assert_int_eq(SetReal(c, measured, m, y), fmi2OK);
    ck_assert_int_eq(SetBoolean(c, valid, m, flag), fmi2OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      const unsigned vr[] = {find(&u, "", names[i]), find(&u, "sigma.", names[i])};
      const size_t output = (size_t)bramah_plant_find_output(plant, names[i]);
      double got[2];
      bramah_filter_outputs(filter, 1, &output, &value, &sigma);
      ck_assert_int_eq(GetReal(c, vr, 2, got), fmi2OK);
      ck_assert_msg(fabs(got[0] - value) <= 1e-12 * fmax(1.0, fabs(value)) &&
                        fabs(got[1] - sigma) <= 1e-9 * sigma,
                    "%s at %d: %.17g, %.17g; sigma %.17g, %.17g", names[i], k, got[0], value, got[1], sigma);
    }
    ck_assert_int_eq(GetBoolean(c, &faulty[1], 1, &alarm), fmi2OK);
    ck_assert_int_eq(alarm, bramah_filter_sensor_fault(filter, 1));
    const bramah_innovation *fused = bramah_filter_get_last(filter).innovation;
    for (size_t i = 0; i < m; i++) {
      const unsigned accepted = find(&u, "accepted.", parts->sensors[i].name),
                     nis = find(&u, "nis.", parts->sensors[i].name);
      ck_assert_int_eq(GetBoolean(c, &accepted, 1, &alarm), fmi2OK);
      ck_assert_int_eq(GetReal(c, &nis, 1, &value), fmi2OK);
      ck_assert_int_eq(alarm, fused[i].accepted);
      ck_assert(fabs(value - (present[i] ? fused[i].nis : 0.0)) <= 1e-9 * value);
    }
    bramah_alarm_corrected(running);
    ck_assert_int_eq(bramah_filter_predict(filter, &diag), BRAMAH_OK);
    ck_assert_int_eq(DoStep(c, k * h, h, fmi2True), fmi2OK);
    for (size_t i = 0; i <= m; i++) { /* the alarm has looked with the step */
      const int raised = bramah_alarm_get(running, i).raised;
      ck_assert_int_eq(GetBoolean(c, &alarm_of[i], 1, &alarm), fmi2OK);
      ck_assert_msg(alarm == raised, "alarm of %zu at %d: %d, not %d", i, k, alarm, raised);
      contradicted |= raised || (i < m && bramah_filter_sensor_fault(filter, i));
      alarms += raised;
    }
    const unsigned verdict = find(&u, "", "contradicted");
    ck_assert_int_eq(GetBoolean(c, &verdict, 1, &alarm), fmi2OK);
    ck_assert_int_eq(alarm, contradicted);
  }
  ck_assert_int_gt(alarms, 10);
  const unsigned angle = find(&u, "", "shaft.angle");
  ck_assert_int_eq(SetReal(c, &angle, 1, &value), fmi2Error);
  FreeInstance(c);
  bramah_alarm_free(running);
  bramah_session_close(session);
  close_fmu(&u);
}
END_TEST
#endif

START_TEST(what_is_no_fmu_is_refused_by_name)
{
  bramah_diag diag;
  char path[SCRATCH_NAME];
  ck_assert(scratch_template(path));
#ifdef BRAMAH_FMI
  const struct {
    const char *model, *thing, *message;
    int version;
    bramah_status status;
  } refused[] = {{"four-bar/four-bar.yaml", "", "the versions 2 and 3", 1, BRAMAH_E_ARGUMENT},
                 {"four-bar/hypotheses.yaml", "hypotheses", "one filter is written", 2, BRAMAH_E_UNSUPPORTED},
                 {"crates/crates.yaml", "bed_crate", "contacts between bodies are not written as C", 3,
                  BRAMAH_E_UNSUPPORTED}};
  for (size_t i = 0; i < 3; i++) {
    bramah_diag_clear(&diag);
    ck_assert_int_eq(bramah_fmu_write(data_file(refused[i].model), 0, refused[i].version, path, &diag, NULL),
                     refused[i].status);
    ck_assert_msg(strstr(diag.message, refused[i].message) != NULL, "%s", diag.message);
    if (*refused[i].thing) ck_assert_str_eq(diag.thing, refused[i].thing);
  }
#else
  ck_assert_int_eq(bramah_fmu_write("x.yaml", 0, 2, path, &diag, NULL), BRAMAH_E_UNSUPPORTED);
#endif
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("fmu");
  TCase *cases = one_case(suite, "fmu");
#ifdef BRAMAH_FMI
  tcase_add_test(cases, plant_steps_as_in_the_library);
  tcase_add_test(cases, estimator_estimates_as_in_the_library);
#endif
  tcase_add_test(cases, what_is_no_fmu_is_refused_by_name);
  return run_suite(suite);
}

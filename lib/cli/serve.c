/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah serve: a filter at work, shown in browsers. */
#define _POSIX_C_SOURCE 200809L /* nanosleep, dup2 */
#include "bramah/display.h"
#include "bramah/serve.h"
#include "bramah/simulation.h"
#include "lib/cli/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef enum origin { FROM_LOG, FROM_STREAM, FROM_UDP, FROM_SIMULATOR } origin;

/* What was asked for, and what runs. */
typedef struct serve_run {
  const char *study, *display_file;
  const char **from; /* [n_from] */
  size_t n_from;
  origin origin;
  uint64_t port, receive_port;
  int to_network, stay;
  /* The filter and where its rows come from. */
  bramah_session *session;
  bramah_machine_plant machine; /* that is simulated */
  bramah_simulation *simulation;
  bramah_log_stream *commands; /* that it gets; NULL: those that its file plans */
  bramah_sample row;           /* of these: the next one, */
  int no_more;                 /* unless they have ended */
  double *command;             /* [inputs] in force; NaN: what is planned */
  /* Who may drive it, and what is unplugged. */
  int drive, control; /* control: socket to a simulator in another process; -1: none */
  bramah_levers levers;
  unsigned char *unplugged; /* [sensors] */
  const char *log;          /* file for what its sensors say; NULL: none */
  bramah_receiver *receiver;
  bramah_player *player;
  bramah_assess *assess;
  bramah_plausibility *plausibility;
  bramah_status outcome; /* what ended it early */
  bramah_diag mistake;
  /* What is shown. */
  bramah_display_file *file;
  bramah_display *display;
  bramah_display_frame *frames[BRAMAH_SERVER_FRAMES];
  struct told_sensor {
    bramah_sensor_state told, now; /* told last; seen last, */
    double since;                  /* [s] since when */
  } * sensors;
  char *text; /* [TEXT] of messages */
  bramah_server *server;
  unsigned allowed;
  /* The pace: time of the log by that of the clock. */
  double speed, begin, next_frame; /* begin, next_frame: of the clock */
  int64_t begin_ns, first_ns, end_ns;
  int paused, ended, told_slow;
  double pace, told_pace, pace_begin; /* time of the log by that of the clock, as it is; since when */
  int64_t pace_ns;
  double sought;               /* NaN: nothing was */
  bramah_receiver_report told; /* of datagrams */
  double next_look;            /* at them */
} serve_run;

enum { TEXT = 4000, PER_SECOND = 30 };

/* ---- what is told ---- */

static void say(serve_run *r, double t, const char *kind, const char *text)
{
  if (bramah_display_message_text(t, kind, text, r->text, TEXT) < TEXT)
    bramah_server_say(r->server, "message", r->text);
}

static void put_number(char *out, size_t size, const char *name, double value)
{
  if (isfinite(value))
    snprintf(out, size, ", \"%s\": %.9g", name, value);
  else
    snprintf(out, size, ", \"%s\": null", name);
}

static void say_state(serve_run *r)
{
  static const char *const names[] = {"log", "stream", "udp", "simulator"};
  char can[64] = "", begin[48], end[48], seek[48] = "", pace[48] = "";
  const size_t used = (size_t)snprintf(
      can, sizeof can, "%s%s%s%s%s", r->allowed & BRAMAH_CONTROL_PAUSE ? ",\"pause\"" : "",
      r->allowed & BRAMAH_CONTROL_SPEED ? ",\"speed\"" : "",
      r->allowed & BRAMAH_CONTROL_SEEK ? ",\"seek\"" : "",
      r->allowed & BRAMAH_CONTROL_RESTART ? ",\"restart\"" : "", r->drive ? ",\"drive\",\"plug\"" : "");
  put_number(begin, sizeof begin, "begin", r->first_ns == INT64_MIN ? (double)NAN : cli_seconds(r->first_ns));
  put_number(end, sizeof end, "end", r->end_ns == INT64_MIN ? (double)NAN : cli_seconds(r->end_ns));
  if (isfinite(r->sought)) put_number(seek, sizeof seek, "seek", r->sought);
  if (isfinite(r->pace)) put_number(pace, sizeof pace, "pace", r->pace);
  r->told_pace = r->pace;
  size_t n = (size_t)snprintf(
      r->text, TEXT,
      "{\"source\": \"%s\", \"can\": [%s], \"paused\": %s, \"speed\": %.6g%s%s%s%s, \"ended\": %s",
      names[r->origin], used ? can + 1 : "", r->paused ? "true" : "false", r->speed, begin, end, seek, pace,
      r->ended ? "true" : "false");
  if (r->drive) {
    const char *between = "";
    n += (size_t)snprintf(r->text + n, TEXT - n, ", \"driver\": %lu, \"unplugged\": [",
                          (unsigned long)r->levers.driver);
    for (size_t i = 0; n + 16 < TEXT && i < bramah_session_study(r->session)->n_sensors; i++) {
      if (!r->unplugged[i]) continue;
      n += (size_t)snprintf(r->text + n, TEXT - n, "%s%zu", between, i);
      between = ",";
    }
    n += (size_t)snprintf(r->text + n, TEXT - n, "]");
  }
  snprintf(r->text + n, TEXT - n, "}");
  bramah_server_say(r->server, "state", r->text);
  r->sought = NAN;
}

/* What is otherwise than it was told, for long enough not to be a moment's doubt. */
static void say_sensors(serve_run *r, const bramah_display_frame *frame)
{
  static const double patience = 0.25; /* s */
  static const char *const states[] = {[BRAMAH_SENSOR_USED] = "is used again",
                                       [BRAMAH_SENSOR_REJECTED] = "is rejected by its gate",
                                       [BRAMAH_SENSOR_LOST] = "is lost",
                                       [BRAMAH_SENSOR_BIAS] = "keeps to one side: it, or the model, is off",
                                       [BRAMAH_SENSOR_DOUBTFUL] = "contradicts the filter"};
  static const char *const kinds[] = {"note", "rejected", "lost", "alarm", "alarm"};
  const bramah_study *study = bramah_session_study(r->session);
  char text[400];
  for (size_t i = 0; i < frame->n_sensors; i++) {
    struct told_sensor *s = &r->sensors[i];
    const bramah_sensor_state now = frame->sensor[i];
    if (now != s->now || frame->t < s->since) s->since = frame->t;
    s->now = now;
    if (now == s->told || frame->t - s->since < patience) continue;
    s->told = now;
    snprintf(text, sizeof text, "%.300s %s", study->sensors[i].name, states[now]);
    say(r, s->since, kinds[now], text);
  }
}

static void say_datagrams(serve_run *r, double now)
{
  char text[200];
  if (!r->receiver || now < r->next_look) return;
  r->next_look = now + 1.0;
  const bramah_receiver_report d = bramah_receiver_get_report(r->receiver);
  if (d.lost == r->told.lost && d.late == r->told.late && d.unusable == r->told.unusable) return;
  r->told = d;
  snprintf(text, sizeof text, "datagrams: %llu lost, %llu late and left out, %llu of no use",
           (unsigned long long)d.lost, (unsigned long long)d.late, (unsigned long long)d.unusable);
  say(r, (double)NAN, "note", text);
}

/* The present estimate to the viewers. */
static bramah_status show(serve_run *r, double now, bramah_diag *diag)
{
  bramah_display_frame *frame = bramah_server_frame(r->server);
  r->next_frame = fmax(r->next_frame + 1.0 / PER_SECOND, now);
  say_datagrams(r, now);
  if (!frame) return BRAMAH_OK;
  char soil[BRAMAH_DISPLAY_SOIL];
  if (r->receiver && bramah_receiver_soil(r->receiver, soil, sizeof soil))
    bramah_display_soil(r->display, soil);
  const bramah_status status = bramah_display_take(r->display, frame, diag);
  if (status) return status;
  bramah_server_send(r->server);
  say_sensors(r, frame);
  return BRAMAH_OK;
}

/* ---- pace ---- */

static void rest(double seconds)
{
  const struct timespec so_long = {.tv_nsec = (long)(1e9 * seconds)};
  nanosleep(&so_long, NULL);
}

static int64_t now_ns(const serve_run *r) { return bramah_assess_get_totals(r->assess).last_ns; }

static void measure_pace(serve_run *r, double now)
{
  r->pace_begin = now;
  r->pace_ns = now_ns(r);
}

/* From here on by the clock. */
static void begin_pace(serve_run *r)
{
  r->begin = cli_clock();
  r->begin_ns = now_ns(r);
}

/* How fast it goes in fact, once a second, and told where that changes. */
static void watch_pace(serve_run *r, double now)
{
  if (now - r->pace_begin < 1.0) return;
  r->pace = cli_seconds(now_ns(r) - r->pace_ns) / (now - r->pace_begin);
  measure_pace(r, now);
  if (!(fabs(r->pace - r->told_pace) < 0.03 * r->told_pace)) say_state(r);
}

/* Levers and plugs: not of the pace, but of the machine. */
static void drive(serve_run *r, const bramah_control *control)
{
  const uint32_t before = r->levers.driver;
  const bramah_study *study = bramah_session_study(r->session);
  const size_t i = (size_t)(control->value < 0.0 ? -1.0 - control->value : control->value);
  if (control->kind == BRAMAH_CONTROL_PLUG) {
    if (i >= study->n_sensors) return;
    char text[400];
    r->unplugged[i] = control->value >= 0.0;
    if (r->simulation) bramah_simulation_unplug(r->simulation, i, r->unplugged[i]);
    snprintf(text, sizeof text, "%.300s: its plug is %s", study->sensors[i].name,
             r->unplugged[i] ? "pulled" : "in again");
    say(r, cli_seconds(now_ns(r)), "note", text);
  } else if (!bramah_levers_move(&r->levers, control, cli_clock())) {
    return;
  }
  if (r->control >= 0) bramah_control_send(r->control, control);
  if (control->kind == BRAMAH_CONTROL_PLUG || r->levers.driver != before) say_state(r);
}

static bramah_status obey(serve_run *r, const bramah_control *control, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  int end = 0;
  if (control->kind == BRAMAH_CONTROL_PAUSE) r->paused = control->value != 0.0;
  if (control->kind == BRAMAH_CONTROL_SPEED) r->speed = control->value;
  if (control->kind == BRAMAH_CONTROL_SEEK) {
    status = bramah_player_seek(r->player, llround(1e9 * control->value), &end, diag);
    r->sought = cli_seconds(now_ns(r));
    r->ended = 0; /* the next step says so again */
  }
  begin_pace(r);
  measure_pace(r, r->begin);
  say_state(r);
  return status ? status : show(r, r->begin, diag);
}

/* What viewers have asked for; *moved: another time, or another pace. */
static bramah_status listen(serve_run *r, int *moved, bramah_diag *diag)
{
  bramah_control control;
  bramah_status status = BRAMAH_OK;
  *moved = 0;
  while (!status && !cli_stop_signal() && bramah_server_take(r->server, &control)) {
    if (control.kind == BRAMAH_CONTROL_RESTART) {
      bramah_display_begin_anew(r->display);
      say(r, cli_seconds(now_ns(r)), "note", "the scenario begins anew");
      continue;
    }
    const int is_pace = control.kind < BRAMAH_CONTROL_DRIVE;
    if (!is_pace) drive(r, &control);
    if (!is_pace) continue;
    status = obey(r, &control, diag);
    *moved = 1;
  }
  double unused[BRAMAH_LEVERS];
  if (r->drive && bramah_levers_at(&r->levers, cli_clock(), unused)) say_state(r);
  return status;
}

/* Until the present estimate is due. A live source sets its own pace. */
static bramah_status keep_pace(serve_run *r, int *moved, bramah_diag *diag)
{
  bramah_status status = listen(r, moved, diag);
  while (!status && !*moved && !r->paused && !cli_stop_signal() &&
         (r->origin == FROM_LOG || r->origin == FROM_SIMULATOR)) {
    const double due = r->begin + cli_seconds(now_ns(r) - r->begin_ns) / r->speed, left = due - cli_clock();
    if (left < -1.0) {
      if (!r->told_slow) say(r, cli_seconds(now_ns(r)), "note", "this computer is too slow for that pace");
      r->told_slow = 1;
      begin_pace(r);
    }
    if (left <= 0.0) break;
    rest(fmin(left, 0.02));
    status = listen(r, moved, diag);
  }
  return status;
}

/* ---- the end ---- */

/* What would explain a contradiction, as messages. */
static void diagnose(serve_run *r)
{
  bramah_log_stream *log = NULL;
  bramah_diagnosis *diagnosis = NULL;
  bramah_diag diag;
  char text[CLI_CELL], line[CLI_CELL + 100];
  bramah_status status = bramah_log_stream_open(r->session, r->n_from, r->from, &diag, &log);
  if (!status) status = bramah_diagnose(r->assess, bramah_log_stream_next, log, &diag, &diagnosis);
  bramah_log_stream_close(log);
  for (size_t i = 0; !status && i < diagnosis->n; i++) {
    cli_explanation_text(&diagnosis->cause[i], text);
    snprintf(line, sizeof line, "%s would explain %.3g %% of the excess", text,
             100.0 * diagnosis->cause[i].share);
    if (!(diagnosis->excess > 0.0)) snprintf(line, sizeof line, "%s would explain it", text);
    say(r, diagnosis->begin, "diagnosis", line);
  }
  if (!status && !diagnosis->n)
    say(r, diagnosis->begin, "diagnosis", "no single cause that is known of would explain it");
  bramah_diagnosis_free(diagnosis);
}

/* The verdict to the viewers and onto the terminal; the exit code. */
static int conclude(serve_run *r)
{
  char text[1200];
  bramah_diag diag;
  const int is_log = r->origin == FROM_LOG && !cli_stop_signal();
  if (r->outcome) {
    bramah_assess_break_off(r->assess);
    bramah_diag_format(&r->mistake, text, sizeof text);
    say(r, cli_seconds(now_ns(r)), "error", text);
    cli_report(&r->mistake);
  }
  if (is_log && !r->plausibility &&
      bramah_assess_look_over(r->assess, r->n_from, r->from, INT64_MIN, &diag, &r->plausibility))
    cli_note("not looked at for plausibility: %s", diag.message);
  const bramah_verdict verdict = bramah_assess_get_results(r->assess)->verdict;
  if (bramah_display_verdict_text(r->display, r->text, TEXT) < TEXT)
    bramah_server_say(r->server, "verdict", r->text);
  if (is_log && verdict.contradicted && !r->outcome) diagnose(r);
  bramah_verdict_text(&verdict, text, sizeof text);
  printf("%sverdict: %s%s\n", cli_colour_of(stdout, verdict.contradicted ? CLI_RED : CLI_BOLD), text,
         cli_colour_of(stdout, CLI_PLAIN));
  cli_table table = cli_scenario_table(r->display);
  if (table.n_cells) cli_table_print(&table, stdout);
  cli_table_free(&table);
  cli_scenario_print(r->display, &verdict, stdout);
  fflush(stdout);
  if (r->outcome) return CLI_FAILED;
  if (cli_stop_signal()) return CLI_STOPPED + cli_stop_signal();
  return verdict.contradicted || verdict.doubt ? CLI_UNTRUSTED : CLI_OK;
}

/* ---- going through ---- */

/* One estimate. */
static bramah_status step(serve_run *r, int *end)
{
  int moved = 0;
  bramah_status status = bramah_player_next(r->player, end, &r->mistake);
  if (status || *end) return status;
  if (r->first_ns == INT64_MIN) {
    r->first_ns = now_ns(r);
    begin_pace(r);
    measure_pace(r, r->begin);
    say_state(r);
  }
  status = keep_pace(r, &moved, &r->mistake);
  const double now = cli_clock();
  watch_pace(r, now);
  return !status && !moved && now >= r->next_frame ? show(r, now, &r->mistake) : status;
}

static int run_through(serve_run *r)
{
  int code = CLI_OK, moved;
  bramah_diag ignored;
  while (!cli_stop_signal()) {
    int end = 0;
    if (r->paused || r->ended) {
      r->outcome = listen(r, &moved, &r->mistake);
      if (!moved) rest(0.01);
    } else {
      r->outcome = step(r, &end);
    }
    if (!end && !r->outcome) continue;
    if (now_ns(r) && bramah_assess_get_totals(r->assess).estimates) show(r, cli_clock(), &ignored);
    r->ended = 1;
    code = conclude(r);
    say_state(r);
    if (!r->stay || r->outcome) return code;
    cli_note("the log has ended; viewers can go back, Ctrl-C ends");
  }
  if (!r->ended) code = conclude(r);
  if (bramah_assess_get_totals(r->assess).estimates)
    cli_note("stopped by %s after t = %.9g s", cli_stop_name(), cli_seconds(now_ns(r)));
  return code ? code : CLI_STOPPED + cli_stop_signal();
}

/* ---- preparation ---- */

static bramah_status next_commands(serve_run *r, bramah_diag *diag)
{
  memset(r->row.has_input, 0, r->machine.plant.n_input);
  return bramah_log_stream_next(r->commands, &r->row, &r->no_more, diag);
}

/* Those of a log go before those that the machine plans, levers before both. */
static bramah_status give_commands(void *user, int64_t time_ns, double *u, bramah_diag *diag)
{
  serve_run *r = user;
  const size_t n = r->machine.plant.n_input;
  bramah_status status = BRAMAH_OK;
  while (!status && r->commands && !r->no_more && r->row.time_ns <= time_ns) {
    for (size_t i = 0; i < n; i++)
      if (r->row.has_input[i]) r->command[i] = r->row.inputs[i];
    status = next_commands(r, diag);
  }
  for (size_t i = 0; i < n; i++)
    if (r->command && !isnan(r->command[i])) u[i] = r->command[i];
  if (r->drive) bramah_levers_at(&r->levers, cli_clock(), u);
  return status;
}

static bramah_status open_commands(serve_run *r, const char *path, bramah_diag *diag)
{
  const size_t n = r->machine.plant.n_input;
  r->command = calloc(2 * n + 1, sizeof *r->command);
  r->row.has_input = calloc(n + 1, 1);
  if (!r->command || !r->row.has_input) return cli_no_memory(diag);
  r->row.inputs = r->command + n;
  r->row.present = r->row.has_input; /* of no sensors */
  for (size_t i = 0; i < n; i++) r->command[i] = NAN;
  const bramah_status status =
      bramah_log_stream_open_for(NULL, &r->machine.plant, NULL, 1, &path, NULL, NULL, diag, &r->commands);
  return status ? status : next_commands(r, diag);
}

/* The one that is simulated, on its soil. */
static bramah_status open_machine(serve_run *r, bramah_diag *diag)
{
  const bramah_study *study = bramah_session_study(r->session);
  const bramah_status status =
      bramah_machine_plant_open(&r->machine, study->machine_file, study->n_simulated, study->simulated,
                                bramah_session_plant(r->session)->step_ns, diag);
  return status ? status : bramah_machine_plant_dig(&r->machine, diag);
}

static bramah_status simulate(serve_run *r, const bramah_assess_options *options, bramah_diag *diag)
{
  bramah_simulation_options simulated;
  bramah_simulation_options_default(&simulated);
  simulated.study = r->study;
  const bramah_study *study = bramah_session_study(r->session);
  bramah_status status = open_machine(r, diag);
  const char *const others[] = {r->study, study->machine_file};
  if (!status) status = cli_check_output(r->log, 2, others, diag);
  if (!status && r->from[0][sizeof "simulator" - 1])
    status = open_commands(r, r->from[0] + sizeof "simulator", diag);
  simulated.commands = give_commands;
  simulated.user = r;
  simulated.log = r->log;
  simulated.exact = 1;
  if (!status) status = bramah_simulation_new(&r->machine, &simulated, diag, &r->simulation);
  if (status) return status;
  const bramah_simulation_result result = bramah_simulation_get_result(r->simulation);
  if (!study->n_simulated) cli_note_changes(result.n_changes, result.changes);
  return bramah_player_new(r->session, bramah_simulation_sample, r->simulation, options, diag, &r->player);
}

int cli_datagram_port(const char *source, unsigned long *port)
{
  char *end;
  if (strncmp(source, "udp:", 4) != 0) return 0;
  *port = strtoul(source + 4, &end, 10);
  return source[4] < '0' || source[4] > '9' || *end || *port < 1 || *port > 65535 ? -1 : 1;
}

bramah_status cli_receive(const bramah_session *session, unsigned long port, bramah_diag *diag,
                          bramah_receiver **receiver)
{
  int fd = -1;
  const bramah_log_format *format = &bramah_session_study(session)->log.format;
  const int has_header = !format->no_header && !format->dbc; /* frames have none */
  bramah_status status = bramah_receiver_open((int)port, has_header, diag, receiver, &fd);
  if (status) return status;
  if (dup2(fd, STDIN_FILENO) < 0)
    status = cli_fail(diag, BRAMAH_E_FILE, NULL, 0, NULL, "no more files can be open");
  close(fd);
  if (!status)
    cli_note("waiting for %s as a datagram to 127.0.0.1, port %lu",
             has_header ? "the header of the log" : "the first line of the log", port);
  return status;
}

void cli_place_datagrams(unsigned long port, bramah_diag *diag)
{
  if (port && strcmp(diag->file, "<stdin>") == 0) snprintf(diag->file, sizeof diag->file, "udp:%lu", port);
}

void cli_tell_datagrams(const bramah_receiver *receiver, FILE *out)
{
  if (!receiver) return;
  const bramah_receiver_report d = bramah_receiver_get_report(receiver);
  fprintf(out, "datagrams: %llu used, %llu lost, %llu late, %llu of no use\n",
          (unsigned long long)d.datagrams, (unsigned long long)d.lost, (unsigned long long)d.late,
          (unsigned long long)d.unusable);
}

/* The last time of a log that is soon read, for the page's slider. */
static int64_t end_of_log(const serve_run *r)
{
  struct stat about;
  double bytes = 0.0;
  bramah_diag ignored;
  int64_t end = INT64_MIN;
  for (size_t i = 0; i < r->n_from; i++) bytes += stat(r->from[i], &about) ? 0.0 : (double)about.st_size;
  if (bytes > 2e8 || bramah_log_last_time(r->session, r->n_from, r->from, &end, &ignored)) return INT64_MIN;
  return end;
}

/* What can be driven. A simulator of another process listens behind the port that its lines come to. */
static bramah_status open_levers(serve_run *r, bramah_diag *diag)
{
  const bramah_model_info info = bramah_model_get_info(bramah_session_about(r->session)->machine->model);
  const bramah_study *study = bramah_session_study(r->session);
  const char *path = r->display_file ? r->display_file : study->display_file;
  r->unplugged = calloc(study->n_sensors + 1, 1);
  if (!r->unplugged) return cli_no_memory(diag);
  bramah_status status = path ? bramah_display_load(path, diag, &r->file) : BRAMAH_OK;
  if (!status) status = bramah_levers_of(r->file, info.n_inputs, info.input_names, diag, &r->levers);
  if (!status && r->origin == FROM_UDP)
    status = bramah_control_socket((int)r->receive_port + 1, 1, diag, &r->control);
  if (!status && r->origin == FROM_UDP) status = open_machine(r, diag); /* for its soil as it was at first */
  return status;
}

static bramah_status open_source(serve_run *r, bramah_diag *diag)
{
  static const char *const standard_input[] = {"-"};
  bramah_assess_options options;
  bramah_assess_options_default(&options);
  options.model_alone = 1;
  options.tell = cli_tell;
  bramah_status status = bramah_session_open(r->study, diag, &r->session);
  if (!status && bramah_session_study(r->session)->plant.line)
    status = cli_fail(diag, BRAMAH_E_UNSUPPORTED, r->study, bramah_session_study(r->session)->plant.line,
                      "plant", "a display needs a machine file: an FMU does not show what is inside");
  if (!status && r->drive) status = open_levers(r, diag);
  if (!status && r->origin == FROM_UDP) {
    status = cli_receive(r->session, r->receive_port, diag, &r->receiver);
    if (status) cli_place(diag, "--from", 0);
  }
  if (!status && r->origin == FROM_SIMULATOR)
    status = simulate(r, &options, diag);
  else if (!status)
    status = r->origin == FROM_LOG
                 ? bramah_player_open(r->session, r->n_from, r->from, &options, diag, &r->player)
                 : bramah_player_open(r->session, 1, standard_input, &options, diag, &r->player);
  if (status) return status;
  r->assess = bramah_player_assess(r->player);
  if (bramah_player_can_seek(r->player)) r->end_ns = end_of_log(r);
  if (r->origin == FROM_LOG || r->origin == FROM_SIMULATOR)
    r->allowed = BRAMAH_CONTROL_PAUSE | BRAMAH_CONTROL_SPEED;
  /* A way back is to another time of the scenario. */
  r->allowed |= bramah_player_can_seek(r->player) ? BRAMAH_CONTROL_SEEK : BRAMAH_CONTROL_RESTART;
  if (r->drive) r->allowed |= BRAMAH_CONTROL_DRIVE | BRAMAH_CONTROL_PLUG;
  bramah_player_stop(r->player, cli_is_stopped, NULL);
  return BRAMAH_OK;
}

static size_t frame_text(void *user, const void *frame, char *out, size_t size)
{
  return bramah_display_frame_text(user, frame, out, size);
}

static bramah_status open_server(serve_run *r, bramah_diag *diag)
{
  bramah_status status =
      r->display_file && !r->file ? bramah_display_load(r->display_file, diag, &r->file) : BRAMAH_OK;
  if (!status) status = bramah_display_new(r->file, r->assess, diag, &r->display);
  if (!status && r->simulation)
    status = bramah_display_simulated(r->display, r->simulation, &r->machine.plant, diag);
  if (!status && r->machine.machine) status = bramah_display_stand_on(r->display, &r->machine, diag);
  for (size_t i = 0; !status && i < BRAMAH_SERVER_FRAMES; i++)
    status = bramah_display_frame_new(r->display, diag, &r->frames[i]);
  r->text = malloc(TEXT);
  r->sensors = calloc(bramah_session_study(r->session)->n_sensors + 1, sizeof *r->sensors);
  if (!status && (!r->text || !r->sensors)) status = cli_no_memory(diag);
  if (status) return status;

  const char *description = bramah_display_description(r->display);
  const char *page = bramah_display_text(BRAMAH_DISPLAY_PAGE),
             *style = bramah_display_text(BRAMAH_DISPLAY_STYLE);
  const char *script = bramah_display_text(BRAMAH_DISPLAY_SCRIPT);
  const bramah_server_resource resources[] = {
      {"/", "text/html; charset=utf-8", page, strlen(page)},
      {"/page.css", "text/css; charset=utf-8", style, strlen(style)},
      {"/page.js", "text/javascript; charset=utf-8", script, strlen(script)},
      {"/display.json", "application/json", description, strlen(description)}};
  bramah_server_options options;
  bramah_server_options_default(&options);
  options.port = (int)r->port;
  options.to_network = r->to_network;
  options.allowed = r->allowed;
  options.n_resources = sizeof resources / sizeof resources[0];
  options.resources = resources;
  options.frames = (void *const *)(uintptr_t)r->frames;
  options.text_size = bramah_display_frame_size(r->display);
  options.text = frame_text;
  options.user = r->display;
  status = bramah_server_new(&options, diag, &r->server);
  if (status && status != BRAMAH_E_UNSUPPORTED) cli_place(diag, "--port", 0);
  return status;
}

/* ---- the command ---- */

static void close_run(serve_run *r)
{
  bramah_diag ignored;
  if (r->control >= 0) close(r->control);
  free(r->unplugged);
  bramah_server_free(r->server);
  for (size_t i = 0; i < BRAMAH_SERVER_FRAMES; i++) bramah_display_frame_free(r->frames[i]);
  bramah_display_free(r->display);
  bramah_display_file_free(r->file);
  bramah_plausibility_free(r->plausibility);
  bramah_player_close(r->player);
  bramah_receiver_close(r->receiver);
  bramah_simulation_close(r->simulation, &ignored);
  bramah_log_stream_close(r->commands);
  free(r->command);
  free(r->row.has_input);
  bramah_machine_plant_close(&r->machine);
  bramah_session_close(r->session);
  free(r->text);
  free(r->sensors);
}

static int serve(serve_run *r)
{
  bramah_status status = open_source(r, &r->mistake);
  if (!status) status = open_server(r, &r->mistake);
  cli_place_datagrams(r->receive_port, &r->mistake);
  if (status) return cli_report(&r->mistake);
  cli_warn_unobservable(r->session);
  cli_stop_catch(1);
  printf("open %s (Ctrl-C ends)\n", bramah_server_address(r->server));
  fflush(stdout);
  const int code = run_through(r);
  const bramah_status logged = bramah_simulation_close(r->simulation, &r->mistake);
  r->simulation = NULL;
  if (logged) return cli_report(&r->mistake);
  if (r->log) printf("log: %s\n", r->log);
  const bramah_server_report report = bramah_server_get_report(r->server);
  printf("%llu estimates, %llu frames to %llu viewer%s",
         (unsigned long long)bramah_assess_get_totals(r->assess).estimates, (unsigned long long)report.frames,
         (unsigned long long)report.connections, report.connections == 1 ? "" : "s");
  if (report.skipped) printf("; slow viewers missed %llu of them", (unsigned long long)report.skipped);
  if (report.left_out)
    printf("; %llu were left out, as this computer was too slow", (unsigned long long)report.left_out);
  printf("\n");
  cli_tell_datagrams(r->receiver, stdout);
  return code;
}

/* What was meant by the name of a log that is not there, simulater or upd:9000; NULL: nothing of this kind. */
static const char *wrong_source(const char *value)
{
  static const char *const sources[] = {"simulator", "udp:"};
  char word[12];
  struct stat about;
  snprintf(word, sizeof word, "%.*s", (int)strcspn(value, ":") + 1, value);
  return stat(value, &about) ? bramah_nearest_name(word, sizeof sources / sizeof *sources, sources) : NULL;
}

/* can0, vcan0, slcan0, where there is no file of that name. */
static int is_interface(const char *value)
{
  struct stat about;
  const char *at = value + (*value == 'v' ? 1 : strncmp(value, "sl", 2) == 0 ? 2 : 0);
  return strncmp(at, "can", 3) == 0 && at[3] && !at[3 + strspn(at + 3, "0123456789")] && stat(value, &about);
}

/* Which source, and what goes with it. */
static int read_origin(const cli_arguments *arguments, serve_run *r)
{
  const cli_command *command = arguments->command;
  for (const char *value; (value = cli_value_again(arguments, "from", r->n_from));) {
    const origin kind = strcmp(value, "-") == 0 ? FROM_STREAM
                        : strcmp(value, "simulator") == 0 || strncmp(value, "simulator:", 10) == 0
                            ? FROM_SIMULATOR
                        : strncmp(value, "udp:", 4) == 0 ? FROM_UDP
                                                         : FROM_LOG;
    if (r->n_from && (kind != FROM_LOG || r->origin != FROM_LOG))
      return cli_wrong_use(command, "--from: only files can be several, not '%s' and '%s'", r->from[0],
                           value);
    r->origin = kind;
    r->from[r->n_from++] = value;
    if (strcmp(value, "simulator:") == 0)
      return cli_wrong_use(command, "--from: 'simulator:' names no log with commands");
    if (kind == FROM_LOG && is_interface(value))
      return cli_wrong_use(
          command,
          "--from: a CAN interface is read through a pipe: candump -L %s | bramah serve STUDY --from -",
          value);
    if (kind == FROM_LOG && wrong_source(value))
      return cli_wrong_use(command, "--from: there is no file '%s'; did you mean '%s'?", value,
                           wrong_source(value));
    if (cli_datagram_port(value, &r->receive_port) < 0)
      return cli_wrong_use(command, "--from: '%s' is not udp: and a port from 1 to 65535", value);
  }
  if (r->stay && r->origin != FROM_LOG) return cli_wrong_use(command, "--stay is for a log from a file");
  if (r->drive && r->origin != FROM_SIMULATOR && r->origin != FROM_UDP)
    return cli_wrong_use(command, "--drive is for a simulated machine: --from simulator, or udp:PORT");
  if (r->drive && r->origin == FROM_UDP && r->receive_port == 65535)
    return cli_wrong_use(command,
                         "--drive: commands go to the port behind that of the measurements: there is none");
  if (r->log && r->origin != FROM_SIMULATOR) return cli_wrong_use(command, "--log is for --from simulator");
  return 0;
}

static int run(const cli_arguments *arguments)
{
  serve_run r = {.study = arguments->operands[0],
                 .display_file = cli_value(arguments, "display"),
                 .from = calloc((size_t)arguments->n_given + 1, sizeof *r.from),
                 .port = 8080,
                 .to_network = cli_value(arguments, "network") != NULL,
                 .stay = cli_value(arguments, "stay") != NULL,
                 .drive = cli_value(arguments, "drive") != NULL,
                 .log = cli_value(arguments, "log"),
                 .control = -1,
                 .pace = NAN,
                 .told_pace = NAN,
                 .speed = 1.0,
                 .sought = NAN,
                 .first_ns = INT64_MIN,
                 .end_ns = INT64_MIN};
  int code = r.from ? cli_count_value(arguments, "port", 0, &r.port) : CLI_FAILED;
  if (!code && r.port > 65535)
    code = cli_wrong_use(arguments->command, "--port: ports go up to 65535; 0 is any that is free");
  if (!code) code = read_origin(arguments, &r);
  if (!code) code = serve(&r);
  close_run(&r);
  free(r.from);
  return code;
}

static const cli_option options[] = {
    {"from", "SOURCE",
     "LOG, -, udp:PORT or simulator[:LOG]\nWhat the filter gets: a log, which is played (of several files: "
     "--from "
     "for each); lines of a log on standard input (-) or as datagrams from this computer, as they come; or "
     "the "
     "study's own machine, simulated along with it, with the commands of its file or of a log.",
     1, 1},
    {"port", "N", "of this computer, default 8080; 0: any that is free", 0, 0},
    {"network", NULL,
     "other computers may look, too\nThe address that is printed has a token then, without which nothing is "
     "answered. It is HTTP: who can listen to the network reads it along.",
     0, 0},
    {"display", "FILE", "gauges, instead of those that the study names", 0, 0},
    {"stay", NULL, "when the log has ended, viewers can go back in it", 0, 0},
    {"drive", NULL,
     "a viewer may drive the simulated machine\nBy keys, a gamepad or fingers, one viewer at a time, as the "
     "section `drive` of the "
     "display says; and pull the plugs of its sensors. Levers go back to neutral half a second after who "
     "drives was heard last. With "
     "udp:PORT commands go to PORT + 1, where `simulate --drive` listens.",
     0, 0},
    {"log", "FILE", "what the simulated sensors said, for replay", 0, 0},
    {0}};

const cli_command cli_serve = {
    .name = "serve",
    .operands = "STUDY",
    .summary = "Show a filter at work in browsers: gauges and how sure they are",
    .details =
        "Runs the filter of the study as replay does, bit for bit, and serves a page with its gauges, the\n"
        "machine in motion and plots, on this computer only unless --network is given. Any number of\n"
        "browsers may look (32); one that is too slow misses frames and is told how many, the filter waits\n"
        "for none. 30 frames a second.\n\n"
        "A log is played at the speed of the clock; viewers can pause it, play it faster or slower, and go\n"
        "back and forth in it. A simulated machine can be paused. What comes live cannot be held up.\n\n"
        "Datagrams hold whole lines of a log, ended by a line end. The first one that counts has the "
        "header;\n"
        "it may be sent again now and then, for a serve that begins later. A datagram may begin with a\n"
        "running number as a comment line, '# 17': what is lost or late is then counted and told. An empty\n"
        "datagram ends the log.\n\n"
        "A scenario of the display is followed: instructions, tasks, score, breakdowns.\n\n"
        "At the end of the log its verdict goes to the viewers; exit codes are those of replay. With --stay\n"
        "it goes on until Ctrl-C.\n\n"
        "For programs: GET /display.json, GET /events (server-sent events: frame, message, verdict, state,\n"
        "skipped), POST /control {\"pause\": true}, {\"speed\": 2} or {\"seek\": 12.5}, of what is\n"
        "no log {\"restart\": true} (of the scenario); with --drive\n"
        "{\"drive\": [0, -2.5, null], \"driver\": 17} (volts of the machine's inputs, null: not this one; "
        "who\n"
        "drives, any number), {\"unplug\": 3} and {\"plug\": 3} (a sensor, counted from 0).\n",
    .example = "bramah serve imus.yaml --from log.csv",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};

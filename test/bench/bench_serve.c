/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the filter's thread takes for an estimate, its frame included where one is due, at 1 kHz and 30 frames a second: alone,
 * and with eight viewers, of whom one never reads. Median, p99, p99.9 and their ratios, from stretches that take turns. By
 * the time of the thread, which is what a viewer could add to it; by the clock as well, where other programs, and on few cores the
 * server's own threads, are in it. BRAMAH_SECONDS (20): how long. */
#define _GNU_SOURCE
#include "bramah/display.h"
#include "bramah/serve.h"
#include "bramah/simulation.h"
#include "test/bench/bench.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

enum { VIEWERS = 8, STRETCH = 2000 };

static bramah_diag diag;
static atomic_int there;
static int port;

static void must(bramah_status status)
{
  if (!status) return;
  fprintf(stderr, "%s: %s\n", diag.file, diag.message);
  exit(EXIT_FAILURE);
}

static double now(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int look(void)
{
  static const char request[] = "GET /events HTTP/1.1\r\nHost: localhost:%d\r\n\r\n";
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  char text[100];
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int small = 4096, fd = socket(AF_INET, SOCK_STREAM, 0),
            n = snprintf(text, sizeof text, request, port);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) || send(fd, text, (size_t)n, 0) != n) exit(EXIT_FAILURE);
  return fd;
}

/* One that reads, while viewers are to be there. */
static void *viewer(void *unused)
{
  char text[65536];
  const struct timespec rest = {.tv_nsec = 10000000};
  const struct timeval patience = {.tv_usec = 100000};
  (void)unused;
  for (int fd = -1; there >= 0;) {
    if (there && fd < 0) {
      fd = look();
      setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    if (!there && fd >= 0) {
      close(fd);
      fd = -1;
    }
    if (fd < 0)
      nanosleep(&rest, NULL);
    else if (recv(fd, text, sizeof text, 0) == 0)
      exit(EXIT_FAILURE);
    if (there < 0 && fd >= 0) close(fd);
  }
  return NULL;
}

static size_t text_of(void *user, const void *frame, char *out, size_t size)
{
  return bramah_display_frame_text(user, frame, out, size);
}

static void print(const char *of, double *with[2], size_t n)
{
  static const double shares[] = {0.5, 0.99, 0.999};
  printf("%-8s", of);
  for (int k = 0; k < 2; k++) qsort(with[k], n, sizeof *with[k], bench_ascending);
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    const size_t at = (size_t)(shares[i] * (double)n);
    printf("  %5g %%: %6.1f and %6.1f us, ratio %.3f", 100.0 * shares[i], 1e6 * with[0][at],
           1e6 * with[1][at], with[1][at] / with[0][at]);
  }
  printf("\n");
}

int main(int argc, char **argv)
{
  const char *study = argc > 1 ? argv[1] : BENCH_SOURCE_ROOT "/datasets/four-bar/sensors-2.yaml";
  const char *seconds = getenv("BRAMAH_SECONDS");
  const size_t turns = (size_t)((seconds ? atof(seconds) : 20.0) * 1e3 / (2 * STRETCH)) + 1;
  bramah_session *session;
  bramah_machine_plant machine;
  bramah_simulation *simulation;
  bramah_simulation_options simulated;
  bramah_player *player;
  bramah_display *display;
  bramah_display_frame *frames[BRAMAH_SERVER_FRAMES];
  bramah_server_options options;
  bramah_server *server;
  bramah_assess_options assessed;
  pthread_t thread[VIEWERS];
  bench_print_machine();
  must(bramah_session_open(study, &diag, &session));
  must(bramah_machine_plant_open(&machine, bramah_session_study(session)->machine_file, 0, NULL, 0, &diag));
  bramah_simulation_options_default(&simulated);
  simulated.study = study;
  must(bramah_simulation_new(&machine, &simulated, &diag, &simulation));
  bramah_assess_options_default(&assessed);
  assessed.model_alone = 1;
  must(bramah_player_new(session, bramah_simulation_sample, simulation, &assessed, &diag, &player));
  must(bramah_display_new(NULL, bramah_player_assess(player), &diag, &display));
  for (size_t i = 0; i < BRAMAH_SERVER_FRAMES; i++)
    must(bramah_display_frame_new(display, &diag, &frames[i]));
  bramah_server_options_default(&options);
  options.port = 0;
  options.frames = (void *const *)frames;
  options.text_size = 1 << 16;
  options.text = text_of;
  options.user = display;
  must(bramah_server_new(&options, &diag, &server));
  if (sscanf(bramah_server_address(server), "http://127.0.0.1:%d/", &port) != 1) return EXIT_FAILURE;
  for (int v = 0; v < VIEWERS - 1; v++)
    if (pthread_create(&thread[v], NULL, viewer, NULL)) return EXIT_FAILURE;

  double *cpu[2], *wall[2];
  for (int k = 0; k < 2; k++) {
    cpu[k] = calloc(turns * STRETCH, sizeof *cpu[k]);
    wall[k] = calloc(turns * STRETCH, sizeof *wall[k]);
    if (!cpu[k] || !wall[k]) return EXIT_FAILURE;
  }
  double due = now(CLOCK_MONOTONIC), next_frame = due;
  int end, stalled = -1;
  for (size_t turn = 0; turn < 2 * turns; turn++) {
    const int k = (int)(turn % 2);
    double *c = cpu[k] + turn / 2 * STRETCH, *w = wall[k] + turn / 2 * STRETCH;
    there = k;
    if (k) stalled = look();
    for (int i = -200; i < STRETCH; i++) { /* viewers come and go meanwhile */
      const double left = (due += 1e-3) - now(CLOCK_MONOTONIC);
      const struct timespec rest = {.tv_nsec = (long)(1e9 * left)};
      if (left > 0.0) nanosleep(&rest, NULL);
      if (left < -0.1) due = now(CLOCK_MONOTONIC);
      const double c0 = now(CLOCK_THREAD_CPUTIME_ID), w0 = now(CLOCK_MONOTONIC);
      must(bramah_player_next(player, &end, &diag));
      if (w0 >= next_frame) {
        bramah_display_frame *frame = bramah_server_frame(server);
        next_frame = w0 + 1.0 / 30.0;
        if (frame) {
          must(bramah_display_take(display, frame, &diag));
          bramah_server_send(server);
        }
      }
      if (i < 0) continue;
      c[i] = now(CLOCK_THREAD_CPUTIME_ID) - c0;
      w[i] = now(CLOCK_MONOTONIC) - w0;
    }
    if (stalled >= 0) close(stalled);
    stalled = -1;
  }
  const bramah_server_report report = bramah_server_get_report(server);
  printf("%zu estimates alone and as many with %d viewers, one of them stalled; %llu frames, %llu left out, "
         "%llu missed by viewers\n",
         turns * STRETCH, VIEWERS, (unsigned long long)report.frames, (unsigned long long)report.left_out,
         (unsigned long long)report.skipped);
  print("thread", cpu, turns * STRETCH);
  print("clock", wall, turns * STRETCH);
  there = -1;
  for (int v = 0; v < VIEWERS - 1; v++) pthread_join(thread[v], NULL);
  bramah_server_free(server);
  return EXIT_SUCCESS;
}

/* The cycle of a filter beside a machine as a C program makes it: what bench_python.py does in Python. Prints the least time of
 * a cycle [us] over some stretches, without and with the running alarm. usage: bench_python STUDY LOG */
#define _GNU_SOURCE
#include "bramah/alarm.h"
#include "bramah/session.h"
#include "test/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { CYCLES = 2000, STRETCHES = 5, COLUMNS = 32 };

static void must(bramah_status status, const bramah_diag *diag)
{
  if (!status) return;
  fprintf(stderr, "%s: %s\n", diag->thing, diag->message);
  exit(1);
}

int main(int argc, char **argv)
{
  static double rows[CYCLES + 1][COLUMNS];
  unsigned char present[COLUMNS];
  bramah_diag diag;
  bramah_log_reader *log;
  if (argc != 3) return 2;
  must(bramah_log_open(argv[2], NULL, &diag, &log), &diag);
  for (int k = 0, end = 0; k <= CYCLES; k++) must(bramah_log_next(log, rows[k], present, &end, &diag), &diag);
  bramah_log_close(log);
  for (int with_alarm = 0; with_alarm < 2; with_alarm++) {
    double least = 1e9;
    for (int stretch = 0; stretch < STRETCHES; stretch++) {
      bramah_session *session;
      bramah_alarm *alarm;
      must(bramah_session_open(argv[1], &diag, &session), &diag);
      bramah_filter *filter = bramah_session_filter(session);
      must(bramah_alarm_new(filter, NULL, &diag, &alarm), &diag);
      const bramah_plant *plant = bramah_session_plant(session);
      const size_t n_y = bramah_filter_get_info(filter).n_sensors;
      const double begin = bench_now();
      for (int k = 1; k <= CYCLES; k++) {
        bramah_filter_step_report report;
        const bramah_filter_cycle cycle = {k * plant->step_ns,           plant->n_input, rows[k] + 1, n_y,
                                           rows[k] + 1 + plant->n_input, present,        NULL};
        must(bramah_filter_step(filter, &cycle, &report, &diag), &diag);
        if (with_alarm) bramah_alarm_corrected(alarm);
      }
      const double spent = bench_now() - begin;
      if (spent < least) least = spent;
      bramah_alarm_free(alarm);
      bramah_session_close(session);
    }
    printf("%.3f\n", 1e6 * least / CYCLES);
  }
  return 0;
}

/* SPDX-License-Identifier: MIT */
/* A log through the filter of a study, and whether it may be believed: replay_log STUDY LOG... */
#include <bramah/assess.h>
#include <bramah/log.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  bramah_diag d = {.message = "usage: replay_log STUDY LOG..."};
  bramah_session *session = NULL;
  bramah_log_stream *log = NULL;
  bramah_assess *assess = NULL;
  if (argc < 3 || bramah_session_open(argv[1], &d, &session) ||
      bramah_log_stream_open(session, (size_t)argc - 2, (const char *const *)argv + 2, &d, &log) ||
      bramah_assess_new(session, bramah_log_stream_next, log, NULL, &d, &assess) ||
      bramah_assess_run(assess, &d))
    return fprintf(stderr, "%s:%d: %s %s\n", d.file, d.line, d.thing, d.message), 1;
  const bramah_assess_results *r = bramah_assess_get_results(assess);
  for (size_t i = 0; i < r->verdict.n; i++) {
    const bramah_finding *f = &r->verdict.finding[i];
    if (!f->passed) printf("%s %s: %.3g\n", f->at, f->what, f->value);
  }
  printf("%s, mean NIS %.15g\n", r->verdict.contradicted ? "contradicted" : "no contradiction found",
         r->all.nis);
  bramah_assess_free(assess);
  bramah_log_stream_close(log);
  bramah_session_close(session);
  return 0;
}

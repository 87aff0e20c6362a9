/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hypotheses of a study in a replay: their runs, and what is shown of them. */
#include "lib/cli/replay.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- their runs ---- */

bramah_status cli_hypotheses_check(const cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  const bramah_study *study = bramah_session_study(r->session);
  if (!study->hypotheses.n) return BRAMAH_OK;
  const char *option = q->smooth     ? "--smooth"
                       : q->snapshot ? "--snapshot"
                       : q->resume   ? "--resume"
                       : q->display  ? "--display"
                                     : NULL;
  if (option)
    return cli_fail(diag, BRAMAH_E_UNSUPPORTED, study->file, study->hypotheses.line, "hypotheses",
                    "%s does not go with them: it is for one filter", option);
  struct stat about;
  for (size_t i = 0; i < q->n_logs; i++)
    if (stat(q->logs[i], &about) || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
      return cli_fail(diag, BRAMAH_E_UNSUPPORTED, q->logs[i], 0, NULL,
                      "hypotheses need files, no pipe: each of them reads the log");
  return BRAMAH_OK;
}

static bramah_status add_to_report(void *user, size_t k, bramah_diag *diag)
{
  const cli_replay_run *r = user;
  return cli_replay_report_estimate(r->member[k].report, diag);
}

bramah_status cli_hypotheses_members(cli_replay_run *r, bramah_diag *diag)
{
  const size_t n = bramah_session_study(r->session)->hypotheses.n;
  bramah_status status = BRAMAH_OK;
  r->member = calloc(n, sizeof *r->member);
  if (!r->member) return cli_no_memory(diag);
  for (; !status && r->n_members < n; r->n_members++) {
    cli_replay_run *m = &r->member[r->n_members];
    m->request = r->request;
    status = bramah_session_of_hypothesis(r->session, r->n_members, diag, &m->session);
  }
  return status;
}

bramah_status cli_hypotheses_begin(cli_replay_run *r, bramah_diag *diag)
{
  bramah_hypotheses_options together;
  bramah_assess **assess = calloc(r->n_members, sizeof *assess);
  if (!assess) return cli_no_memory(diag);
  for (size_t k = 0; k < r->n_members; k++) assess[k] = r->member[k].assess;
  bramah_hypotheses_options_default(&together);
  together.n_threads = r->request.threads;
  together.user = r;
  if (r->request.plots) together.each = add_to_report;
  const bramah_status status = bramah_hypotheses_new(r->n_members, assess, &together, diag, &r->hypotheses);
  if (!status) r->assess = assess[0]; /* for names and units, which all have in common */
  free(assess);
  return status;
}

void cli_hypotheses_close(cli_replay_run *r)
{
  if (!r->member) return;
  bramah_hypotheses_free(r->hypotheses);
  for (size_t k = 0; k < bramah_session_study(r->session)->hypotheses.n; k++) {
    cli_replay_run *m = &r->member[k];
    cli_replay_report_free(m->report);
    bramah_diagnosis_free(m->diagnosis);
    bramah_plausibility_free(m->plausibility);
    bramah_assess_free(m->assess);
    bramah_log_stream_close(m->log);
    bramah_session_close(m->session);
  }
  free(r->member);
  r->assess = NULL;
}

cli_replay_run *cli_hypotheses_shown(cli_replay_run *r)
{
  if (!r->n_members) return r;
  cli_replay_run *m = &r->member[bramah_hypotheses_leading(r->hypotheses)];
  m->json = r->json;
  m->written = r->written;
  m->outcome = r->outcome;
  m->mistake = r->mistake;
  m->seconds = r->seconds;
  m->n_members = r->n_members;
  m->member = r->member;
  m->hypotheses = r->hypotheses;
  r->json.file = NULL; /* it is finished there */
  return m;
}

/* ---- what is shown ---- */

cli_table cli_hypotheses_table(const cli_replay_run *r)
{
  static const char *const header[] = {"hypothesis", "prior %",         "probability %", "log-likelihood",
                                       "apart, σ",   "above 95 % from", "verdict"};
  cli_table table =
      cli_table_make("Hypotheses (log-likelihood: by that of the most probable one)", "lrrrrrl", header);
  double largest = 0.0;
  if (r->n_members)
    largest =
        bramah_hypotheses_get_result(r->hypotheses, bramah_hypotheses_leading(r->hypotheses)).log_likelihood;
  for (size_t k = 0; k < r->n_members; k++) {
    const bramah_hypothesis_result of = bramah_hypotheses_get_result(r->hypotheses, k);
    cli_table_add(&table, "%s\t%.4g\t%.4g\t%.1f\t%s", of.name, 100.0 * of.prior,
                  of.probability < 1e-99 ? 0.0 : 100.0 * of.probability, of.log_likelihood - largest,
                  CLI_NUMBER(of.apart));
    if (of.leads_from_ns == INT64_MAX)
      cli_table_add(&table, of.first_led_ns == INT64_MAX ? "-" : "(%.9g s)", cli_seconds(of.first_led_ns));
    else
      cli_table_add(&table, "%.9g s", cli_seconds(of.leads_from_ns));
    cli_table_add(&table, "%s",
                  of.status ? of.diag.message
                            : cli_verdict(&bramah_assess_get_results(r->member[k].assess)->verdict));
  }
  return table;
}

void cli_hypotheses_print(const cli_replay_run *r, FILE *out)
{
  if (!r->n_members) return;
  const bramah_hypothesis_result of =
      bramah_hypotheses_get_result(r->hypotheses, bramah_hypotheses_leading(r->hypotheses));
  fprintf(out, "\nhypothesis: %s, probability %.6g of %zu; tables, plots and verdict are its own\n", of.name,
          of.probability, r->n_members);
  for (size_t k = 0; k < r->n_members; k++) {
    const bramah_hypothesis_result other = bramah_hypotheses_get_result(r->hypotheses, k);
    if (other.status || other.is_told_apart) continue;
    fprintf(out, "  the log does not tell it from %s: %.2g standard deviations apart\n", other.name,
            other.apart);
  }
}

void cli_hypotheses_json(const cli_replay_run *r, cli_json *json)
{
  static const cli_json_field fields[] = {
      {"name", CLI_JSON_TEXT, offsetof(bramah_hypothesis_result, name)},
      {"prior", CLI_JSON_NUMBER, offsetof(bramah_hypothesis_result, prior)},
      {"probability", CLI_JSON_NUMBER, offsetof(bramah_hypothesis_result, probability)},
      {"log_likelihood", CLI_JSON_NUMBER, offsetof(bramah_hypothesis_result, log_likelihood)},
      {"apart", CLI_JSON_NUMBER, offsetof(bramah_hypothesis_result, apart)},
      {"told_apart", CLI_JSON_FLAG, offsetof(bramah_hypothesis_result, is_told_apart)},
      {"leads_from", CLI_JSON_TIME, offsetof(bramah_hypothesis_result, leads_from_ns)},
      {"first_led", CLI_JSON_TIME, offsetof(bramah_hypothesis_result, first_led_ns)},
      {0}};
  if (!r->n_members) return;
  cli_json_open(json, "hypotheses", '[');
  for (size_t k = 0; k < r->n_members; k++) {
    const bramah_hypothesis_result of = bramah_hypotheses_get_result(r->hypotheses, k);
    cli_json_open(json, NULL, '{');
    cli_json_fields(json, &of, fields);
    cli_json_text(json, "verdict", cli_verdict(&bramah_assess_get_results(r->member[k].assess)->verdict));
    cli_json_text(json, "dropped_out", of.status ? of.diag.message : NULL);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other processes through MPI: the first one leads, the others replay what it sends them. They share no
 * memory; each reads study and logs itself. Only bramah-mpi has this file. */
#define _DEFAULT_SOURCE /* nanosleep */
#include "lib/cli/tune_ranks.h"
#include "lib/cli/cli.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_JOB = 1, TAG_FIGURES = 2, TAG_DISMISSED = 3 };

/* Sent as bytes: all processes run the same program on the same kind of machine. */
typedef struct parcel {
  size_t number;
  bramah__tune_job job;
} parcel;

void cli_tune_ranks_begin(size_t *rank, size_t *n_ranks)
{
  int provided, mine = 0, all = 1;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  *rank = (size_t)mine;
  *n_ranks = (size_t)all;
}

void cli_tune_ranks_end(void) { MPI_Finalize(); }

/* Waiting without keeping a processor busy, which a blocking call of most MPIs would. */
static void wait_a_little(void)
{
  const struct timespec pause = {.tv_nsec = 200000};
  nanosleep(&pause, NULL);
}

bramah_status cli_tune_ranks_agree(const bramah__tune_problem *problem, bramah_status status,
                                   bramah_diag *diag)
{
  uint64_t mine = problem->identity, first;
  int first_status = status, same, all, rank;
  for (size_t i = 0; !status && i < problem->n_logs; i++)
    mine = bramah__fnv(mine, &problem->logs[i].hash, sizeof problem->logs[i].hash);
  first = mine;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&first_status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  same = !status && first == mine;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first_status) {
    if (rank) bramah_diag_clear(diag);
    return (bramah_status)first_status;
  }
  if (all || status) return status;
  return cli_fail(diag, BRAMAH_E_FILE, problem->path, 0, NULL,
                  "the processes do not all read the same study, machine and logs: give them the same files");
}

static void give(size_t rank, size_t number, const bramah__tune_job *job)
{
  parcel p;
  memset(&p, 0, sizeof p);
  p.number = number;
  p.job = *job;
  MPI_Send(&p, (int)sizeof p, MPI_BYTE, (int)rank, TAG_JOB, MPI_COMM_WORLD);
}

/* An answer: its number, then the values. */
static int fetch(const bramah__tune_problem *problem, size_t *rank, size_t *number, double *scores)
{
  int there = 0, n = 0;
  MPI_Status about;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG_FIGURES, MPI_COMM_WORLD, &there, &about);
  if (!there) return 0;
  MPI_Get_count(&about, MPI_DOUBLE, &n);
  double *answer = malloc((size_t)n * sizeof *answer);
  if (!answer) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Recv(answer, n, MPI_DOUBLE, about.MPI_SOURCE, TAG_FIGURES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *rank = (size_t)about.MPI_SOURCE;
  *number = (size_t)answer[0];
  memcpy(scores, answer + 1, ((size_t)n - 1) * sizeof *scores);
  free(answer);
  (void)problem;
  return 1;
}

void cli_tune_ranks_dismiss(void)
{
  int n;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int rank = 1; rank < n; rank++) MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_DISMISSED, MPI_COMM_WORLD);
}

static bramah_status answer(const bramah__tune_problem *problem, const parcel *p, double *room,
                            bramah_diag *diag)
{
  room[0] = (double)p->number;
  const bramah_status status = bramah__tune_replay(problem, &p->job, NULL, room + 1, diag);
  if (status) return status;
  MPI_Send(room, 1 + (int)bramah__tune_n_scores(problem, p->job.slope), MPI_DOUBLE, 0, TAG_FIGURES,
           MPI_COMM_WORLD);
  return BRAMAH_OK;
}

bramah_status cli_tune_ranks_serve(const bramah__tune_problem *problem, bramah_diag *diag)
{
  double *room = calloc(1 + bramah__tune_n_scores(problem, 1), sizeof *room);
  bramah_status status = room ? BRAMAH_OK : cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  while (!status) {
    int there = 0;
    MPI_Status about;
    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &about);
    if (!there) {
      wait_a_little();
      continue;
    }
    parcel p;
    MPI_Recv(&p, about.MPI_TAG == TAG_JOB ? (int)sizeof p : 0, MPI_BYTE, 0, about.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (about.MPI_TAG == TAG_DISMISSED) break;
    status = answer(problem, &p, room, diag);
  }
  free(room);
  /* The others would wait for the answer for ever. */
  if (status) {
    cli_report(diag);
    MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
  }
  return status;
}

const bramah__tune_ranks cli_tune_ranks = {.give = give, .fetch = fetch};

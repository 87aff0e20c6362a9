/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other processes through MPI: the first one leads, the others replay what it sends them. They share no
 * memory; each reads study and logs itself. Only bramah-mpi has this file. */
#include "lib/cli/tune.h"

#include <mpi.h>

/* Bytes: all processes run the same program on the same kind of machine. */
static void broadcast(void *self, void *bytes, size_t n)
{
  (void)self;
  MPI_Bcast(bytes, (int)n, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void send(void *self, size_t to, const void *bytes, size_t n)
{
  (void)self;
  MPI_Send(bytes, (int)n, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
}

static int receive(void *self, void *bytes, size_t room, size_t *n, size_t *from)
{
  int there = 0, length = 0;
  MPI_Status about;
  (void)self;
  MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &about);
  if (!there) return 0;
  MPI_Get_count(&about, MPI_BYTE, &length);
  MPI_Recv(bytes, (int)room, MPI_BYTE, about.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *n = (size_t)length;
  *from = (size_t)about.MPI_SOURCE;
  return 1;
}

static bramah_transport transport = {.broadcast = broadcast, .send = send, .receive = receive};

const bramah_transport *cli_transport_begin(void)
{
  int provided, rank = 0, size = 1;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  transport.rank = (size_t)rank;
  transport.size = (size_t)size;
  return &transport;
}

void cli_transport_end(void) { MPI_Finalize(); }

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What goes between bramah and the process of an isolated FMU, over a pair of sockets: a request, then its reply. Both are of the same
 * build, but what comes back was in the FMU's reach: lengths are checked, texts are taken for texts. */
#ifndef BRAMAH_LIB_FMI_ISOLATED_H
#define BRAMAH_LIB_FMI_ISOLATED_H

#include <stdint.h>

enum { BRAMAH__ISOLATED_SOCKET = 3 }; /* of the FMU's process */

typedef enum bramah__isolated_call {
  BRAMAH__ISOLATED_LOAD =
      1, /* bytes: bramah__isolated_model, its states, their rates, identifier, 0, token, 0 */
  BRAMAH__ISOLATED_RELEASE,
  BRAMAH__ISOLATED_INITIALIZE, /* n[0]: again; bytes: three counts, then references and values of each kind */
  BRAMAH__ISOLATED_GET,        /* n[0] references; back: values */
  BRAMAH__ISOLATED_SET,        /* n[0] references, values */
  BRAMAH__ISOLATED_GET_WHOLE,  /* n: reference, is a truth value; back: its value */
  BRAMAH__ISOLATED_SET_WHOLE,  /* likewise; time[0]: its value */
  BRAMAH__ISOLATED_STEP,       /* time, length */
  BRAMAH__ISOLATED_DIRECTIONAL, /* n[0] unknown, n[1] known references; back: J */
  BRAMAH__ISOLATED_KEEP,        /* a handle or 0; back: the handle */
  BRAMAH__ISOLATED_TAKE_BACK,   /* a handle */
  BRAMAH__ISOLATED_DROP,        /* a handle */
  BRAMAH__ISOLATED_STATE_SIZE,  /* back: a size */
  BRAMAH__ISOLATED_SERIALIZE,   /* n[0] bytes come back */
  BRAMAH__ISOLATED_DESERIALIZE  /* n[0] bytes */
} bramah__isolated_call;

typedef struct bramah__isolated_request {
  uint32_t call;
  uint32_t n[2];
  uint32_t bytes; /* that follow */
  double time[2];
} bramah__isolated_request;

/* Of an error (status not 0) the bytes are its message. */
typedef struct bramah__isolated_reply {
  int32_t status;
  uint32_t bytes;
} bramah__isolated_reply;

typedef struct bramah__isolated_model {
  int32_t version, co_simulation, once, can_get_set, can_serialize, directional, wants_completed;
  uint32_t n_state, n_indicators;
} bramah__isolated_model;

#endif

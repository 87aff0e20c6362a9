/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of an HTTP request, without a network: request.c decides, server.c asks and sends. */
#ifndef BRAMAH_LIB_SERVE_REQUEST_H
#define BRAMAH_LIB_SERVE_REQUEST_H

#include "bramah/serve.h"

enum {
  BRAMAH__TOKEN = 32,
  BRAMAH__BODY = 256,
  BRAMAH__COOKIE = 24
}; /* digits of a token; [bytes] of a request's body at most */

/* Who is answered, and with what. */
typedef struct bramah__policy {
  int port;
  char token[BRAMAH__TOKEN + 1]; /* "": programs of this computer only, which need none */
  char name[256];                /* of this computer, "": unknown */
  unsigned allowed;              /* bramah_control_kind added up */
  size_t n_resources;
  const bramah_server_resource *resources;
} bramah__policy;

/* As it came; what is missing is NULL. */
typedef struct bramah__request {
  const char *method, *path, *token; /* token: of the address */
  const char *host, *origin, *site, *cookie, *bearer,
      *type; /* headers Host, Origin, Sec-Fetch-Site, Cookie, Authorization, Content-Type */
  const char *body;
  size_t size; /* of the body; more than BRAMAH__BODY: it is too large */
} bramah__request;

typedef enum bramah__answer_kind {
  BRAMAH__ANSWER_TEXT = 0, /* `why`; of status 204 nothing */
  BRAMAH__ANSWER_RESOURCE,
  BRAMAH__ANSWER_EVENTS,
  BRAMAH__ANSWER_ENTER /* to "/", with the token as a cookie */
} bramah__answer_kind;

typedef struct bramah__answer {
  unsigned status; /* of HTTP */
  bramah__answer_kind kind;
  const char *why, *allow; /* why: without quotes; allow: methods, of status 405 */
  const bramah_server_resource *resource;
  bramah_control control; /* of status 204 */
} bramah__answer;

bramah__answer bramah__answer_to(const bramah__policy *policy, const bramah__request *request);

/* "bramah8080=", its length. */
size_t bramah__cookie_name(const bramah__policy *policy, char out[BRAMAH__COOKIE]);

#endif

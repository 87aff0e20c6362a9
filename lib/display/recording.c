/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page, live or with a run in it. */
#include "lib/assess/assess_internal.h"
#include "lib/display/display_parts.h"
#include "lib/io/fail.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the page ---- */

const char *bramah_display_text(bramah_display_part part)
{
  return part == BRAMAH_DISPLAY_STYLE    ? bramah__display_css
         : part == BRAMAH_DISPLAY_SCRIPT ? bramah__display_js
                                         : bramah__display_html;
}

static void put_between(bramah__json *page, const char *from, const char *to)
{
  for (char piece[1024]; from < to;) {
    const size_t left = (size_t)(to - from), n = left < sizeof piece - 1 ? left : sizeof piece - 1;
    memcpy(piece, from, n);
    piece[n] = '\0';
    bramah__json_raw(page, piece);
    from += n;
  }
}

/* The page with style, `data` and script in place of the links to them. */
static void put_page(bramah__json *page, const char *data)
{
  static const char link[] = "<link rel=\"stylesheet\" href=\"page.css\">",
                    script[] = "<script src=\"page.js\"></script>";
  static const char policy[] =
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n<style>\n";
  const char *html = bramah__display_html, *style = strstr(html, link), *code = strstr(html, script);
  put_between(page, html, style);
  bramah__json_raw(page, policy);
  bramah__json_raw(page, bramah__display_css);
  bramah__json_raw(page, "</style>");
  put_between(page, style + strlen(link), code);
  bramah__json_raw(page, data);
  bramah__json_raw(page, "<script>\n");
  bramah__json_raw(page, bramah__display_js);
  bramah__json_raw(page, "</script>");
  bramah__json_raw(page, code + strlen(script));
}

/* ---- a run ---- */

enum { FRAME_NS = 33333333, MOST_MESSAGES = 2000 };

struct bramah_recording {
  bramah_display *display;
  bramah_display_frame *frame;
  size_t most, bytes;   /* of texts of frames: allowed, taken */
  size_t n, room;       /* frames kept */
  char **text;          /* [n] */
  int64_t from_ns;      /* first frame */
  int64_t next_ns;      /* the next one is due */
  int64_t interval_ns;  /* between frames */
  bramah__json scratch; /* of a frame */
  bramah__json messages;
  size_t n_messages;
};

bramah_status bramah_recording_new(bramah_display *display, size_t most, bramah_diag *diag,
                                   bramah_recording **out)
{
  bramah_recording *r = calloc(1, sizeof *r);
  if (!r) return bramah__fail_memory(diag);
  *r = (bramah_recording){.display = display,
                          .most = most ? most : 24000000,
                          .interval_ns = FRAME_NS,
                          .next_ns = INT64_MIN,
                          .messages = {.grows = 1}};
  const bramah_status status = bramah_display_frame_new(display, diag, &r->frame);
  if (status)
    bramah_recording_free(r);
  else
    *out = r;
  return status;
}

void bramah_recording_free(bramah_recording *r)
{
  if (!r) return;
  for (size_t i = 0; i < r->n; i++) free(r->text[i]);
  free(r->text);
  free(r->scratch.text);
  free(r->messages.text);
  bramah_display_frame_free(r->frame);
  free(r);
}

/* Every second frame goes. */
static void thin_out(bramah_recording *r)
{
  size_t n = 0;
  r->bytes = 0;
  for (size_t i = 0; i < r->n; i++) {
    if (i % 2 == 0) {
      r->text[n++] = r->text[i];
      r->bytes += strlen(r->text[i]);
    } else {
      free(r->text[i]);
    }
  }
  r->n = n;
  r->interval_ns *= 2;
}

bramah_status bramah_recording_add(bramah_recording *r, bramah_diag *diag)
{
  const int64_t now = r->display->assess->totals.last_ns;
  if (r->next_ns == INT64_MIN) r->from_ns = r->next_ns = now;
  if (now < r->next_ns) return BRAMAH_OK;
  const bramah_status status = bramah_display_take(r->display, r->frame, diag);
  if (status) return status;
  const size_t size = bramah_display_frame_text(r->display, r->frame, NULL, 0) + 1;
  char *text = malloc(size);
  if (text && r->n == r->room) {
    char **more = realloc(r->text, (2 * r->room + 64) * sizeof *more);
    if (more) r->text = more, r->room = 2 * r->room + 64;
  }
  if (!text || r->n == r->room) {
    free(text);
    return bramah__fail_memory(diag);
  }
  bramah_display_frame_text(r->display, r->frame, text, size);
  r->text[r->n++] = text;
  r->bytes += size;
  while (r->bytes > r->most && r->n > 2) thin_out(r);
  /* the next one on the grid of frames that are kept */
  r->next_ns = r->from_ns + ((now - r->from_ns) / r->interval_ns + 1) * r->interval_ns;
  return BRAMAH_OK;
}

bramah_status bramah_recording_say(bramah_recording *r, double t, const char *kind, const char *text,
                                   bramah_diag *diag)
{
  if (r->n_messages++ >= MOST_MESSAGES) return BRAMAH_OK;
  const size_t size = bramah_display_message_text(t, kind, text, NULL, 0) + 1;
  char *message = malloc(size);
  if (!message) return bramah__fail_memory(diag);
  bramah_display_message_text(t, kind, text, message, size);
  if (r->messages.used) bramah__json_raw(&r->messages, ",");
  bramah__json_raw(&r->messages, message);
  free(message);
  return r->messages.failed ? bramah__fail_memory(diag) : BRAMAH_OK;
}

bramah_status bramah_recording_write(bramah_recording *r, const char *path, bramah_diag *diag)
{
  char verdict[4096];
  bramah__json data = {.grows = 1}, page = {.grows = 1};
  bramah_display_verdict_text(r->display, verdict, sizeof verdict);
  bramah__json_raw(&data, "<script type=\"application/json\" id=\"recording\">{\"display\":");
  bramah__json_raw(&data, r->display->description);
  bramah__json_raw(&data, ",\n\"interval\":");
  data.filled = 0;
  bramah__json_number(&data, NULL, 1e-9 * (double)r->interval_ns);
  bramah__json_raw(&data, ",\"verdict\":");
  bramah__json_raw(&data, verdict);
  bramah__json_raw(&data, ",\"messages\":[");
  if (r->messages.text) bramah__json_raw(&data, r->messages.text);
  bramah__json_raw(&data, "],\n\"frames\":[\n");
  for (size_t i = 0; i < r->n; i++) {
    if (i) bramah__json_raw(&data, ",\n");
    bramah__json_raw(&data, r->text[i]);
  }
  bramah__json_raw(&data, "\n]}</script>\n");
  if (!data.failed) put_page(&page, data.text);
  bramah_status status = data.failed || page.failed ? bramah__fail_memory(diag) : BRAMAH_OK;
  const int is_stdout = strcmp(path, "-") == 0;
  FILE *file = status ? NULL : is_stdout ? stdout : fopen(path, "wb");
  if (!status && !file)
    status = bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot create: %s", strerror(errno));
  if (file) {
    int failed = fwrite(page.text, 1, page.used, file) != page.used;
    failed |= (is_stdout ? fflush(file) : fclose(file)) != 0;
    if (failed)
      status = bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot write: %s", strerror(errno));
  }
  free(data.text);
  free(page.text);
  return status;
}

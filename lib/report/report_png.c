/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SVG into PNG by librsvg and cairo; without them it says so. */
#include "lib/report/report_parts.h"
#include "lib/base/diag.h"

#ifdef BRAMAH_HAVE_RSVG
#include <librsvg/rsvg.h>

int bramah_report_has_png(void) { return 1; }

static bramah_status fail(bramah_diag *diag, const char *path, const char *what, const char *why)
{
  bramah__fail(diag, BRAMAH_E_FILE, NULL, what);
  bramah__add_text(diag, why);
  return bramah__at(diag, path, 0, 0), BRAMAH_E_FILE;
}

static bramah_status draw(RsvgHandle *svg, double scale, const char *path, bramah_diag *diag)
{
  double width = 0.0, height = 0.0;
  GError *error = NULL;
  if (!rsvg_handle_get_intrinsic_size_in_pixels(svg, &width, &height))
    return fail(diag, path, "the picture has no size", "");
  const RsvgRectangle all = {0.0, 0.0, scale * width, scale * height};
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)all.width, (int)all.height);
  cairo_t *cairo = cairo_create(surface);
  bramah_status status = BRAMAH_OK;
  if (!rsvg_handle_render_document(svg, cairo, &all, &error)) {
    status = fail(diag, path, "the picture cannot be drawn: ", error->message);
    g_error_free(error);
  } else {
    const cairo_status_t written = cairo_surface_write_to_png(surface, path);
    if (written) status = fail(diag, path, "cannot write: ", cairo_status_to_string(written));
  }
  cairo_destroy(cairo);
  cairo_surface_destroy(surface);
  return status;
}

bramah_status bramah__png_write(const char *svg, size_t n, double scale, const char *path, bramah_diag *diag)
{
  GError *error = NULL;
  GInputStream *stream = g_memory_input_stream_new_from_data(svg, (gssize)n, NULL);
  RsvgHandle *handle =
      rsvg_handle_new_from_stream_sync(stream, NULL, RSVG_HANDLE_FLAG_UNLIMITED, NULL, &error);
  bramah_status status;
  if (handle) {
    status = draw(handle, scale, path, diag);
    g_object_unref(handle);
  } else {
    status = fail(diag, path, "the picture cannot be read: ", error->message);
    g_error_free(error);
  }
  g_object_unref(stream);
  return status;
}

#else

int bramah_report_has_png(void) { return 0; }

bramah_status bramah__png_write(const char *svg, size_t n, double scale, const char *path, bramah_diag *diag)
{
  (void)svg;
  (void)n;
  (void)scale;
  bramah__fail(diag, BRAMAH_E_UNSUPPORTED, NULL,
               "this build has no librsvg and cannot write PNG; write .svg instead");
  return bramah__at(diag, path, 0, 0), BRAMAH_E_UNSUPPORTED;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a description may hold at most. libyaml takes a time that grows with the square of the depth of
 * brackets, of the anchors and of the directives, and some 200 bytes for every value; a file of a few
 * megabytes could keep it busy for an hour. */
#ifndef BRAMAH_LIB_IO_YAML_LIMITS_H
#define BRAMAH_LIB_IO_YAML_LIMITS_H

#include <stddef.h>
#include <yaml.h>

/* NULL if the text keeps the limits up to its end or first syntax error; else the message, and where. */
const char *bramah__yaml_excess(const char *text, size_t length, yaml_mark_t *mark);

#endif

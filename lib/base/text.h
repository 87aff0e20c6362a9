/* SPDX-License-Identifier: MIT */
/* Numbers and names as text, independent of the locale and without stdio. Numbers are of our own because the libraries for
 * it (fast_float, double-conversion, Dragonbox, Ryu) are packaged for C++ and Rust, not for C, and files have a fixed
 * number of digits, which needs no shortest text: products and quotients of 128 bits are exact for all usual numbers. */
#ifndef BRAMAH_LIB_BASE_TEXT_H
#define BRAMAH_LIB_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Room that bramah__format_number needs at most, terminator included. */
#define BRAMAH__NUMBER_SIZE 32

/* Shortest of fixed and exponent notation of value with `digits` (1 to 17) significant digits, trailing
 * zeros dropped: what printf("%.*g") gives in the C locale, without its multi-precision arithmetic. Exactly
 * so for the numbers that are usual in files (those of which the digits asked for end between the 27th
 * behind the point and the 17th before it); for others the last digit may differ where the value lies within
 * 1e-15 of a rounding tie. Returns the length. */
size_t bramah__format_number(char *out, double value, int digits);

/* The double nearest to [+-] digits [point digits] [e [+-] digits], the whole text up to `end` (where something must be that
 * does not continue a number), bit for bit as strtod reads it in the C locale but several times faster. Returns 0 and
 * leaves the text to strtod where it is no such number, has more than 19 digits, or ends beyond the 27th place before
 * or behind the point. */
int bramah__read_number(const char *text, const char *end, char point, double *value);

/* Decimal text of an integer. Returns the length. */
size_t bramah__format_integer(char *out, int64_t value);

/* Append text to out [n bytes] holding `used` characters; cuts to fit, terminates. Returns the new length. */
size_t bramah__append(char *out, size_t n, size_t used, const char *text);

/* Bytes of the character in UTF-8 that begins here; 0: none does (overlong ones, surrogates and what is beyond the last one are none). */
size_t bramah__character(const char *text);

/* Edit distance of two names, case ignored, counting a swap of neighbours as one. Names longer than 63 are
 * cut. */
size_t bramah__edit_distance(const char *a, const char *b);

/* The candidate nearest to name if it is near enough to be a slip of the pen, else NULL. */
const char *bramah__nearest(const char *name, size_t n, const char *const *candidates);

/* Hash FNV-1a of n bytes, continued from a former hash (0: a new one). */
uint64_t bramah__fnv(uint64_t hash, const void *data, size_t n);

#endif

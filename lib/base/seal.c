/* SPDX-License-Identifier: MIT */
#include "lib/base/seal.h"
#include "lib/base/diag.h"

#include <string.h>

/* "bramahS" and the number of the format. */
static const uint64_t FORMAT = UINT64_C(0x6272616d61685303);
static const uint64_t FORMAT_REVERSED = UINT64_C(0x035368616d617262); /* as another byte order shows it */
static const uint64_t START = UINT64_C(0xcbf29ce484222325);

const char *bramah__processor(void)
{
#if defined __x86_64__ || defined _M_X64
  return "x86-64";
#elif defined __aarch64__ || defined _M_ARM64
  return "aarch64";
#elif defined __i386__ || defined _M_IX86
  return "x86";
#elif defined __arm__
  return "arm";
#elif defined __riscv
  return "riscv";
#elif defined __powerpc__
  return "powerpc";
#else
  return "unknown";
#endif
}

uint64_t bramah__mix(uint64_t hash, uint64_t word)
{
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

uint64_t bramah__mix_text(uint64_t hash, const char *text)
{
  while (text && *text) hash = bramah__mix(hash, (unsigned char)*text++);
  return bramah__mix(hash, UINT64_MAX);
}

static uint64_t computer(void)
{
  return bramah__mix(bramah__mix_text(START, bramah__processor()), sizeof(size_t) << 8 | sizeof(long));
}

static uint64_t checksum(const bramah__seal *s, const void *snap)
{
  const unsigned char *in = snap;
  const uint64_t head[] = {s->format, s->computer, s->identity, s->size};
  uint64_t hash = START;
  for (size_t i = 0; i < sizeof head / sizeof *head; i++) hash = bramah__mix(hash, head[i]);
  for (size_t at = sizeof *s; at < s->size; at += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, in + at, sizeof word);
    hash = bramah__mix(hash, word);
  }
  return hash;
}

void bramah__seal_put(void *snap, uint64_t identity, size_t size)
{
  bramah__seal s = {FORMAT, computer(), identity, size, 0};
  s.checksum = checksum(&s, snap);
  memcpy(snap, &s, sizeof s);
}

bramah_status bramah__seal_check(const void *snap, size_t size, uint64_t identity, size_t wanted,
                                 bramah_diag *diag)
{
  bramah__seal s;
  if (size != wanted)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "snapshot",
                        "this is not the size of a snapshot of the object it is for");
  memcpy(&s, snap, sizeof s);
  if (s.format == FORMAT_REVERSED || (s.format == FORMAT && s.computer != computer()))
    return bramah__fail(diag, BRAMAH_E_SYNTAX, "snapshot", "it was taken on another type of computer");
  if (s.format != FORMAT)
    return bramah__fail(diag, BRAMAH_E_SYNTAX, "snapshot",
                        "this is no snapshot, or of another version of bramah");
  if (s.identity != identity || s.size != size)
    return bramah__fail(diag, BRAMAH_E_REFERENCE, "snapshot", "it was taken of another object");
  return s.checksum == checksum(&s, snap) ? BRAMAH_OK : bramah__seal_broken(diag);
}

bramah_status bramah__seal_broken(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_VALUE, "snapshot", "it is corrupted");
}

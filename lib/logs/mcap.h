/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MCAP files (mcap.dev/spec): records of an operation code, a length, and content; numbers are little-endian. What reading
 * (mcap_read.c) and writing (mcap_write.c) share. */
#ifndef BRAMAH_LIB_LOGS_MCAP_H
#define BRAMAH_LIB_LOGS_MCAP_H

#include <stdint.h>

#define BRAMAH__MCAP_MAGIC "\x89MCAP0\r\n"

enum {
  BRAMAH__MCAP_HEADER = 1,
  BRAMAH__MCAP_FOOTER,
  BRAMAH__MCAP_SCHEMA,
  BRAMAH__MCAP_CHANNEL,
  BRAMAH__MCAP_MESSAGE,
  BRAMAH__MCAP_CHUNK,
  BRAMAH__MCAP_MESSAGE_INDEX,
  BRAMAH__MCAP_CHUNK_INDEX,
  BRAMAH__MCAP_ATTACHMENT,
  BRAMAH__MCAP_ATTACHMENT_INDEX,
  BRAMAH__MCAP_STATISTICS,
  BRAMAH__MCAP_METADATA,
  BRAMAH__MCAP_METADATA_INDEX,
  BRAMAH__MCAP_SUMMARY_OFFSET,
  BRAMAH__MCAP_DATA_END
};

/* Bytes of the magic, of what comes before a record's content, of a message before its data, of a footer. */
enum {
  BRAMAH__MCAP_MARK = 8,
  BRAMAH__MCAP_TAG = 9,
  BRAMAH__MCAP_MESSAGE_HEAD = 22,
  BRAMAH__MCAP_FOOTER_SIZE = 20
};

/* In the metadata of a channel: the unit of a field, "unit.boom.position" = "rad", and what it is called as a column,
 * "name.boom_position" = "boom.position". */
#define BRAMAH__MCAP_UNIT "unit."
#define BRAMAH__MCAP_NAME "name."

static inline uint64_t bramah__mcap_number(const unsigned char *at, unsigned n)
{
  uint64_t value = 0;
  for (unsigned i = 0; i < n; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

#endif

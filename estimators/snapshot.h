/* SPDX-License-Identifier: MIT */
/* Snapshots that never leave the object that takes them: the same memory, not sealed and not checked. */
#ifndef BRAMAH_ESTIMATORS_SNAPSHOT_H
#define BRAMAH_ESTIMATORS_SNAPSHOT_H

#include "bramah/filter.h"

/* To and from snap [bramah_filter_snapshot_size]. */
void bramah__save_body(const bramah_filter *filter, void *snap);
void bramah__restore_body(bramah_filter *filter, const void *snap);

#endif

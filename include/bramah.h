/* SPDX-License-Identifier: MIT */
/* All of bramah. With BRAMAH_CORE_ONLY defined: libbramah alone (MIT), which has no files. A library built with
 * -Dtools=disabled has no other; pkg-config defines it then. */
#ifndef BRAMAH_H
#define BRAMAH_H

#include <bramah/adaptive.h>
#include <bramah/alarm.h>
#include <bramah/batch.h>
#include <bramah/coupled.h>
#include <bramah/filter.h>
#include <bramah/linear.h>
#include <bramah/machine.h>
#include <bramah/monitor.h>
#include <bramah/observability.h>
#include <bramah/plant.h>
#include <bramah/replay.h>
#include <bramah/sensor.h>
#include <bramah/smoother.h>
#include <bramah/status.h>
#include <bramah/terrain.h>
#include <bramah/worksite.h>

/* libbramah-tools: files, logs, tuning, reports */
#ifndef BRAMAH_CORE_ONLY
#include <bramah/assess.h>
#include <bramah/compare.h>
#include <bramah/display.h>
#include <bramah/fmu.h>
#include <bramah/hypotheses.h>
#include <bramah/log.h>
#include <bramah/mapping.h>
#include <bramah/plausibility.h>
#include <bramah/report.h>
#include <bramah/sensor_study.h>
#include <bramah/serve.h>
#include <bramah/session.h>
#include <bramah/simulation.h>
#include <bramah/study.h>
#include <bramah/tune.h>
#include <bramah/units.h>
#include <bramah/work_cycles.h>
#endif

#endif

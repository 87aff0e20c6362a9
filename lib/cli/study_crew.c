/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* _SC_NPROCESSORS_ONLN */
#include "lib/cli/study_crew.h"

#include <unistd.h>

size_t cli_crew_processors(void)
{
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (size_t)n : 1;
}

#!/bin/sh
# Each folder includes only what is above it (README, "How it is built"); the core includes neither stdio nor GSL, and
# only lib/math/spectral.c names BLAS or LAPACK. Nothing lies in the top folder that is not named here.
set -u
cd "${BRAMAH_SOURCE_ROOT:-.}" || exit 1
failed=0

complain() {
  echo "$1" >&2
  failed=1
}

# folder or file: what its quoted includes may begin with; of folders without those that have a line of their own
check() {
  allowed=$2
  case $1 in *.[ch]) files=$1 ;; *) files=$1/*.[ch] ;; esac
  for file in $files; do
    case " ${3:-} " in *" $file "*) continue ;; esac
    bad=$(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file" | grep -vE "^($allowed)" || true)
    [ -z "$bad" ] || complain "$file may not include: $(echo "$bad" | tr '\n' ' ')"
  done
}

own='bramah/|lib/base/'
check include/bramah 'bramah/'
check lib/base 'bramah/status\.h|lib/base/'
check lib/math 'lib/base/|lib/math/'
check lib/graph 'lib/base/|lib/math/|lib/graph/'
check lib/multibody 'lib/base/|lib/math/|lib/graph/|lib/multibody/'
check lib/hydraulics 'bramah/(status|machine)\.h|lib/base/|lib/math/|lib/graph/|lib/multibody/contact(_law)?\.h|lib/hydraulics/' # the laws that they share
below='lib/base/|lib/math/|lib/graph/|lib/multibody/|lib/hydraulics/|lib/terrain/heights\.h|lib/machine/'
check lib/machine "bramah/(status|machine|plant|terrain)\.h|$below"
check lib/plant "bramah/(status|machine|plant|coupled|terrain|worksite)\.h|$below|lib/plant/"
check sensors 'bramah/(status|plant|sensor)\.h|lib/base/|lib/math/|lib/plant/plant_table\.h|sensors/'
estimators='bramah/(status|plant|sensor|filter|adaptive|alarm|monitor|observability|replay|smoother)\.h|lib/base/|lib/math/|lib/plant/plant_table\.h|sensors/|estimators/'
check estimators "$estimators" 'estimators/batch.c estimators/filter_source.c estimators/lockstep.c estimators/lockstep.h estimators/lockstep_internal.h estimators/lockstep_cycle.c estimators/lockstep_augmented.c'
for file in batch.c lockstep.c lockstep.h lockstep_internal.h lockstep_cycle.c lockstep_augmented.c; do # makes plants of its own, and keeps them in lanes
  check estimators/$file "$estimators|bramah/(batch|coupled)\.h|lib/plant/(compiled|lockstep)\.h"
done
check estimators/filter_source.c "$estimators|lib/plant/(coupled_internal|step_source)\.h" # writes its plant, too
check lib/terrain 'bramah/(status|terrain)\.h|lib/base/|lib/math/|lib/terrain/'
check lib/linear "$own|$below|lib/plant/|lib/linear/"
check lib/io "$own|lib/math/elementary\.h|lib/io/"
check lib/fmi "$own|lib/math/dense\.h|lib/io/|lib/fmi/"
check lib/logs "$own|lib/io/|lib/logs/"
check lib/assess "$own|lib/math/(elementary|innovation_tests)\.h|lib/io/|lib/logs/|lib/assess/"
check lib/tune "$own|lib/math/(dense|elementary)\.h|lib/io/|lib/logs/|lib/assess/|lib/tune/"
check lib/report "$own|lib/io/|lib/report/"
check lib/display "$own|lib/io/|lib/assess/|lib/display/"
check lib/serve "$own|lib/io/|lib/logs/|lib/assess/|lib/serve/"
# The program uses the public interfaces only.
check lib/cli 'bramah/|lib/cli/'

core='lib/base lib/math lib/graph lib/multibody lib/hydraulics lib/machine lib/plant lib/linear lib/terrain sensors estimators'
for folder in $core; do
  # spectral.c belongs to the tools
  bad=$(grep -nE '#include <(stdio|time|fcntl|unistd|pthread|locale|signal|gsl/.*)\.?h?>' "$folder"/*.[ch] | grep -v '^lib/math/spectral.c' || true)
  [ -z "$bad" ] || complain "the core has no files, clock, locks or GSL: $bad"
done
bad=$(grep -lE 'lapack\.h|cblas\.h|dgemm_|dgetrf_' lib/*/*.[ch] sensors/*.[ch] estimators/*.[ch] | grep -vE '^lib/math/(lapack.h|spectral.c)$' || true)
[ -z "$bad" ] || complain "only lib/math/spectral.c may name BLAS or LAPACK: $bad"
bad=$(grep -nE '\b(exit|abort|setlocale|gsl_set_error_handler(_off)?|openblas_set_num_threads)\(' lib/*/*.c sensors/*.c estimators/*.c |
  grep -v '^lib/cli/' || true)
[ -z "$bad" ] || complain "the library never exits or changes global state: $bad"
top='.ci .clang-format .gitignore CHANGELOG.md LICENSE LICENSE.GPL-3 README.md datasets estimators include lib meson.build meson_options.txt pyproject.toml sensors test'
if [ -e .git ] && command -v git >/dev/null; then
  bad=$(git ls-files 2>/dev/null | cut -d/ -f1 | sort -u | grep -vxF "$(echo "$top" | tr ' ' '\n')" || true)
  [ -z "$bad" ] || complain "not meant for the top folder: $bad"
fi
exit $failed

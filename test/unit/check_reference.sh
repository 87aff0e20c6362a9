#!/bin/sh
# datasets/README.md names every key that the readers of machine files, study files and plans know, and every unit.
set -u
cd "${BRAMAH_SOURCE_ROOT:-.}" || exit 1
failed=0

# explained WHAT AT_LEAST: all words of standard input stand in the reference, and there are so many of them.
explained() {
  n=0
  while read -r word; do
    n=$((n + 1))
    grep -q "\`$word\`" datasets/README.md && continue
    echo "datasets/README.md does not explain the $1 '$word'" >&2
    failed=1
  done
  [ $n -gt "$2" ] && return
  echo "only $n ${1}s were found in lib/io" >&2
  failed=1
}

list=$(mktemp)
trap 'rm -f "$list"' EXIT
sed -nE 's/.*(KEY|SECTION|PORT|IN_UNIT|NAMES|NUMBER|CONDITIONS)\("([a-z_]+)".*/\2/p; s/.*\{?\.name = "([a-z_]+)".*/\1/p' \
  lib/io/machine_*.c lib/io/study_*.c lib/io/plan_file.c lib/io/work_file.c lib/io/display_file.c | sort -u >"$list"
explained key 60 <"$list"
sed -nE '/ base_units\[\]/,/^};/s/^ *\{"([^"\\]+)",.*/\1/p' lib/io/units.c >"$list"
explained unit 40 <"$list"
exit $failed

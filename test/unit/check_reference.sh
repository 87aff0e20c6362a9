#!/bin/sh
# datasets/README.md names every key that the readers of machine files, study files and plans know, and every unit.
set -u
cd "${BRAMAH_SOURCE_ROOT:-.}" || exit 1
failed=0
keys=$(sed -nE 's/.*(KEY|SECTION|PORT)\("([a-z_]+)".*/\2/p; s/.*\{?\.name = "([a-z_]+)".*/\1/p' \
  lib/io/machine_*.c lib/io/study_*.c lib/io/plan_file.c lib/io/work_file.c | sort -u)
[ "$(echo "$keys" | wc -l)" -gt 60 ] || {
  echo "the keys were not found in lib/io" >&2
  exit 1
}
for key in $keys; do
  grep -q "\`$key\`" datasets/README.md || {
    echo "datasets/README.md does not explain the key '$key'" >&2
    failed=1
  }
done
units=$(sed -nE '/ base_units\[\]/,/^};/s/^ *\{"([^"\\]+)",.*/\1/p' lib/io/units.c)
[ "$(echo "$units" | wc -l)" -gt 40 ] || {
  echo "the units were not found in lib/io/units.c" >&2
  exit 1
}
for unit in $units; do
  grep -q "\`$unit\`" datasets/README.md || {
    echo "datasets/README.md does not name the unit '$unit'" >&2
    failed=1
  }
done
exit $failed

#!/bin/sh
# The guide datasets/embedding/README.md: its files are written, its commands run, in order, against an installed library.
# Blocks of Markdown whose fence says "yaml NAME" or "c NAME" are files, those that say "sh run" are run.
# Argument: the build folder.
set -eu
build=$1
guide=${BRAMAH_SOURCE_ROOT:?}/datasets/embedding/README.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
DESTDIR="$scratch/root" meson install -C "$build" --no-rebuild --quiet >/dev/null
lib=$(dirname "$(find "$scratch/root" -name libbramah.a)")
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/root" -name bramah.pc)")
PATH=$(dirname "$(find "$scratch/root" -path '*/bin/bramah')"):$PATH
PKG_CONFIG_SYSROOT_DIR=$scratch/root LD_LIBRARY_PATH=$lib
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH PATH
mkdir "$scratch/work"
cd "$scratch/work"

sh "$BRAMAH_SOURCE_ROOT/test/support/fenced.sh" "$guide"

number=0
for script in run-*.sh; do
  number=$((number + 1))
  echo "---- $script"
  sh -eu "$script" >out 2>&1 || {
    cat out
    echo "failed: $(cat "$script")" >&2
    exit 1
  }
  cat out
done
[ "$number" -ge 4 ] || {
  echo "only $number blocks were run" >&2
  exit 1
}

# The program and the replay are one filter, from one file: to the digits that are shown.
./controller <bus.txt >program
program=$(sed -n 's/^ *5 s  angle *\([-0-9.]*\) +- \([0-9.]*\) rad, rate *\([-0-9.]*\) .*/\1 \2 \3/p' program)
replay=$(tail -n 1 estimate.csv | awk -F, '{printf "%.4f %.4f %.3f\n", $2, $3, $4}')
echo "program: $program, replay: $replay"
head -n 1 estimate.csv | cut -d, -f1-5
[ "$program" = "$replay" ] || {
  echo "the program says something else than the replay" >&2
  exit 1
}

# The last one: the spike was rejected, and the estimate lived through a second without an encoder.
expect() {
  grep -Eq "$1" out || {
    echo "expected $1" >&2
    exit 1
  }
}
expect '^[1-9][0-9]* samples rejected by their gates, 0 sensor faults'
last=$(sed -n 's/^ *5 s  angle *\([-0-9.]*\) .*/\1/p' out)
truth=$(tail -n 1 truth.csv | cut -d, -f2)
echo "at the end $last, truth $truth rad"
awk -v a="$last" -v b="$truth" 'BEGIN {d = a - b; exit !(d < 0.01 && d > -0.01)}'

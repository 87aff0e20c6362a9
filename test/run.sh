#!/bin/sh
# Builds everything and runs all tests. Installs what is missing where that is possible. The last line is
#   N passed, N failed, N skipped
# and the exit code is not 0 if a test failed or none ran.
#
# usage: sh test/run.sh [--asan] [--tsan] [--valgrind] [--clang] [--long]
#   --asan      with the address and undefined-behaviour sanitizers, in build-asan/
#   --tsan      the tests with threads, with the thread sanitizer, in build-tsan/
#   --valgrind  under valgrind
#   --clang     with clang, in build-clang/
#   --long      the estimator studies with more seeds, and the benchmarks, latency over 10^7 cycles,
#               the controller for 60 s
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=test/install.sh
. "$root/test/install.sh"

# Under valgrind run.sh is called again for each test (see below). Scripts go as they are: the shell's own leaks are not ours,
# and they put valgrind before the program themselves.
under_valgrind='valgrind --error-exitcode=9 --leak-check=full -q'
if [ "${1:-}" = --under-valgrind ]; then
  shift
  case $1 in
  *.sh | sh | */sh) exec "$@" ;;
  *) exec $under_valgrind "$@" ;;
  esac
fi

build=build
asan=
tsan=
valgrind=
long=
for argument in "$@"; do
  case $argument in
  --asan) asan=1 ;;
  --tsan) tsan=1 ;;
  --valgrind) valgrind=1 need_valgrind=1 ;;
  --clang) build=build-clang need_clang=1 ;;
  --long) long=1 BRAMAH_SEEDS=${BRAMAH_SEEDS:-100} BRAMAH_STEPS=10000000 BRAMAH_CONTROLLER_SECONDS=60 &&
    export BRAMAH_SEEDS BRAMAH_STEPS BRAMAH_CONTROLLER_SECONDS ;;
  --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  *)
    echo "unknown option '$argument'; there are --asan, --tsan, --valgrind, --clang and --long" >&2
    exit 2
    ;;
  esac
done
case "$asan$tsan$valgrind" in
"" | 1) ;;
*)
  echo "--asan, --tsan and --valgrind exclude each other" >&2
  exit 2
  ;;
esac

install_missing
if [ -n "${need_clang:-}" ]; then
  CC=clang
  export CC
fi
if [ -n "$asan" ]; then
  build=$build-asan
  # clang leaves the sanitizer's symbols of a shared library to the program
  setup_build "$root/$build" -Db_sanitize=address,undefined -Db_lundef=false
elif [ -n "$tsan" ]; then
  build=$build-tsan
  setup_build "$root/$build" -Db_sanitize=thread -Db_lundef=false
else
  setup_build "$root/$build"
fi
echo "compiling"
if [ -n "$tsan" ]; then
  meson compile -C "$root/$build" test_threads bramah:executable
else
  meson compile -C "$root/$build"
fi

# count RESULT...: tests that ended so, from the log of meson: one line of JSON per test
logs=$root/$build/meson-logs
count() {
  number=0
  for result in "$@"; do
    number=$((number + $(cat "$logs"/all-tests*.json | grep -o "\"result\": *\"$result\"" | wc -l)))
  done
  echo "$number"
}

rm -f "$logs"/all-tests*
set -- test -C "$root/$build" --no-rebuild --print-errorlogs --logbase all-tests
if [ -n "$valgrind" ]; then
  BRAMAH_WRAP=$under_valgrind
  : "${BRAMAH_SEEDS:=1}" "${BRAMAH_CYCLES:=20000}" # fewer runs of the studies, fewer cycles
  export BRAMAH_WRAP BRAMAH_SEEDS BRAMAH_CYCLES
  set -- "$@" "--wrap=sh '$root/test/run.sh' --under-valgrind" --timeout-multiplier=20
fi
[ -z "$asan" ] || set -- "$@" --timeout-multiplier=5
[ -z "$tsan" ] || set -- "$@" --timeout-multiplier=5 threads cli-study
echo "testing"
code=0
meson "$@" || code=$?
if [ -n "$long" ]; then
  echo "benchmarks"
  meson test -C "$root/$build" --no-rebuild --benchmark --verbose || code=$?
fi

passed=$(count OK EXPECTEDFAIL)
failed=$(count FAIL ERROR TIMEOUT INTERRUPT UNEXPECTEDPASS)
skipped=$(count SKIP)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$code" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

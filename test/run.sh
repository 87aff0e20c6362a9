#!/bin/sh
# Builds everything and runs all tests. Installs what is missing where that is possible. The last line is
#   N passed, N failed, N skipped
# and the exit code is not 0 if a test failed or none ran.
#
# usage: sh test/run.sh [--asan] [--tsan] [--valgrind] [--clang] [--long] [--arm] [--fuzz N] [--golden]
#   --asan      with the address and undefined-behaviour sanitizers, in build-asan/
#   --tsan      the tests with threads, with the thread sanitizer, in build-tsan/
#   --valgrind  under valgrind
#   --clang     with clang, in build-clang/
#   --long      the estimator studies with more seeds, and the benchmarks, latency over 10^7 cycles, no call of the system in 10^6, the controller for 60 s,
#               10^8 numbers read and printed as the C library does, 300 causes of contradictions to be named,
#               200 random machines compiled, the Debian packages
#   --arm       the core for a microcontroller too, with the compiler of the distribution; a compiled filter in qemu
#   --fuzz N    nothing else but the fuzz harnesses, with N inputs each; findings go to build-fuzz/findings/
#   --golden    no tests: keep the estimates of every dataset as they are now in test/golden, to be looked at and committed
# Without options follow: the libraries static, shared, the core alone and in a project of others, and for a microcontroller where
# arm-none-eabi-gcc is there; a few seconds of fuzzing where clang has libFuzzer.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=test/install.sh
. "$root/test/install.sh"

# Under valgrind run.sh is called again for each test (see below). Scripts go as they are: the shell's own leaks are not ours,
# and they put valgrind before the program themselves.
under_valgrind="valgrind --error-exitcode=9 --leak-check=full -q --suppressions=$root/test/support/leaks-of-others.valgrind"
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
golden=
fuzz=
short_fuzz=1 other_builds=1
while [ $# -gt 0 ]; do
  argument=$1
  shift
  [ "$argument" = --long ] || short_fuzz=
  case $argument in --long | --clang | --arm) ;; *) other_builds= ;; esac
  case $argument in
  --asan) asan=1 ;;
  --tsan) tsan=1 ;;
  --valgrind) valgrind=1 need_valgrind=1 ;;
  --clang) build=build-clang need_clang=1 ;;
  --arm) need_arm=1 ;;
  --long) long=1 need_all=1 BRAMAH_SEEDS=${BRAMAH_SEEDS:-150} BRAMAH_STEPS=10000000 BRAMAH_CONTROLLER_SECONDS=60 BRAMAH_NUMBERS=100000000 &&
     BRAMAH_CASES=100 BRAMAH_MACHINES=200 BRAMAH_GROUPS=1000 BRAMAH_PACKAGES=1 BRAMAH_CYCLES=1000000 &&
     export BRAMAH_CYCLES BRAMAH_PACKAGES BRAMAH_SEEDS BRAMAH_STEPS BRAMAH_CONTROLLER_SECONDS BRAMAH_NUMBERS BRAMAH_CASES BRAMAH_MACHINES BRAMAH_GROUPS ;;
  --golden) golden=1 ;;
  --fuzz)
    fuzz=${1:-}
    case $fuzz in
    '' | *[!0-9]*)
      echo "--fuzz is followed by a number of inputs" >&2
      exit 2
      ;;
    esac
    shift
    ;;
  --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  *)
    echo "unknown option '$argument'; there are --asan, --tsan, --valgrind, --clang, --long, --arm, --fuzz and --golden" >&2
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

code=0
passed=0 failed=0 skipped=0
# run_tests FOLDER OPTION...: the tests of a build folder, one more at a time than there are processors, since some wait for clocks
# and browsers. What became of them is counted in the log of meson: one line of JSON per test.
run_tests() {
  logs=$1/meson-logs
  shift
  rm -f "$logs"/all-tests*
  meson test -C "${logs%/*}" --no-rebuild --print-errorlogs --logbase all-tests \
    --num-processes $(($(nproc) + 1)) "$@" || code=$?
  passed=$((passed + $(count OK EXPECTEDFAIL)))
  failed=$((failed + $(count FAIL ERROR TIMEOUT INTERRUPT UNEXPECTEDPASS)))
  skipped=$((skipped + $(count SKIP)))
}

# count RESULT...: tests that ended so.
count() {
  number=0
  for result in "$@"; do
    number=$((number + $(cat "$logs"/all-tests*.json | grep -o "\"result\": *\"$result\"" | wc -l)))
  done
  echo "$number"
}

build_all() {
  if [ -n "${need_clang:-}" ]; then
    CC=clang
    export CC
  fi
  # As quickstart.sh leaves it, without Check, there are no tests in it.
  if [ -f "$root/$build/build.ninja" ] && ! grep -q test_filter "$root/$build/build.ninja"; then
    installed=1
  fi
  if [ -n "$asan" ]; then
    build=$build-asan
    # clang leaves the sanitizer's symbols of a shared library to the program
    setup_build "$root/$build" -Db_sanitize=address,undefined -Db_lundef=false
  elif [ -n "$tsan" ]; then
    build=$build-tsan
    setup_build "$root/$build" -Db_sanitize=thread -Db_lundef=false
  else
    # Nobody looks into these programs with a debugger, but valgrind names lines.
    setup_build "$root/$build" -Ddebug="$([ -n "$valgrind" ] && echo true || echo false)"
  fi
  echo "compiling"
  if [ -n "$tsan" ]; then
    meson compile -C "$root/$build" test_threads test_serve bramah:executable
  else
    meson compile -C "$root/$build"
  fi
}

test_all() {
  set --
  if [ -n "$valgrind" ]; then
    BRAMAH_WRAP=$under_valgrind
    : "${BRAMAH_SEEDS:=1}" "${BRAMAH_CYCLES:=20000}" "${BRAMAH_GROUPS:=3}" # fewer runs of the studies, fewer cycles
    export BRAMAH_WRAP BRAMAH_SEEDS BRAMAH_CYCLES BRAMAH_GROUPS
    set -- "--wrap=sh '$root/test/run.sh' --under-valgrind" --timeout-multiplier=200
  fi
  if [ -n "$asan" ]; then
    export BRAMAH_GROUPS="${BRAMAH_GROUPS:-12}"
    set -- --timeout-multiplier=50
  fi
  [ -z "$tsan" ] || set -- --timeout-multiplier=50 threads serve cli-serve cli-study cli-tune
  echo "testing"
  run_tests "$root/$build" "$@"
  if [ -n "$long" ]; then
    echo "benchmarks"
    meson test -C "$root/$build" --no-rebuild --benchmark --verbose || code=$?
  fi
}

# A build that is not tested as a whole counts as one test. other_build NAME COMMAND...: run in that folder.
other_build() {
  name=$1
  shift
  if (cd "$root/$build-$name" && "$@") >"$root/$build-$name/last-output" 2>&1; then
    passed=$((passed + 1))
    echo "$name: builds and works"
  else
    failed=$((failed + 1))
    tail -n 30 "$root/$build-$name/last-output"
    echo "$name: FAILED" >&2
  fi
}

# Quick to compile: these are about what is in the libraries, not about what comes out.
build_others() {
  quick='-Doptimization=0 -Ddebug=false'
  for kind in static shared; do
    # shellcheck disable=SC2086
    setup_build "$root/$build-$kind" $quick -Ddefault_library=$kind -Dmpi=disabled >/dev/null
    other_build $kind sh -ec 'ninja lib/cli/bramah datasets/embedding/own_plant test/embed/outside
      lib/cli/bramah --version && datasets/embedding/own_plant && test/embed/outside'
  done
  # shellcheck disable=SC2086
  setup_build "$root/$build-core" $quick -Ddefault_library=static -Dtools=disabled >/dev/null
  other_build core sh -ec 'ninja datasets/embedding/own_plant test/embed/outside test/unit/test_math test/unit/test_model test/unit/test_filter \
      test/property/test_observability
    meson test --no-rebuild math model filter observability own_plant outside'
  # In a project of others, which has it in its folder subprojects.
  parent=$root/$build-parent
  mkdir -p "$parent/subprojects"
  [ -e "$parent/subprojects/bramah" ] || ln -s "$root" "$parent/subprojects/bramah"
  cp "$root/test/embed/outside.c" "$parent"
  cat >"$parent/meson.build" <<'END'
project('parent', 'c')
bramah = dependency('bramah', fallback: 'bramah', default_options: 'tools=disabled')
test('outside', executable('outside', 'outside.c', dependencies: bramah))
END
  other_build parent sh -ec '[ -f build/build.ninja ] || meson setup build . -Doptimization=0
    meson test -C build outside'
  if command -v arm-none-eabi-gcc >/dev/null; then
    # shellcheck disable=SC2086
    setup_build "$root/$build-arm" --cross-file "$root/test/embed/arm-none-eabi.ini" $quick -Dtools=disabled >/dev/null
    other_build arm ninja
  else
    echo "no arm-none-eabi-gcc (--arm): the core is not compiled for a microcontroller"
  fi
}

# The harnesses are compiled in a folder of their own: libFuzzer counts the branches of all that they link. For a few seconds of
# fuzzing compiling would take longest: it is not optimised.
fuzz_all() {
  optimization=${fuzz:+2} debug=${fuzz:+true}
  CC=clang setup_build "$root/build-fuzz" -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
  meson configure "$root/build-fuzz" -Doptimization="${optimization:-0}" -Ddebug="${debug:-false}"
  echo "compiling the fuzz harnesses"
  meson compile -C "$root/build-fuzz" fuzzers
  echo "fuzzing"
  set -- --suite fuzz
  if [ -n "$fuzz" ]; then
    BRAMAH_FUZZ_RUNS=$fuzz
    export BRAMAH_FUZZ_RUNS
    set -- "$@" --timeout-multiplier=0
  fi
  run_tests "$root/build-fuzz" "$@"
}

install_missing program tests
if [ -z "$fuzz" ]; then
  build_all
  if [ -n "$golden" ]; then
    BRAMAH_PROGRAM=$root/$build/lib/cli/bramah BRAMAH_SOURCE_ROOT=$root sh "$root/test/golden/run.sh" --write
    git -C "$root" --no-pager diff --stat -- test/golden 2>/dev/null || :
    exit 0
  fi
  test_all
  [ -z "$other_builds" ] || build_others
fi
if [ -n "$fuzz$short_fuzz" ]; then
  if install_fuzzer; then
    fuzz_all
  elif [ -n "$fuzz" ]; then
    echo "libFuzzer is missing: clang and libclang-rt-dev" >&2
    exit 1
  else
    echo "no libFuzzer (clang and libclang-rt-dev): the fuzz harnesses have run over their corpora only"
  fi
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$code" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

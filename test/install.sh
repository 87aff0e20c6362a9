# shellcheck shell=sh
# Sourced by run.sh and quickstart.sh: what the build needs, and installing it where that is possible.
root=${root:?the source tree}

# need PACKAGE TEST...: remember the package if the test fails.
missing=
need() {
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}

has_header() {
  printf '#include <stdio.h>\n#include <%s>\n' "$1" | cc -E - -o /dev/null
}

# Is each thing there? Asked by use, not by package, so that other distributions pass too.
find_missing() {
  missing=
  need gcc command -v cc
  need libc6-dev has_header stdlib.h # only recommended by gcc, and recommendations are not installed
  need pkg-config command -v pkg-config
  need meson command -v meson
  need ninja-build command -v ninja
  need libgsl-dev pkg-config --exists gsl
  need libyaml-dev pkg-config --exists yaml-0.1
  need check pkg-config --exists check
  need libopenblas-serial-dev has_openblas
  need libcsv-dev has_header csv.h
  need libmatio-dev pkg-config --exists matio
  need libsubunit-dev has_subunit
  need libudunits2-dev has_header udunits2.h # only a test compares with it
  need libopenmpi-dev has_mpi # optional for the build: bramah-mpi
  [ -z "${need_browser:-}" ] || need chromium command -v chromium
  need doxygen command -v doxygen
  [ -z "${need_abigail:-}" ] || need abigail-tools command -v abidiff
  [ -z "${need_valgrind:-}" ] || need valgrind command -v valgrind
  [ -z "${need_arm:-}" ] || need gcc-arm-none-eabi command -v arm-none-eabi-gcc
  [ -z "${need_arm:-}" ] || need libnewlib-arm-none-eabi has_newlib
  [ -z "${need_arm:-}" ] || need qemu-system-arm command -v qemu-system-arm
  [ -z "${need_clang:-}" ] || need clang command -v clang
}

has_newlib() {
  echo 'int main(void) { return 0; }' | arm-none-eabi-gcc --specs=rdimon.specs -x c - -o /dev/null
}

has_mpi() {
  command -v mpicc
}

# libFuzzer: clang alone does not bring it.
has_fuzzer() {
  program=$(mktemp) || return 1
  code=0
  printf 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n > 9; }\n' |
    clang -fsanitize=fuzzer,address,undefined -w -x c - -o "$program" || code=$?
  rm -f "$program"
  return "$code"
}

find_missing_fuzzer() {
  missing=
  need clang command -v clang
  need libclang-rt-dev has_fuzzer
}

# On Debian, Check was built with subunit and asks for it when linked.
has_subunit() {
  pkg-config --exists check && { ! pkg-config --libs check | grep -q subunit || has_header subunit/child.h; }
}

has_openblas() {
  [ -n "$(sh "$root/lib/math/find-openblas.sh")" ] || pkg-config --exists openblas
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

can_install() {
  command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null; }
}

install_them() {
  echo "installing with apt-get:$missing"
  # Package names hold no blanks.
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' \
    install $missing
}

install_missing() {
  find_missing
  [ -n "$missing" ] || return 0
  echo "missing:$missing"
  if ! can_install; then
    echo "please install these packages (names of Debian):$missing" >&2
    exit 1
  fi
  install_them
}

# What the build can do without: libFuzzer is there afterwards, or 1 is returned.
install_fuzzer() {
  find_missing_fuzzer
  [ -n "$missing" ] || return 0
  can_install && install_them && find_missing_fuzzer && [ -z "$missing" ]
}

# setup_build FOLDER OPTION...: configure unless that was done.
setup_build() {
  folder=$1
  shift
  if [ -f "$folder/build.ninja" ]; then
    echo "build folder: $folder"
  else
    echo "configuring $folder"
    meson setup "$folder" "$root" "$@"
  fi
}

# shellcheck shell=sh
# Sourced by run.sh, quickstart.sh and .ci: what the build needs, and installing it where that is possible.
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

# What it takes to build the program and replay a log. Asked by use, not by package, so that other distributions pass too.
find_for_program() {
  need gcc command -v cc
  need libc6-dev has_header stdlib.h # only recommended by gcc, and recommendations are not installed
  need pkg-config command -v pkg-config
  need meson command -v meson
  need ninja-build command -v ninja
  need libgsl-dev pkg-config --exists gsl
  need libyaml-dev pkg-config --exists yaml-0.1
  need libopenblas-serial-dev has_openblas
  need libcsv-dev has_header csv.h
}

# And the rest: the tests, and what is optional for the build (MAT files, bramah serve, FMUs, bramah-mpi).
find_for_tests() {
  need check pkg-config --exists check
  need libsubunit-dev has_subunit
  need libmatio-dev pkg-config --exists matio
  need libzstd-dev has_header zstd.h # compressed MCAP and MDF files
  need liblz4-dev has_header lz4frame.h
  need libbz2-dev has_header bzlib.h
  need libmicrohttpd-dev has_header microhttpd.h
  need zlib1g-dev has_header zlib.h # compressed MAT and MDF files
  need libzip-dev has_header zip.h # FMUs
  need libexpat1-dev has_header expat.h
  need libsundials-dev has_header cvode/cvode.h # those for model exchange
  need libopenmpi-dev has_mpi
  need libudunits2-dev has_header udunits2.h # only a test compares with it
  need python3-jsonschema /usr/bin/python3 -c 'import jsonschema' # of files as an editor has it
  need python3-yaml /usr/bin/python3 -c 'import yaml'
  need mandoc command -v mandoc # for the documentation
  need python3-markdown-it has_python 'import markdown_it'
  need doxygen command -v doxygen
  for module in cffi numpy matplotlib mesonpy build installer; do
    need python3-$module has_python "import $module"
  done
  need python3-dev has_python "$python_header"
  [ -z "${need_all:-}" ] || need chromium command -v chromium
  [ -z "${need_all:-}" ] || need poppler-utils command -v pdftoppm # pages of reports on paper, as pictures
  [ -z "${need_abigail:-}" ] || need abigail-tools command -v abidiff
  [ -z "${need_valgrind:-}" ] || need valgrind command -v valgrind
  [ -z "${need_arm:-}" ] || need gcc-arm-none-eabi command -v arm-none-eabi-gcc
  [ -z "${need_arm:-}" ] || need libnewlib-arm-none-eabi has_newlib
  [ -z "${need_arm:-}" ] || need qemu-system-arm command -v qemu-system-arm
  [ -z "${need_clang:-}" ] || need clang command -v clang
}

# By package, for once: dpkg-buildpackage asks for those.
find_for_packages() {
  for package in build-essential fakeroot debhelper $(sed -n '/^Build-Depends/,/^Standards/{s/^Build-Depends:.*13),//;s/,//g;/^Standards/!p}' \
    "$root/lib/packages/debian/control"); do
    need "$package" has_package "$package"
  done
}

has_package() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1")" = installed ]
}

python_header='import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'

has_newlib() {
  echo 'int main(void) { return 0; }' | arm-none-eabi-gcc --specs=rdimon.specs -x c - -o /dev/null
}

# The Python that meson runs on, which is that of the distribution.
has_python() {
  "$(sed -n '1s/^#! *//p' "$(command -v meson)")" -c "$1"
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

find_for_fuzzer() {
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

# quietly COMMAND...: what it has to say is shown only if it fails.
quietly() {
  heard=$(mktemp)
  code=0
  "$@" >"$heard" 2>&1 || code=$?
  [ "$code" -eq 0 ] || tail -n 30 "$heard" >&2
  rm -f "$heard"
  return "$code"
}

# The packages of $missing.
install_them() {
  echo "installing with apt-get, which may take a few minutes:$missing"
  # Package names hold no blanks.
  # shellcheck disable=SC2086
  quietly as_root env DEBIAN_FRONTEND=noninteractive \
    sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' install $missing
}

# install_missing GROUP...: all that the groups (program, tests) need is there afterwards, or this ends with the line to type.
installed=
install_missing() {
  missing=
  for group in "$@"; do
    "find_for_$group"
  done
  [ -n "$missing" ] || return 0
  if can_install && install_them; then
    installed=1
    return 0
  fi
  echo "These packages are missing, and could not be installed from here. On Debian and Ubuntu, as root:" >&2
  echo "  apt-get update && apt-get install --no-install-recommends$missing" >&2
  echo "Others have them under similar names. Then run this once more." >&2
  exit 1
}

# What the tests can do without: libFuzzer is there afterwards, or 1 is returned.
install_fuzzer() {
  missing=
  find_for_fuzzer
  [ -n "$missing" ] || return 0
  can_install && install_them
}

# setup_build FOLDER OPTION...: configure, again if something was installed meanwhile.
setup_build() {
  folder=$1
  shift
  if [ ! -f "$folder/build.ninja" ]; then
    echo "configuring $folder"
    quietly meson setup "$folder" "$root" "$@"
  elif [ -n "$installed" ]; then
    echo "configuring $folder again"
    quietly meson setup --reconfigure "$folder" "$root" "$@"
  else
    echo "build folder: $folder"
  fi
}

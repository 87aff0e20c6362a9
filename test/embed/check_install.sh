#!/bin/sh
# Installs to a scratch folder and builds a program outside the tree with pkg-config alone: shared and static, C and C++.
# Argument: the build folder.
set -eu
build=$1
root=${BRAMAH_SOURCE_ROOT:-.}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
DESTDIR="$scratch" meson install -C "$build" --no-rebuild --quiet >/dev/null
pc=$(dirname "$(find "$scratch" -name bramah.pc)")
prefix=$(find "$scratch" -type d -path '*/include' | head -n 1)
lib=$(dirname "$(find "$scratch" -name 'libbramah.a')")
export PKG_CONFIG_PATH="$pc" PKG_CONFIG_SYSROOT_DIR="$scratch"
cflags=$(pkg-config --cflags bramah)
libs=$(pkg-config --libs bramah)
echo "installed headers in $prefix, $(pkg-config --modversion bramah)"

# Nothing the core needs may be GPL: GSL and the file libraries belong to the tools.
if pkg-config --static --libs bramah | grep -qE 'gsl|yaml|csv'; then
  echo "libbramah must not link GSL, YAML or CSV" >&2
  exit 1
fi

# shellcheck disable=SC2086,SC2046 # flags are meant to be split
{
  ${CC:-cc} -std=c11 $cflags "$root/test/embed/outside.c" -o "$scratch/shared" $libs
  LD_LIBRARY_PATH="$lib" "$scratch/shared"
  ${CC:-cc} -std=c11 $cflags "$root/test/embed/outside.c" -o "$scratch/static" "$lib/libbramah.a" \
    $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --static --libs bramah | tr ' ' '\n' | grep -v '^-lbramah$' | tr '\n' ' ')
  "$scratch/static"
  if command -v "${CXX:-c++}" >/dev/null; then
    ${CXX:-c++} -x c++ -fpermissive -w $cflags "$root/test/embed/outside.c" -o "$scratch/cpp" -x none $libs
    LD_LIBRARY_PATH="$lib" "$scratch/cpp"
  fi
}

# The installed program runs from where it is, without the build folder.
program=$(find "$scratch" -path '*/bin/bramah' -type f)
data=$(find "$scratch" -type d -path '*/share/bramah/four-bar')
"$program" check "$data/sensors-3.yaml" "$data/log.csv" | tail -n 1

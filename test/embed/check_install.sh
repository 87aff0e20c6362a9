#!/bin/sh
# Installs to a scratch folder and builds programs outside the tree with pkg-config alone: shared and static, with every C
# and C++ compiler there is. The README's program (libbramah-tools) and outside.c (libbramah, without files).
# Argument: the build folder.
set -eu
build=$1
root=${BRAMAH_SOURCE_ROOT:-.}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
DESTDIR="$scratch" meson install -C "$build" --no-rebuild --quiet >/dev/null
pc=$(dirname "$(find "$scratch" -name bramah.pc)")
include=$(find "$scratch" -type d -path '*/include' | head -n 1)
lib=$(dirname "$(find "$scratch" -name 'libbramah.a')")
# Only the libraries of ours stand in the scratch folder.
sed -i "s|^prefix=|prefix=$scratch|" "$pc"/bramah*.pc
export PKG_CONFIG_PATH="$pc"
echo "installed headers in $include, $(pkg-config --modversion bramah)"

fail() {
  echo "$1" >&2
  exit 1
}

# Manual pages and completion, where others have theirs.
for file in man/man1/bramah.1 man/man1/bramah-replay.1 bash-completion/completions/bramah.bash \
  bramah/schema/machine.schema.json; do
  [ -s "$(dirname "$include")/share/$file" ] || fail "share/$file is not installed"
done

# Nothing the core needs may be GPL: GSL and the file libraries belong to the tools.
if pkg-config --static --libs bramah | grep -qE 'gsl|yaml|csv'; then
  fail "libbramah must not link GSL, YAML or CSV"
fi

# ---- programs ----

mkdir "$scratch/work" "$scratch/static"
cd "$scratch/work"
# shellcheck disable=SC2016 # backticks of Markdown
sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '/^```/d' >readme.c
sh "$root/test/support/fenced.sh" "$root/README.md"
[ -s boom.yaml ] && [ -s boom-study.yaml ] || fail "there are no files in the README"
cp "$root/test/embed/outside.c" .
[ "$(grep -c . readme.c)" -gt 10 ] || fail "there is no program in the README"

# Where there is no shared library the linker takes the static one: nothing else is different.
mv "$lib"/libbramah.a "$lib"/libbramah-tools.a "$scratch/static"
mkdir "$scratch/shared"
mv "$lib"/libbramah*.so* "$scratch/shared"

# build COMPILER LANGUAGE SOURCE PACKAGE [STATIC]; it reads the file $bus
try() {
  # Flags are meant to be split.
  # shellcheck disable=SC2046
  "$1" -x "${2%%:*}" -std="${2##*:}" -Wall -Werror -O1 "$3" -x none -o program \
    $(pkg-config ${5:+--static} --cflags --libs "$4") || fail "$1 $2 $3 ${5:-shared}: does not build"
  LD_LIBRARY_PATH="$lib" ./program <"$bus" >out || fail "$1 $2 $3 ${5:-shared}: exit code $?"
  echo "$1 ${2##*:} ${5:-shared} $3: $(cat out)"
  grep -Eq "$6" out || fail "this is not what it should say"
}

# 0.3 s at rest, the encoder 0.02 rad beside the start of 0.3491 rad
awk 'BEGIN {for (k = 0; k < 300; k++) print 0, 0.3491}' >angle
awk 'BEGIN {for (k = 0; k < 300; k++) print 0, 0.3491, 2180288}' >angle_and_pressure
for kind in shared static; do
  rm -f "$lib"/libbramah*
  cp -P "$scratch/$kind"/* "$lib"
  static=
  [ "$kind" = shared ] || static=static
  for compiler in gcc clang g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    case $compiler in
    *++) set -- c++:c++20 c++:c++17 ;;
    *) set -- c:c11 ;;
    esac
    for language in "$@"; do
      bus=angle
      try "$compiler" "$language" outside.c bramah "$static" 'angle 0\.25'
      bus=angle_and_pressure
      try "$compiler" "$language" readme.c bramah-tools "$static" '^boom 0\.3[45]'
    done
  done
done
rm -f "$lib"/libbramah*
cp -P "$scratch"/shared/* "$scratch"/static/* "$lib"

# ---- what the shared libraries show to others ----

if command -v nm >/dev/null && command -v readelf >/dev/null; then
  readelf -d "$lib/libbramah.so" | grep -q 'SONAME.*\[libbramah\.so\.[0-9][0-9.]*\]' || fail "libbramah.so has no soname"
  for library in bramah bramah-tools; do
    nm -D --defined-only "$lib/lib$library.so" | awk '{print $NF}' | sort >"shown-$library"
    if grep -vE '^bramah_[a-z]' "shown-$library" || grep -E '^bramah__' "shown-$library"; then
      fail "lib$library.so shows names of its own"
    fi
  done
  # Every function of the headers is in one of the two, and the other way round.
  cat "$include"/bramah/*.h | tr '\n' ' ' | grep -oE 'BRAMAH_API [^;(]*\(' | grep -oE 'bramah_[a-z0-9_]*\($|bramah_[a-z0-9_]* *\(' |
    tr -d ' (' | sort -u >declared
  sort -u shown-bramah shown-bramah-tools >shown
  diff declared shown || fail "functions of the headers (<) and of the libraries (>) differ"
  echo "$(wc -l <shown) functions, each in a header"
fi

# The installed program runs from where it is, without the build folder and without our shared libraries.
program=$(find "$scratch" -path '*/bin/bramah' -type f)
data=$(find "$scratch" -type d -path '*/share/bramah/four-bar')
rm -f "$lib"/libbramah*
if readelf -d "$program" | grep 'NEEDED.*libbramah'; then
  fail "the program asks for a library of ours"
fi
"$program" check "$data/sensors-3.yaml" "$data/log.csv" >checked || fail "the installed program does not run"
tail -n 1 checked

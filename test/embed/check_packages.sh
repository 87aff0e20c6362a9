#!/bin/sh
# Builds the Debian packages, unpacks them into a scratch root and uses what is in them: the program on its datasets, the
# libraries with pkg-config from a program outside. Takes minutes: only where BRAMAH_PACKAGES is set (sh test/run.sh --long).
set -eu
root=${BRAMAH_SOURCE_ROOT:?}
[ -n "${BRAMAH_PACKAGES:-}" ] || { echo "takes minutes; sh test/run.sh --long does it"; exit 77; }
for tool in dpkg-buildpackage dh fakeroot; do
  command -v "$tool" >/dev/null || { echo "no $tool (packages dpkg-dev, debhelper, fakeroot)"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

export DEBFULLNAME='bramah authors' DEBEMAIL=bramah@debian.org # for lintian an address has to be a real one
sh "$root/lib/packages/build-debs.sh" "$scratch/packages"
for package in libbramah0.2 libbramah-tools0.2 libbramah-dev bramah python3-bramah; do
  dpkg-deb -x "$scratch/packages/${package}_"*.deb "$scratch/root"
done
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error "$scratch"/packages/*.changes || fail "lintian finds errors"
else
  echo "no lintian: the packages are not checked by it"
fi

lib=$(dirname "$(find "$scratch/root" -name libbramah.so)")
export LD_LIBRARY_PATH="$lib" PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$scratch/root"
cd "$scratch"
data=$scratch/root/usr/share/bramah/four-bar
"$scratch/root/usr/bin/bramah" replay "$data/sensors-2.yaml" "$data/log.csv" --truth "$data/truth.csv" --output estimate.csv \
  --report report.html >summary
grep -q '^verdict: no contradiction found' summary || fail "the packaged program has another verdict"
"${BRAMAH_PROGRAM:?}" replay "$data/sensors-2.yaml" "$data/log.csv" --output ours.csv >/dev/null
cmp estimate.csv ours.csv || fail "the packaged program estimates something else"

# Programs of others: the core alone, and with files; what they need to run is the runtime packages.
# shellcheck disable=SC2016 # backticks of Markdown
sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '/^```/d' >readme.c
sh "$root/test/support/fenced.sh" "$root/README.md"
# shellcheck disable=SC2046
cc -Wall -Werror "$root/test/embed/outside.c" -o outside $(pkg-config --cflags --libs bramah) -lm
# shellcheck disable=SC2046
cc -Wall -Werror readme.c -o readme $(pkg-config --cflags --libs bramah-tools)
rm "$lib"/*.a "$lib"/libbramah.so "$lib"/libbramah-tools.so
awk 'BEGIN {for (k = 0; k < 300; k++) print 0, 0.3491}' | ./outside | grep 'angle 0\.25' || fail "outside says something else"
awk 'BEGIN {for (k = 0; k < 300; k++) print 0, 0.3491, 2180288}' | ./readme | grep '^boom 0\.3[45]' || fail "readme says something else"

PYTHONPATH=$(echo "$scratch"/root/usr/lib/python3*/*-packages) /usr/bin/python3 - "$data" <<'END' || fail "the Python package does not work"
import sys, bramah
print("python", bramah.__version__, bramah.__file__)
bramah.Session(sys.argv[1] + "/sensors-2.yaml")
END

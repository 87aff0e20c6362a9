#!/bin/sh
# The Python package in a clean environment, and a first replay there: as `meson install` puts it; with BRAMAH_PACKAGES (--long) also
# as a wheel made from a source archive, which takes minutes. Argument: the build folder.
set -eu
build=$1
root=${BRAMAH_SOURCE_ROOT:?}
python=${BRAMAH_PYTHON:-}
if [ -z "$python" ]; then
  echo "skipped: the Python package was not built (python3-cffi, python3-numpy and python3-dev; no sanitizer)"
  exit 77
fi
"$python" -c 'import build, installer, mesonpy' || {
  echo "skipped: python3-build, python3-installer or python3-mesonpy is missing"
  exit 77
}
unset PYTHONPATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

first_replay() {
  cat >"$scratch/first.py" <<'END'
import sys
import bramah
data = sys.argv[1] + "/datasets/four-bar/"
r = bramah.replay(data + "sensors-2.yaml", data + "log.csv", end=0.1)
print(bramah.__version__, bramah.__file__, repr(r))
sys.exit(len(r.time) != 101 or not r.sigma("crank.angle").min() > 0)
END
  (cd "$scratch" && "$@" first.py "$root")
}

# The interpreter finds the libraries of the scratch folder; the package is looked for nowhere else.
DESTDIR="$scratch/destination" meson install -C "$build" --no-rebuild --quiet >/dev/null
module=$(find "$scratch/destination" -name '_bramah*.so')
libraries=$(dirname "$(find "$scratch/destination" -name 'libbramah.so')")
first_replay env LD_LIBRARY_PATH="$libraries" PYTHONPATH="$(dirname "$(dirname "$module")")" "$python"
[ -n "${BRAMAH_PACKAGES:-}" ] || exit 0

# A source archive is made of what git knows, here of the tree as it is.
git -C "$root" rev-parse --git-dir >/dev/null 2>&1 || {
  echo "the source tree is no git repository: no source archive"
  exit 0
}
mkdir "$scratch/tree" "$scratch/dist" "$scratch/unpacked"
(cd "$root" && git ls-files -co --exclude-standard -z | xargs -0 tar cf -) | tar xf - -C "$scratch/tree"
git -C "$scratch/tree" init -q
git -C "$scratch/tree" add -A
git -C "$scratch/tree" -c user.name=test -c user.email=test@localhost commit -qm tree
"$python" -m build --no-isolation --skip-dependency-check --sdist -o "$scratch/dist" "$scratch/tree" >"$scratch/log" 2>&1 || {
  tail -n 30 "$scratch/log"
  exit 1
}
tar xzf "$scratch"/dist/*.tar.gz -C "$scratch/unpacked"
"$python" -m build --no-isolation --skip-dependency-check --wheel -o "$scratch/dist" "$scratch"/unpacked/* >"$scratch/log" 2>&1 || {
  tail -n 30 "$scratch/log"
  exit 1
}
ls -l "$scratch/dist"
"$python" -m venv --without-pip --system-site-packages "$scratch/clean"
"$scratch/clean/bin/python" -m installer "$scratch"/dist/*.whl
rm -rf "$scratch/unpacked" "$scratch/tree"
first_replay "$scratch/clean/bin/python"

#!/bin/sh
# Every script of the gallery runs, says what it should and writes its picture; the folder has no others.
set -eu
root=${BRAMAH_SOURCE_ROOT:?}
python=${BRAMAH_PYTHON:-}
if [ -z "$python" ] || ! "$python" -c 'import matplotlib'; then
  echo "skipped: the Python package was not built, or python3-matplotlib is missing"
  exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=. OPENBLAS_NUM_THREADS=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# says SCRIPT PATTERN [ARGUMENT...]
run=
says() {
  script=$1 pattern=$2
  shift 2
  run="$run $script.py"
  "$python" "$root/datasets/gallery/$script.py" "$@" >"$script.out" || {
    echo "$script fails" >&2
    exit 1
  }
  grep -Eq "$pattern" "$script.out" || {
    echo "$script does not say '$pattern':" >&2
    cat "$script.out" >&2
    exit 1
  }
  grep -q "$script.py" "$root/datasets/gallery/README.md"
  if grep -q savefig "$root/datasets/gallery/$script.py"; then
    [ -s "$script.png" ] && [ -s "$root/datasets/gallery/$script.png" ]
  fi
  if grep -q PillowWriter "$root/datasets/gallery/$script.py"; then
    [ -s "$script.gif" ] && [ -s "$root/datasets/gallery/$script.gif" ]
  fi
}

four_bar=$root/datasets/four-bar
says first_replay 'RMSE 0\.2[0-9]* deg, model alone 3\.[0-9]*, raw encoder 1\.0.*inside .* (9[5-9]|100)\.'
says which_sensors 'failed runs: 0' "$four_bar" 1
says tune_on_logs 'volumes.v1.noise: lies at its bound'
says what_is_wrong 'true 1.8e-08; found 1\.(79|80)'
says filter_to_controller 'Estimates fed back: 0\.[0-3].* by 0\.0'
says own_machine 'tip: [0-9.]* cm off .* inside .* (9[0-9]|100)'
says digging '3[0-9]* kg are lifted, the force on the bucket is that of 3[0-9]* kg; mass is off by (0e|[0-9]e-1[5-9])'
says crates 'amplitude 0.25 m: the crate has moved by -0.0[5-7][0-9]* m'
says working_excavator 'at the end: .* inside .* (9[0-9]|100)\.' "$root/datasets/excavator" 1.5
says filter_study 'bramah .*largest difference [0-9.]*e-0[4-9] sigma'
for script in "$root"/datasets/gallery/*.py; do
  case "$run " in
  *" $(basename "$script") "*) ;;
  *)
    echo "$script is not run here" >&2
    exit 1
    ;;
  esac
done
grep -l "no contradiction" first_replay.out own_machine.out working_excavator.out >/dev/null

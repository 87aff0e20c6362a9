# shellcheck shell=sh
# What the tests of the program share. Each test sources this file, runs the program as a user does and looks at exit code,
# output and files. BRAMAH_WRAP may hold a command to run it under (valgrind).
set -eu
LC_ALL=C
export LC_ALL

program=${BRAMAH_PROGRAM:?the program to test}
source_root=${BRAMAH_SOURCE_ROOT:?the source tree}
machine=$source_root/datasets/four-bar/four-bar.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The shipped studies of the four-bar with the filter of the papers, for what is not about the default.
papers=$work/papers
study=$papers/sensors-2.yaml
mkdir -p "$papers"
cp "$machine" "$papers"
for one in 1 2 3 4; do
  cp "$source_root/datasets/four-bar/sensors-$one.yaml" "$papers"
  printf 'filter:\n  preset: papers\n  transition: paper\n' >>"$papers/sensors-$one.yaml"
done

fail() {
  echo "FAILED: $1" >&2
  for stream in out err; do
    [ ! -s "$work/$stream" ] || sed "s/^/  $stream: /" "$work/$stream" >&2
  done
  exit 1
}

# run CODE ARGUMENT...: run the program; out and err hold what it printed.
run() {
  wanted=$1
  shift
  command="bramah $*"
  code=0
  # BRAMAH_WRAP is a command with arguments
  # shellcheck disable=SC2086
  ${BRAMAH_WRAP:-} "$program" "$@" >"$work/out" 2>"$work/err" || code=$?
  [ "$code" -eq "$wanted" ] || fail "$command: exit code $code, not $wanted"
  # Nothing for a terminal in a pipe.
  if grep -q "$(printf '[\033\r]')" "$work/out" "$work/err"; then fail "$command: control characters in a pipe"; fi
}

# wait_for COMMAND...: until it succeeds. The limit is for a program that hangs, not for a computer that is busy.
wait_for() {
  tries=0
  until "$@"; do
    [ $((tries += 1)) -le 12000 ] || fail "never came: $*"
    sleep 0.05
  done
}

# says STREAM TEXT: the text stands in out or err.
says() {
  grep -qF -e "$2" "$work/$1" || fail "$command: '$2' is not in $1"
}

# quiet STREAM: nothing was printed there.
quiet() {
  [ ! -s "$work/$1" ] || fail "$command: something is in $1"
}

# same A B WHAT: two texts are equal.
same() {
  [ "$1" = "$2" ] || fail "$3: '$1' is not '$2'"
}

# cell FILE LINE COLUMN: the header is line 1.
cell() {
  awk -F, -v line="$2" -v column="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i }
    NR == line { print $c }' "$1"
}

lines() {
  awk 'END { print NR }' "$1"
}

# near A B TOLERANCE WHAT
near() {
  awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { exit !(a - b <= e && b - a <= e && a != "" && b != "") }' ||
    fail "$4: '$1' is not near '$2'"
}

# make_log DURATION: a short run with a log, truth.csv and log.csv.
make_log() {
  run 0 simulate "$machine" --duration "$1" --output truth.csv --noise "$study" --seed 1 --log log.csv
}

#!/bin/sh
# Sourced by tests of programs to copy from, with the program as $1: a scratch folder to be in, `data` and `fail`. An
# example has at most 30 lines.
# shellcheck disable=SC2034
data=$BRAMAH_SOURCE_ROOT/datasets/four-bar
# shellcheck disable=SC2034
example=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit
fail() {
  echo "$1" >&2
  exit 1
}
[ "$(wc -l <"$BRAMAH_SOURCE_ROOT/datasets/embedding/$(basename "$1").c")" -le 30 ] || fail 'the example has more than 30 lines'

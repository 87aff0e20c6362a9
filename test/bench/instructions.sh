#!/bin/sh
# SPDX-License-Identifier: MIT
# Instructions of one cycle of each case of bench_kernel, by callgrind: those of 300 cycles less those of 100, divided by
# 200. usage: instructions.sh BENCH_KERNEL
set -eu
bench=$1
command -v valgrind >/dev/null || { echo "valgrind is not installed" >&2; exit 77; }
count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'; }
case=0
"$bench" list | while IFS= read -r name; do
  printf '%-52s %8d\n' "$name" $((($(count $case 300) - $(count $case 100)) / 200))
  case=$((case + 1))
done

#!/bin/sh
# SPDX-License-Identifier: MIT
# Instructions of one cycle of each case of bench_kernel, by callgrind: those of 2,400 cycles less those of 400, divided by
# 2,000. usage: instructions.sh BENCH_KERNEL
set -eu
bench=$1
command -v valgrind >/dev/null || { echo "valgrind is not installed" >&2; exit 77; }
count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'; }
case=0
"$bench" list | while IFS= read -r name; do
  printf '%-52s %8d\n' "$name" $((($(count $case 2400) - $(count $case 400)) / 2000))
  case=$((case + 1))
done

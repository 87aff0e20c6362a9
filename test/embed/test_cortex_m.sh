#!/bin/sh
# The compiled four-bar filter on small processors, in qemu: a Cortex-M7, and in single precision a Cortex-M4F, which has no
# doubles. Prints what it prints here; keeps to 16 KB of memory and 64 KB of program. Its instructions are printed, not judged.
set -eu
source_root=${BRAMAH_SOURCE_ROOT:?the source tree}
example=$source_root/datasets/embedding/compiled
own=$source_root/test/embed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

skip() {
  echo "skipped: $1"
  exit 77
}
fail() {
  echo "FAILED: $1" >&2
  exit 1
}
command -v arm-none-eabi-gcc >/dev/null || skip 'no arm-none-eabi-gcc'
command -v qemu-system-arm >/dev/null || skip 'no qemu-system-arm'
echo 'int main(void) { return 0; }' | arm-none-eabi-gcc --specs=rdimon.specs -x c - -o empty 2>/dev/null || skip 'no newlib for arm-none-eabi-gcc'

head -n 301 "$source_root/datasets/four-bar/log.csv" >log.csv
for precision in double single; do
  "${BRAMAH_PROGRAM:?the program to test}" compile "$example/study.yaml" --name four_bar --precision $precision --output $precision >out
done

cat >only.c <<'END'
#include "four_bar.h"
int main(void)
{
  static four_bar_filter f;
  static volatile four_bar_real u[FOUR_BAR_INPUTS], y[FOUR_BAR_SENSORS];
  static const unsigned char present[FOUR_BAR_SENSORS] = {1, 1, 1, 1, 1};
  four_bar_begin(&f);
  while (four_bar_predict(&f, (const four_bar_real *)u) >= FOUR_BAR_OK &&
         four_bar_correct(&f, (const four_bar_real *)y, present) >= FOUR_BAR_OK) continue;
  return 1;
}
END

# on CPU FPU BOARD FOLDER: compile the filter there for it and run it
on() {
  # CC may hold a compiler with a cache before it
  # shellcheck disable=SC2086
  ${BRAMAH_CC:-cc} -std=c11 -O2 -ffp-contract=off -I"$4" -o main -x c - "$4/four_bar.c" -lm <"$example/main.c" || fail "$4: compiler"
  ./main <log.csv >expected.csv

  # Without the scheduling of gcc before it gives values their registers fewer of them wait in memory.
  flags="-mcpu=$1 -mfpu=$2 -mfloat-abi=hard -mthumb -std=c11 -O3 -fno-schedule-insns -ffp-contract=off -ffunction-sections"
  flags="$flags -fdata-sections -Wl,--gc-sections -Wall -Wextra -Wno-unused-result -Werror -I$4"
  # a list of flags
  # shellcheck disable=SC2086
  arm-none-eabi-gcc $flags -c "$4/four_bar.c" -o filter.o || fail "$1: compiler"
  for name in "$example/main.c" "$own/cortex_m_cost.c"; do
    # shellcheck disable=SC2086
    arm-none-eabi-gcc $flags --specs=rdimon.specs -nostartfiles -T "$own/cortex_m.ld" -x c - "$own/cortex_m.c" -x none filter.o \
      -o program.elf -lm <"$name" || fail "$1: compiler"
    code=0
    timeout 120 qemu-system-arm -M "$3" -display none -monitor none -serial none -semihosting-config enable=on,target=native \
      -icount shift=6 -kernel program.elf >out.csv || code=$?
    [ "$code" -eq 0 ] || fail "$1: $name: exit code $code"
    [ "$name" != "$example/main.c" ] || cmp out.csv expected.csv || fail "$1: other numbers"
  done
  # shellcheck disable=SC2086
  arm-none-eabi-gcc $flags --specs=nosys.specs only.c filter.o -o only.elf -lm 2>err || fail "$1: $(cat err)"
  program=$(arm-none-eabi-size only.elf | awk 'NR == 2 { print $1 + $2 }')
  memory=$(sed 's/.*filter \([0-9]*\), of stack \([0-9]*\).*/\1 \2/' out.csv | awk '{ print $1 + $2 }')
  echo "$1: $(cat out.csv), of the program $program"
  [ "$memory" -le 16384 ] || fail "$1: $memory bytes of memory"
  [ "$program" -le 65536 ] || fail "$1: $program bytes of program"
}
on cortex-m7 fpv5-d16 mps2-an500 double
on cortex-m4 fpv4-sp-d16 mps2-an386 single

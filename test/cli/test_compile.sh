#!/bin/sh
# The C source of machines: a compiler with all its warnings takes it, and 1,000 steps are those that simulate makes.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

warnings='-std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

# Commands come in, positions and pressures go out; the last line counts the steps that were not NAME_OK.
cat >main.in <<'END'
#include "name.h"
#include <stdio.h>

int main(void)
{
  static name_state s;
  double u[NAME_ROOM(NAME_INPUTS)];
  int other = 0, n = 0;
  s = name_start;
  for (;;) {
    for (int j = 0; j < NAME_JOINTS; j++) printf("%.17g ", s.z[j]);
    for (int i = 0; i < NAME_FIRST_ORDER; i++) printf("%.17g ", s.p[i]);
    printf("\n");
    for (int i = 0; i < NAME_INPUTS; i++)
      if (scanf("%lf", &u[i]) != 1) return printf("%d %d\n", n, other) < 0;
    other += name_step(&s, u, name_nominal) != NAME_OK;
    n++;
  }
}
END

# columns PATTERN: of truth.csv, one line a row
columns() {
  awk -F, -v pattern="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ pattern) column[++n] = i; next }
    { for (k = 1; k <= n; k++) printf "%s ", $column[k]; print "" }' truth.csv
}

# compare NAME MACHINE: tolerances of the iteration so tight that both ways close alike
compare() {
  sed 's/^integrator:.*/integrator: {step: 1 ms, position_tolerance: 1e-11, pressure_tolerance: 1e-5 Pa}/' "$2" >"$1.yaml"
  run 0 compile "$1.yaml" --output generated
  quiet err
  says out "generated/$1.h: "
  says out "$1_step: 0.001 s; "
  run 0 simulate "$1.yaml" --duration '1 s' --output truth.csv
  sed "s/name_/$1_/g; s/name\.h/$1.h/; s/NAME_/$(echo "$1" | tr '[:lower:]' '[:upper:]')_/g" main.in >main.c
  # CC may hold a compiler with a cache before it, warnings are a list
  # shellcheck disable=SC2086
  ${BRAMAH_CC:-cc} $warnings -Igenerated -o steps main.c "generated/$1.c" -lm 2>err || fail "$1: compiler"
  columns '[.]command[[]' | head -n 1000 | ./steps >steps.txt
  same "$(tail -n 1 steps.txt)" '1000 0' "$1: steps that are not NAME_OK"
  columns '[.](angle|position|pressure)[[]' >truth.txt
  same "$(awk 'NR == 1 { print NF }' steps.txt)" "$(awk 'NR == 1 { print NF }' truth.txt)" "$1: columns"
  sed '$d' steps.txt | paste -d ' ' - truth.txt | awk '
    { n = NF / 2
      for (i = 1; i <= n; i++) {
        apart = $i - $(n + i); if (apart < 0) apart = -apart
        size = $(n + i) < 0 ? -$(n + i) : $(n + i)
        if (size > largest[i]) largest[i] = size
        if (apart > worst[i]) worst[i] = apart
      } }
    END {
      if (NR != 1001) { print NR " rows"; exit 1 }
      for (i = 1; i <= n; i++) if (!(worst[i] <= 1e-9 * largest[i])) { print "column", i, worst[i], "of", largest[i]; bad = 1 }
      exit bad }' >err || fail "$1: apart from simulate"

  # A small computer: nothing is asked for but square roots and the like.
  if command -v arm-none-eabi-gcc >/dev/null; then
    # shellcheck disable=SC2086
    arm-none-eabi-gcc -mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard -mthumb $warnings -c "generated/$1.c" -o arm.o 2>err ||
      fail "$1: cross compiler"
    arm-none-eabi-nm -u arm.o | awk '$2 !~ /^(sqrt|fabs|copysign|memcpy|memset)$/ { print; bad = 1 } END { exit bad }' >err ||
      fail "$1: asks for more"
  fi
}
compare four_bar "$machine"
compare crane "$source_root/datasets/crane/crane.yaml"

# Names, and what cannot be written.
run 0 compile "$machine" --output other --name 'Boom 2' --step '2 ms'
says out 'other/boom_2.c: '
says out 'boom_2_step: 0.002 s; '
run 1 compile "$machine" --output other --name 123
says err 'a name with a letter in it is needed'
run 1 compile "$machine" --output no/such/folder
says err 'cannot make this folder'
run 2 compile "$machine"
says err "option '--output' is missing"
run 2 compile "$machine" --ouput x
says err "did you mean '--output'?"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# All machines in all ways: instructions of a unit of work by callgrind, then times beside them, the spread of a cycle's
# instructions, and growth. Without valgrind times only. usage: bench_compiled.sh BENCH_COMPILED
set -eu
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BENCH_FOLDER="$folder"
[ "$(uname -m)" != x86_64 ] || export BENCH_PROCESSOR=x86-64-v3 # valgrind knows no wider vectors

# Nor native code with these: under valgrind it is compiled for that processor, too.
compiler=${CC:-cc}
if [ -n "${BENCH_PROCESSOR:-}" ]; then
  cat >"$folder/cc" <<END
#!/bin/sh
for word; do
  shift
  case \$word in -march=native) word=-march=$BENCH_PROCESSOR ;; esac
  set -- "\$@" "\$word"
done
exec $compiler "\$@"
END
  chmod +x "$folder/cc"
  compiler=$folder/cc
fi

# instructions KEY N: of N units. spread KEY N: median, p99.9 and largest of N units after 100 others, each dumped by itself
instructions() {
  CC=$compiler XDG_CACHE_HOME=$folder valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect=bench_unit "$bench" run "$1" "$2" \
    >"$folder/out" 2>&1 && sed -n 's/.*Collected : //p' "$folder/out"
}
spread() {
  rm -rf "$folder/units" && mkdir "$folder/units"
  CC=$compiler XDG_CACHE_HOME=$folder valgrind --tool=callgrind --callgrind-out-file="$folder/units/unit" --collect-atstart=no --toggle-collect=bench_unit \
    --dump-before=bench_unit "$bench" run "$1" $(($2 + 100)) >"$folder/out" 2>&1 || true
  [ -f "$folder/units/unit.$(($2 + 100))" ] || return 0
  for i in $(seq 102 $(($2 + 100))); do sed -n 's/^totals: //p' "$folder/units/unit.$i"; done | sort -n | awk -v key="$1" '
    { n[NR] = $1 } END { m = n[int((NR + 1) / 2)]; p = n[int(0.999 * NR + 0.999)]
      printf "%-44s %10d %10d %10d %8.2f", key, m, p, n[NR], p / m }'
  echo " $(sed -n 's/^allocated//p' "$folder/out")"
}

if command -v valgrind >/dev/null; then
  # native code in lanes is made in the background, and not there yet in so short a run
  for key in $("$bench" list | grep -v native_x); do
    n=$(instructions "$key" 100) || n=
    [ "${n:-0}" = 0 ] || echo "$key $((n / 100))"
  done | tee "$folder/instructions"
fi
"$bench" table "$folder/instructions"
if command -v valgrind >/dev/null; then
  printf '\n%-44s %10s %10s %10s %8s  %s\n' 'instructions of a cycle' median p99.9 most ratio 'bytes allocated'
  for key in four-bar/cycle/tape four-bar/cycle/C four-bar/cycle+7/tape four-bar/cycle+budget/tape \
    four-bar/cycle+budget/native four-bar/cycle+budget/C crane/cycle/tape; do
    spread "$key" 1000
  done
fi
echo
"$bench" growth

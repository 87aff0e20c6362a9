#!/bin/sh
# Logs made dirty in every way that a study can describe, alone and in pairs: the estimate is that of the clean log where that is
# possible, else a message names row and column. No crash, no silent shift in time.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
dirty=$source_root/test/cli/dirty.awk
make_log 0.2

has() {
  case " $faults " in *" $1 "*) return 0 ;; esac
  return 1
}

# make_study: what the study has to say about the faults.
make_study() {
  encoder='' gyro='' p1='' p2='' p3='' time='' log='' command='{}'
  if has nounits; then
    encoder=', unit: rad' gyro=', unit: rad/s' p1=', unit: Pa' p2=', unit: Pa' p3=', unit: Pa' command='{unit: V}'
    time=', unit: s'
  fi
  if has noheader; then
    encoder=', column: 3, unit: rad' gyro=', column: 4, unit: rad/s' p1=', column: 5, unit: Pa' p2=', column: 6, unit: Pa'
    p3=', column: 7, unit: Pa' command='{column: 2, unit: V}' time=', column: 1, unit: s' log='header: none, '
  fi
  if has counts; then encoder=', unit: counts, scale: 0.01 deg, offset: 0.5 rad, sign: -1'; fi
  if has wrap; then encoder="$encoder, offset: 20 deg, wrap: 40 deg"; fi
  if has gauge; then p1="$p1, reference: gauge"; fi
  if has volts; then p2="$p2, scale: 50 bar/V"; fi
  if has counter; then time=', rate: 1 kHz, origin: 1 s'; fi
  if has clockwrap; then time=', rate: 1 kHz, wrap: 128'; fi
  if has offset; then time=', offset: -100 s'; fi
  if has drift; then time=', drift: 200 ppm'; fi
  if has late; then log="${log}reorder: 5 ms, "; fi
  if has straggler; then log="${log}reorder: 2 ms, "; fi
  if has reset || has join; then log="${log}resets: join, "; fi
  if has skip; then log="${log}skip: 3, "; fi
  if has missing; then log="${log}missing: NaN, "; fi
  if has skipcells; then log="${log}bad_cells: skip, "; fi
  if has skiprows; then log="${log}bad_rows: skip, "; fi
  if has stated; then log="${log}delimiter: semicolon, decimal: comma, "; fi
  {
    sed -n '/^study/,/^sensors/p' "$study" | sed -e "s|^machine: .*|machine: $machine|" -e '/^sensors/d'
    echo "time: {${time#, }}" | sed 's/^time: {}$//'
    echo "log: {${log%, }}" | sed 's/^log: {}$//'
    [ "$command" = '{}' ] || echo "inputs: {valve: $command}"
    echo 'sensors:'
    echo "  crank_encoder: {type: encoder, joint: crank, sigma: 1 deg, rate: 1 kHz$encoder}"
    echo "  crank_gyro: {type: gyro, joint: crank, sigma: 9.84e-4 rad/s, rate: 1 kHz$gyro}"
    echo "  p1: {type: pressure, volume: v1, sigma: 0.5 bar, rate: 1 kHz$p1}"
    echo "  p2: {type: pressure, volume: v2, sigma: 0.5 bar, rate: 1 kHz$p2}"
    echo "  p3: {type: pressure, volume: v3, sigma: 0.5 bar, rate: 1 kHz$p3}"
    sed -n '/^joints/,$p' "$study"
  } >dirty.yaml
}

make_dirty() {
  rm -rf second.csv
  awk -F, -v faults="$faults" -v second=second.csv -f "$dirty" log.csv >dirty.csv
  make_study
  operands=dirty.csv
  [ ! -e second.csv ] || operands='dirty.csv second.csv'
}

# reference NAME FAULTS: the estimate of a log that has lost something in plain sight.
reference() {
  awk -F, -v faults="$2" -f "$dirty" log.csv >"$1-log.csv"
  run 0 replay "$study" "$1-log.csv" --output "$1.csv"
}
reference clean ''
reference gap lostgap
reference cell lostcell
reference row lostrow
cmp -s clean.csv gap.csv && fail 'the gap changes nothing'
cmp -s clean.csv cell.csv && fail 'the cell changes nothing'

# Every cell within 2e-5 of the largest value of its column: the last digit written may differ.
agree() {
  cmp -s "$1" "$2" && return
  awk -F, -v OFS=, 'NR == FNR { for (i = 1; i <= NF; i++) { a[FNR, i] = $i; v = $i < 0 ? -$i : $i + 0
        if (FNR > 1 && v > top[i]) top[i] = v } lines = FNR; next }
    { for (i = 1; i <= NF; i++) { d = a[FNR, i] - $i; if (d < 0) d = -d
        if (FNR == 1 ? a[1, i] != $i : d > 2e-5 * top[i] || (a[FNR, i] == "") != ($i == "")) {
          print "line " FNR ", cell " i ": " a[FNR, i] " is not " $i; bad = 1; exit } } }
    END { if (!bad && FNR != lines) { print lines " lines and " FNR; bad = 1 } exit bad }' "$1" "$2"
}

agree clean.csv cell.csv >difference && fail 'the comparison finds nothing'
logs=0
# same_as REFERENCE FAULT...
same_as() {
  reference=$1
  shift
  faults="$*"
  make_dirty
  # $operands are one or two files
  # shellcheck disable=SC2086
  run 0 replay dirty.yaml $operands --output estimate.csv
  agree "$reference.csv" estimate.csv >difference || fail "$faults: $(cat difference)"
  logs=$((logs + 1))
}

# refused PLACE MESSAGE FAULT...: exit code 1, and the same message from check.
refused() {
  place=$1 message=$2
  shift 2
  faults="$*"
  make_dirty
  # shellcheck disable=SC2086
  run 1 replay dirty.yaml $operands --output estimate.csv
  says err "bramah: $place"
  says err "$message"
  grep -F "bramah: $place" err | head -n 1 >wanted
  # shellcheck disable=SC2086
  run 1 check dirty.yaml $operands
  grep -qF "$(cat wanted)" err || fail "$faults: check and replay say different things"
  logs=$((logs + 1))
}

# ---- alone ----

for fault in semicolon tab blank 'decimal' 'decimal tab' 'decimal blank' 'decimal stated' bom crlf comment emptyline quoted text \
  units unitsrow nounits noheader skip counts wrap gauge volts ms iso counter clockwrap offset drift repeat late reset parts split \
  events 'events missing' 'events blank missing'; do
  # shellcheck disable=SC2086
  same_as clean $fault
done
same_as gap gap
same_as cell badcell skipcells
same_as cell nan skipcells
same_as row badrow skiprows
same_as row notime skiprows
same_as row badtime skiprows

# ---- what is said ----

faults='repeat' && make_dirty && run 0 replay dirty.yaml dirty.csv --output estimate.csv --json summary.json
says out 'rows that repeat the one before, dropped'
grep -q '"repeated": 10' summary.json || fail 'the JSON does not count what was dropped'
faults='late' && make_dirty && run 0 replay dirty.yaml dirty.csv --output estimate.csv --report report.html
grep -Eq 'dirty.csv +rows put in order, at most 3 ms late +7 +line 11' out || fail 'late rows are not told'
grep -q 'rows put in order' report.html || fail 'late rows are not in the report'
faults='gap' && make_dirty && run 0 check dirty.yaml dirty.csv
grep -Eq 'gaps, 30 rows of 1 ms missing +1 +line 81: 31 ms' out || fail 'the gap is not told'
faults='reset' && make_dirty && run 0 check dirty.yaml dirty.csv
grep -Eq 'times the clock began anew, joined +1 +line 152' out || fail 'the reset is not told'
faults='clockwrap' && make_dirty && run 0 check dirty.yaml dirty.csv
grep -Eq 'wraps of the clock +1' out || fail 'the wrap is not told'
faults='iso' && make_dirty && run 0 check dirty.yaml dirty.csv
says out 'time: dates; 0 s is 2024-02-29T23:59:59.9Z'
faults='decimal badcell skipcells' && make_dirty && run 0 check dirty.yaml dirty.csv
says out 'cells between semicolons'
says out 'decimal commas'
grep -Eq 'bad cells, taken for empty +1 +line 61' out || fail 'the bad cell is not told'
faults='counts' && make_dirty && run 0 check dirty.yaml dirty.csv
says out 'crank_encoder = 28.6478898 deg - 0.01 deg x crank_encoder'

# ---- refused, with row and column ----

refused dirty.csv:61: "crank_gyro: 'broken' is not a number" badcell
refused dirty.csv:61: "crank_gyro: 'nan' is not a finite number" nan
refused dirty.csv:61: 'cells where the header has 7' badrow
refused dirty.csv:61: 't: the time of this row is missing' notime
refused dirty.csv:61: "t: 'noon' is not a number" badtime
refused dirty.csv:61: "crank_gyro: '" decimal mixed
refused dirty.csv:61: 't: time jumps ahead further than the longest gap' jump
refused dirty.csv:62: 't: time does not go forward: 0.06 s after 3.059 s; it jumped ahead after line 60' spike
refused dirty.csv:62: 'it jumped ahead after line 60' spike join
refused dirty.csv:62: "but there 'p1' is" contradiction
refused dirty.csv:11: 't: time does not go forward' straggler
refused dirty.csv:11: 'it jumped ahead after line 7' straggler join
refused dirty.csv:203: 'the file ends in the middle of line 203' cut
faults='nounits' && make_dirty
sed '1s/^t,/t[s],/' dirty.csv >dirty-2.csv
run 1 replay "$study" dirty-2.csv --output estimate.csv
says err 'bramah: dirty-2.csv:1:'
says err 'the column has no unit'
faults='reset' && make_dirty && sed 's/resets: join//' dirty.yaml >strict.yaml
run 1 replay strict.yaml dirty.csv --output estimate.csv
says err 'bramah: dirty.csv:152: t: time does not go forward: 0 s after 0.149 s'
faults='' && make_dirty && cp dirty.csv twin.csv && sed '1s/p3/p4/' dirty.csv >other.csv
run 1 replay dirty.yaml twin.csv other.csv --output estimate.csv
says err 'has a column of that name too'
faults='iso split' && make_dirty && awk -F, -v faults=split -v second=plain.csv -f "$dirty" log.csv >/dev/null
run 1 replay dirty.yaml dirty.csv plain.csv --output estimate.csv
says err 'these times have a date, those of plain.csv do not'

# ---- in pairs ----

excluded() {
  case " $1 $2 " in
  ' ms iso ' | ' ms counter ' | ' ms drift ' | ' iso counter ' | ' iso drift ' | ' counter drift ') return 0 ;; # one clock
  ' units counts ' | ' semicolon decimal ' | ' iso reset ' | ' drift reset ' | ' split parts ') return 0 ;;
  esac
  return 1
}
list='semicolon decimal bom crlf comment quoted units counts gauge ms iso counter drift repeat late gap reset split parts'
rest=$list
for a in $list; do
  rest=${rest#* }
  [ "$a" != parts ] || break
  for b in $rest; do
    excluded "$a" "$b" && continue
    case " $a $b " in *' gap '*) same_as gap "$a" "$b" ;; *) same_as clean "$a" "$b" ;; esac
  done
done
[ "$logs" -ge 150 ] || fail "only $logs logs"
echo "$logs logs"

# What was left out is told too where the replay ends before the log.
faults='badcell skipcells'
make_dirty
run 0 replay dirty.yaml dirty.csv --output estimate.csv --to 0.19
says out 'bad cells, taken for empty'

#!/bin/sh
# Two files against each other: pairs of rows, differences, tolerances, exit codes.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

# json PATH: a value of result.json, read by a reader that is not ours; the path in the syntax of python.
json() {
  python3 -c 'import json, sys; print(json.dumps(eval("d" + sys.argv[1], {"d": json.load(open("result.json"))})))' "$1"
}

# ---- figures by hand ----

cat >a.csv <<'END'
t[s],x[m],x.sigma[m],angle[deg],p[bar],alone,count
0,1,0.1,10,1,1,1
0.1,2,0.2,20,2,1,2
0.2,3,0.3,30,,1,3
0.3,4,0.4,180,4,1,4
END
# Other units and another order; a row more before and after, none at 0.2 s.
cat >b.csv <<'END'
t[ms],count,p[Pa],angle[rad],x[mm],other
-50,0,0,0,0,0
0,1,100000,0.17453292519943295,1000,0
100,2,250000,0.34906585039886590,2100,0
150,0,0,0,0,0
300,4,,-3.1415926535897931,3400,0
400,0,0,0,0,0
END
run 4 compare a.csv b.csv --json result.json
says out 'pairs of rows: 3'
says out 'columns of A alone: x.sigma alone'
says out 'columns of B alone: other'
says out 'rows without a partner: 0 before the other file begins, 1 between, 0 after it ends'
says out 'rows without a partner: 1 before the other file begins, 1 between, 1 after it ends'
says out 'cells empty in one file only: 0 in A, 1 in B'
says out 'columns without any difference: 1 of 4'
says out 'first beyond the tolerance: t = 0.1 s, x: 2000 and 2100 mm, 100 apart, tolerated 0'
says out 'verdict: different'
# x differs by 0, 0.1 and 0.6 m: RMS sqrt(0.37 / 3); in sigmas 0, 0.5 and 1.5: sqrt(2.5 / 3).
grep -Eq '^  x +mm +3 +351\.2 +600 +0\.3 +0\.9129 +1\.5 +2 from 0\.1 s on$' out || fail 'the row of x'
grep -Eq '^  p +bar +2 +0\.3536 +0\.5 +0\.1 +1 from 0\.1 s on$' out || fail 'the row of p'
grep -Eq '^  angle +deg +3 +207\.8 +360 +0\.3 +1 from 0\.3 s on$' out || fail 'the row of the angle'
near "$(json '["columns"][0]["rms"]')" 0.351188458 1e-8 'RMS in JSON, SI'
near "$(json '["columns"][0]["largest_sigmas"]')" 1.5 1e-12 'largest in sigmas'
same "$(json '["columns"][0]["largest_time"]')" 0.3 'when'
same "$(json '["first_beyond"]["column"]')" '"x"' 'the first column'
same "$(json '["first_beyond"]["time"]')" 0.1 'the first time'
same "$(json '["a"]["alone"]["between"]')" 1 'rows alone'
same "$(json '["b"]["columns_alone"]')" '["other"]' 'columns alone'
same "$(json '["same"]')" false 'verdict in JSON'
same "$(json '["exit_code"]')" 4 'exit code in JSON'

# ---- tolerances ----

run 0 compare a.csv b.csv --turns --tolerance 'x=60.01 cm' --tolerance 'p=0.501 bar' --tolerance 'angle=1e-9 deg'
says out 'verdict: the same within tolerance'
run 4 compare a.csv b.csv --turns --tolerance 'x=599 mm' --tolerance 'p=0.501 bar' --tolerance 'angle=1e-9 deg'
says out 'first beyond the tolerance: t = 0.3 s, x: 4000 and 3400 mm, 600 apart, tolerated 599'
# Of the largest magnitude: 0.6 m of 4 m is 15 %, 0.5 bar of 4 bar 12.5 %.
run 0 compare a.csv b.csv --column x --relative 0.151
run 4 compare a.csv b.csv --column x --relative 0.149
run 0 compare a.csv b.csv --column p --relative 0.126
run 4 compare a.csv b.csv --column p --relative 0.124
# In sigmas, of A or, where it has none, of B.
run 0 compare a.csv b.csv --column x --sigmas 1.51
run 4 compare a.csv b.csv --column x --sigmas 1.49
run 4 compare b.csv a.csv --column x --sigmas 1.49
# The pressure has none: it is told, not judged.
run 0 compare a.csv b.csv --column x --column p --sigmas 2
grep -Eq '^  p .* not judged$' out || fail 'a column without sigma is judged'
run 4 compare a.csv b.csv --column x --column p --sigmas 2 --tolerance 'p=0.4 bar'
# The largest counts.
run 0 compare a.csv b.csv --column x --sigmas 0.1 --tolerance 'x=0.6001 m'

# ---- windows, partners, what is missing ----

run 0 compare a.csv b.csv --column x --to 0.05
says out 'pairs of rows: 1'
run 0 compare a.csv a.csv --all
run 4 compare a.csv b.csv --all --column count
says out 'B lacks something that A has'
run 0 compare a.csv b.csv --column count
awk -F, -v OFS=, '{ print } END { print 0.4, 5, 0.5, 0, 5, 1, 5 }' a.csv >longer.csv
run 0 compare a.csv longer.csv --all
run 4 compare longer.csv a.csv --all
run 0 compare longer.csv a.csv
# Rows 0.2 ms and more beside each other: none is taken for another unless it is asked for, then the nearest, each once.
awk -F, -v OFS=, 'NR > 1 { $1 += 0.0002 * NR } { print }' a.csv >beside.csv
run 1 compare a.csv beside.csv
says err 'no row of a.csv (0 to 0.3 s) has a partner in beside.csv (0.0004 to 0.301 s); a distance (within) takes the nearest'
run 0 compare a.csv beside.csv --within '1 ms'
says out 'pairs of rows: 4, at most 0.001 s apart'
run 0 compare a.csv beside.csv --within '0.7 ms'
says out 'pairs of rows: 2, at most 0.0006 s apart'
awk -F, -v OFS=, 'NR == 1 { print; next } { t = $1; $1 = t - 0.02; print; $1 = t + 0.01; $2 = "9"; print }' a.csv >dense.csv
run 4 compare a.csv dense.csv --within 0.05 --column x
says out 'pairs of rows: 4, at most 0.01 s apart'
says out 'rows without a partner: 1 before the other file begins, 3 between, 0 after it ends'

# A run against the truth, at another rate; through a pipe.
make_log 0.3
run 0 replay "$study" log.csv --output estimate.csv
run 0 replay "$study" log.csv --output tenth.csv --every 10
run 0 compare tenth.csv estimate.csv --all
says out 'pairs of rows: 31'
run 0 compare - estimate.csv --all <tenth.csv
run 0 compare tenth.csv - --json - <estimate.csv
cp out result.json
same "$(json '["same"]')" true 'JSON on standard output'
says err 'verdict: the same'
run 0 compare estimate.csv truth.csv --sigmas 5 --column crank.angle --column crank.rate --column v1.pressure
run 4 compare estimate.csv truth.csv --sigmas 0.5 --column crank.angle

# ---- wrong use, bad files ----

run 1 compare a.csv missing.csv
says err 'missing.csv'
# Both have standard deviations: those of A judge. A alone has none: those of B.
printf 't[s],x[m],x.sigma[m]\n0,1,0.1\n' >narrow.csv
printf 't[s],x[m],x.sigma[m]\n0,2,10\n' >wide.csv
run 4 compare narrow.csv wide.csv --sigmas 3 --json result.json
same "$(json '["columns"][0]["largest_sigmas"]')" 10 'sigmas of A'
run 0 compare wide.csv narrow.csv --sigmas 3
cut -d, -f1,2 narrow.csv >none.csv
run 0 compare none.csv wide.csv --sigmas 3 --json result.json
same "$(json '["columns"][0]["largest_sigmas"]')" 0.1 'sigmas of B'
# An empty cell of B is a difference with --all only, one of A is none.
printf 't[s],x[m],y[m]\n0,1,1\n1,1,\n' >holes.csv
printf 't[s],x[m],y[m]\n0,1,1\n1,1,1\n' >full.csv
run 0 compare full.csv holes.csv
run 4 compare full.csv holes.csv --all
says out 'B lacks something that A has'
run 0 compare holes.csv full.csv --all

# The largest magnitude is that of either file.
for pair in 'none.csv wide.csv' 'wide.csv none.csv'; do
  # shellcheck disable=SC2086
  run 0 compare $pair --relative 0.501
  # shellcheck disable=SC2086
  run 4 compare $pair --relative 0.499
done

# Counts have no unit, but may be compared; of a unit nobody knows the place is told.
printf 't[s],n[counts],x[-]\n0,1,2\n1,5,2\n' >counts.csv
sed 's/5/7/; s/counts/-/' counts.csv >more.csv
run 4 compare counts.csv more.csv
says out 'first beyond the tolerance: t = 1 s, n: 5 and 7'
run 0 compare counts.csv more.csv --tolerance n=2
sed 's/counts/furlong/' counts.csv >strange.csv
run 1 compare strange.csv counts.csv
says err "bramah: strange.csv:1:6: n: unknown unit 'furlong'"

run 1 compare a.csv b.csv --column y
says err "a.csv:1: y: the log has no column 'y'"
run 1 compare a.csv b.csv --column alone
says err "b.csv:1: alone: the log has no column 'alone'"
sed '1s/x\[mm\]/x[N]/' b.csv >force.csv
run 1 compare a.csv force.csv
says err 'force.csv:1:30: x: the column is in N; expected a unit like m'
run 1 compare a.csv b.csv --time clock
run 1 compare a.csv b.csv --from 5
says err 'a.csv: the file has no row within the times asked for'
printf 't[s],y\n0,1\n' >foreign.csv
run 1 compare a.csv foreign.csv
says err 'foreign.csv: no column has the name of one in a.csv'
sed 's/^0.2,/0.05,/' a.csv >back.csv
run 1 compare back.csv a.csv
says err 'back.csv:4: t: time does not go forward'

# ---- both over each other ----

run 4 compare a.csv b.csv --column x --column p --sigmas 1.49 --report over.html
says out 'verdict: different'
grep -q '<section id="answer" class="wrong"' over.html || fail 'the page does not say that they differ'
grep -q '<p class="reason">First at .* in x: ' over.html || fail 'the page does not say where'
grep -A3 '<section id="first">' over.html | grep -qF '<strong>x</strong>' || fail 'the column that differs is not the first'
grep -q 'a.csv</span>' over.html && grep -q 'b.csv</span>' over.html || fail 'the legend does not name the files'
run 4 compare a.csv b.csv --report over.html
grep -q 'They differ; no tolerance was given' over.html || fail 'a difference without tolerance is judged'
run 0 compare a.csv a.csv --report over.html
grep -q '<section id="answer" class="fine"' over.html || fail 'the page does not say that they are the same'
cp a.csv kept.csv
run 1 compare a.csv b.csv --report a.csv
cmp a.csv kept.csv || fail 'an input was overwritten'

run 1 compare a.csv b.csv --json b.csv
[ "$(lines b.csv)" -eq 7 ] || fail 'an input was overwritten'
run 2 compare a.csv
run 2 compare - -
says err 'only one of the files can be standard input'
run 2 compare - b.csv --relative 1e-3 <a.csv
run 2 compare a.csv b.csv --tolerance 'x=1 bar'
says err '--tolerance x: 1 bar is a pressure'
run 2 compare a.csv b.csv --tolerance x
run 2 compare a.csv b.csv --tolerance 'y=1 m'
says err "--tolerance: no column 'y' is compared"
run 2 compare a.csv b.csv --tolerance 'x=-1 m'
run 2 compare a.csv b.csv --relative -1
run 2 compare a.csv b.csv --sigmas much

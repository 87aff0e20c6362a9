#!/bin/sh
# Logs and estimates as MAT, MCAP, MDF 4 and CAN: the same estimates as from CSV, bit by bit, and what is said about units and damage.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

to_mat=${BRAMAH_CSV_TO_MAT:?the program that makes a MAT file of a log}
head -n 402 "$source_root/datasets/four-bar/log.csv" >log.csv
"$to_mat" log.csv log.mat

run 0 check "$study" log.mat
says out 'log: log.mat'
says out 'MAT file of version 5'
says out 'valve.command[V]'

# From the log in one format and in the other.
run 0 replay "$study" log.csv --output csv.csv --smooth csv-smooth.csv
grep -v -e speed -e 'log\.' -e csv out >csv-summary
run 0 replay "$study" log.mat --output mat.csv --smooth mat-smooth.csv
grep -v -e speed -e 'log\.' -e csv out >mat-summary
cmp csv.csv mat.csv || fail 'other estimates from a MAT file'
cmp csv-smooth.csv mat-smooth.csv || fail 'other smoothed estimates from a MAT file'
cmp csv-summary mat-summary || fail 'another summary from a MAT file'

# The same as MCAP; its estimates hold all digits, and no more is lost of a run that is killed than of CSV.
"$to_mat" log.csv log.mcap
run 0 check "$study" log.mcap
says out 'MCAP file'
run 0 replay "$study" log.mcap --output mcap.csv --smooth mcap-smooth.csv
cmp csv.csv mcap.csv || fail 'other estimates from an MCAP file'
cmp csv-smooth.csv mcap-smooth.csv || fail 'other smoothed estimates from an MCAP file'
# The same as MDF 4, and as frames of CAN with doubles; and as scaled whole numbers, within what their resolution allows.
"$to_mat" log.csv log.mf4
run 0 replay "$study" log.mf4 --output mdf.csv --smooth mdf-smooth.csv
cmp csv.csv mdf.csv || fail 'other estimates from an MDF file'
cmp csv-smooth.csv mdf-smooth.csv || fail 'other smoothed estimates from an MDF file'
if command -v python3 >/dev/null; then
  python3 - <<'END'
import csv, struct
rows = list(csv.reader(open("log.csv")))
names = [cell.rstrip("]").replace(".", "_").split("[") for cell in rows[0][1:]]
steps = dict(valve_command=1e-3, crank_encoder=1e-4, crank_gyro=1e-5, p1=100, p2=100, p3=100)
for kind in "doubles", "scaled":
    wide = kind == "doubles"
    with open(kind + ".dbc", "w") as f:
        for i, (name, unit) in enumerate(names):
            form = "64@1- (1,0)" if wide else "32@1- (%g,0)" % steps[name]
            f.write('BO_ %d M%d: 8 X\n SG_ %s : 0|%s [0|0] "%s" X\n' % (256 + i, i, name, form, unit))
        f.writelines("SIG_VALTYPE_ %d %s : 2;\n" % (256 + i, name) for i, (name, _) in enumerate(names) if wide)
    with open(kind + ".asc", "w") as f:
        f.write("base hex timestamps absolute\n")
        for row in rows[1:]:
            for i, cell in enumerate(row[1:]):
                value = float(cell)
                data = struct.pack("<d", value) if wide else struct.pack("<iI", round(value / steps[names[i][0]]), 0)
                f.write("%.6f 1 %x Rx d 8 %s\n" % (float(row[0]), 256 + i, data.hex(" ")))
END
  for kind in doubles scaled; do
    sed "s|^machine: .*|machine: $machine|" "$study" >$kind.yaml
    printf 'log: {dbc: %s.dbc}\ninputs: {valve: {column: valve_command}}\n' $kind >>$kind.yaml
    run 0 replay $kind.yaml $kind.asc --output $kind.csv
  done
  cmp csv.csv doubles.csv || fail 'other estimates from CAN frames with doubles'
  # An estimate weighs what was measured: it is off by less than a step of a sensor of its kind.
  awk -F, 'function off(i) { return a[FNR, i] > $i ? a[FNR, i] - $i : $i - a[FNR, i] }
    NR == FNR { for (i = 1; i <= NF; i++) a[FNR, i] = $i; next }
    FNR == 1 { for (i = 1; i <= NF; i++) step[i] = $i == "crank.angle[rad]" ? 1e-4 : $i ~ /^v[123].pressure.Pa.$/ ? 100 : 0; next }
    { for (i = 1; i <= NF; i++) if (step[i]) { n++; if (off(i) > step[i]) { print FNR, i, off(i); bad = 1; exit }; if (off(i) > 0) differs = 1 } }
    END { exit bad || !differs || n != 4 * (FNR - 1) }' csv.csv scaled.csv || fail 'estimates from scaled CAN frames'
fi

run 0 replay "$study" log.csv --output estimate.mcap
run 0 compare estimate.mcap csv.csv --relative 1e-4
run 0 simulate "$machine" --duration 0.2 --step 0.001 --output truth.mcap --noise "$study" --seed 3 --log noisy.mcap
run 0 replay "$study" noisy.mcap --truth truth.mcap --output noisy-estimate.mcap
says out 'rows: 201 from the log'

# Estimates into MAT files, and compared with what CSV holds of them: ten digits.
run 0 replay "$study" log.csv --output estimate.mat --smooth smooth.mat
run 0 compare estimate.mat csv.csv --relative 1e-4
run 0 compare smooth.mat csv-smooth.csv --relative 1e-4
same "$(find . -name '*rows-*' | head -n 1)" '' 'files left behind'

# Simulated ones, and truth.
run 0 simulate "$machine" --duration 0.2 --step 0.001 --output truth.mat --noise "$study" --seed 3 --log noisy.mat
run 0 replay "$study" noisy.mat --truth truth.mat --output noisy-estimate.mat
says out 'rows: 201 from the log'

# A folder may hold them.
mkdir run1
cp log.mat run1
run 0 replay "$study" run1 --output folder.csv
cmp csv.csv folder.csv || fail 'other estimates from a folder'

# Without units, as MATLAB saves variables: an error that says what to do, unless the study states them.
"$to_mat" log.csv bare.mat bare
run 1 replay "$study" bare.mat --output out.csv
says err 'bramah: bare.mat: t: the column has no unit; expected a unit like s: state it in the study (time: {column: t, unit: s})'
sed -e "s|^machine: .*|machine: $machine|" -e 's/joint: crank, sigma: 1 deg/&, unit: rad/' \
  -e 's|joint: crank, sigma: 9.84e-4 rad/s|&, unit: rad/s|' -e 's/sigma: 0.5 bar, rate/unit: Pa, &/' "$study" >own.yaml
printf 'time: {unit: s}\ninputs: {valve: {column: valve_command, unit: V}}\n' >>own.yaml
run 0 check own.yaml bare.mat
run 0 replay own.yaml bare.mat --output own.csv
cmp csv.csv own.csv || fail 'other estimates from a MAT file whose units the study states'

# Cut while it was copied.
head -c 20000 log.mat >cut.mat
run 1 replay "$study" cut.mat --output out.csv
says err 'bramah: cut.mat: the file ends in the middle of a variable: it was cut, or is damaged'
# Rows are counted, not lines.
awk -F, -v OFS=, 'NR == 9 { $1 = 0 } { print }' log.csv >back.csv
"$to_mat" back.csv back.mat
run 1 replay "$study" back.mat --output out.csv
says err 'bramah: back.mat:8: t: time does not go forward'
awk 'NR != 9' log.csv >gap.csv
"$to_mat" gap.csv gap.mat
run 0 replay "$study" gap.mat --output out.csv
grep -Eq 'gap.mat +gaps, .* row 7' out || fail 'the row before the gap is not told'

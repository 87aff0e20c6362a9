#!/bin/sh
# FMUs: what is refused and why; where Python has FMPy, what it finds wrong with them (nothing). What they compute: test/unit/test_fmu.c.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

run 2 fmu "$machine"
says err "option '--output' is missing"
run 2 fmu "$machine" --output x.fmu --fmi 4
says err 'the version of FMI is 2 or 3'
cp "$machine" own.yaml
run 1 fmu own.yaml --output own.yaml
says err 'would be overwritten'
run 1 fmu own.yaml --output no/such/folder.fmu
says err 'no/such/folder.fmu'
run 2 fmu own.yaml --output -
run 1 fmu "$source_root/datasets/four-bar/hypotheses.yaml" --output x.fmu
if grep -q 'built without libzip' err; then exit 77; fi
says err 'hypotheses: one filter is written as an FMU, not several that are weighed'
run 1 fmu "$source_root/datasets/linearization-four-bar/unknown-torque.yaml" --output x.fmu
says err 'its samples come late, which an FMU does not know'
run 1 fmu "$source_root/datasets/crates/crates.yaml" --output x.fmu
says err 'contacts between bodies are not written as C'
CC=no-such-compiler run 1 fmu "$machine" --output x.fmu
says err 'no-such-compiler: the C compiler, which makes the binary of an FMU, cannot be started'
CC=false run 1 fmu "$machine" --output x.fmu
says err 'false: the C compiler has failed'
[ ! -e x.fmu ] || fail 'an FMU in spite of all'

python3 -c 'import fmpy' 2>/dev/null || exit 0
for version in 2 3; do
  run 0 fmu "$machine" --output "$version.fmu" --fmi "$version"
  python3 -c 'import sys, fmpy.validation
problems = fmpy.validation.validate_fmu(sys.argv[1])
sys.exit("\n".join(problems))' "$version.fmu" 2>err || fail "FMPy, version $version"
done

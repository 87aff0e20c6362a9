#!/bin/sh
# check tells every mistake of a file, not the first only.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

cat >ten.yaml <<'END'
machine: more than ten mistakes
gravity: [0, -9.81, 0 m]
bodies:
  crank: {mass: -16 kg, centre_of_mas: [1, 0, 0 m]}
  coupler: {mass: 64 bar}
joints:
  crank: {type: revolut, parent: ground, child: crank, axis: [0, 0, 0]}
  coupler: {type: revolute, parent: crnk, child: coupler, axis: [0, 0, 1], initial: sixty deg}
hydraulics:
  oil: {density: 850 kg/m^3}
  supplies: {pump: {pressure: 7.6 MPa}}
  volumes:
    v1: {pressure: 30, hoses: [{volume: 1 cm, bulk_modulus: 550 MPa}]}
  orifices:
    t: {from: v1, to: tnk, flow_coefficient: 1e-6 m^3/s/Pa^0.5}
integrator: {step: 0 ms}
END
run 1 check ten.yaml
for place in 2:21 4:25 4:17 5:19 7:17 7:62 8:85 10:3 13:20 13:41 16:20 8:37 15:23; do
  grep -q "ten.yaml:$place: " "$work/err" || fail "no message for $place"
done
grep -q '13 mistakes found' "$work/err" || fail "not 13 mistakes"
grep -q "did you mean 'centre_of_mass'" "$work/err" || fail "no suggestion for a key"
grep -q "there is no body 'crnk'; did you mean 'crank'" "$work/err" || fail "no suggestion for a body"

# a study and its machine, one mistake each
sed 's/mass: 64 kg/mass: 64 m/' "$machine" >four-bar.yaml
sed 's/sigma: 1 deg/sigma: 1 kg/; s/volume: v1/volum: v1/' "$study" >study.yaml
run 1 check study.yaml
grep -q 'study.yaml:.*sigma' "$work/err" || fail "the sigma is not told"
grep -q "unknown key 'volum'" "$work/err" || fail "the unknown key is not told"

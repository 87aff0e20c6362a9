#!/bin/sh
# Parameters and biases estimated beside the state: what check says of them, and what replay finds.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
folder=$source_root/datasets/four-bar
# The study without its wrong friction, and what is appended to it.
sed -e "s|^machine: |machine: $folder/|" -e '/^changes:/d' -e '/^  hydraulics.cylinders/d' -e '/^filter:/d' \
  -e '/^  transition:/d' "$study" >exact.yaml
with() {
  cat exact.yaml -
}

# ---- check ----

with >study.yaml <<'END'
filter: {transition: step, noise: published, covariance: square-root, iterations: 2, gate: 4}
augmented:
  load: {parameter: crank.load, sigma: 50 N*m, noise: 20 N*m/s^0.5, most: 1 kN*m}
  drift: {bias_of: crank_gyro, sigma: 1 deg/s, order: 2, time_constant: 3 s, noise: 0.1 deg/s/s^1.5}
  seal: {parameter: lift.friction_scale, sigma: 0.1, time_constant: 2 s, noise: 0.01 Hz^0.5}
parameter_noise:
  pump.pressure: 1 bar/Hz^0.5
END
run 0 check study.yaml
says out 'filter: transition step, noise published, covariance square-root, fusion sequential, 2 iterations'
says out 'estimated load: parameter crank.load [N*m], starts at 0, sigma 50; random walk, noise 20 N*m/s^0.5, at most 1000'
says out 'estimated drift: bias of crank_gyro [deg/s], starts at 0, sigma 1; Gauss-Markov of order 2, time constant 3 s, noise 0.1 deg/s/s^1.5'
says out 'estimated seal: parameter lift.friction_scale [1], starts at 1, sigma 0.1; Gauss-Markov of order 1, time constant 2 s'
says out 'noise on pump.pressure: 1 bar/Hz^0.5'
says out 'p1: pressure at v1, sigma 0.5 bar, 1000 samples per second, gate 4 sigma'

# Every mistake that the machine shows, each with its line and what would be right.
first=$(($(lines exact.yaml) + 1))
with >study.yaml <<'END'
augmented:
  a: {parameter: crnk.load, sigma: 50 N*m}
  b: {parameter: crank.payload, sigma: 20 N}
  c: {bias_of: crank_gyro, sigma: 1 deg}
  d: {parameter: rocker.load, sigma: 1 N*m, noise: 1 N*m/s}
  e: {parameter: coupler.load, sigma: 1 N*m, least: 5 N*m}
  f: {bias_of: p1, sigma: 1 bar, least: 1 bar, most: -1 bar}
  g: {parameter: gravity.scale, sigma: 1 kg}
parameter_noise:
  valve.ofset: 1 V/Hz^0.5
  pump.pressure: 1 bar
END
run 1 check study.yaml
mistake() {
  says err "study.yaml:$((first + $1)):$2"
}
mistake 1 " augmented.a.parameter: there is no parameter of this name; did you mean 'crank.load'?"
mistake 2 "40: augmented.b.sigma: 20 N is a force, a mass is expected, for example '20 kg'"
mistake 3 "35: augmented.c.sigma: 1 deg is an angle, an angular rate is expected"
mistake 4 "52: augmented.d.noise: 1 N*m/s is a power, a value in 'N*m/s^0.5' is expected"
mistake 5 '53: augmented.e.least: the estimate starts at 0 N*m, outside these limits'
mistake 6 "41: augmented.f.least: 'least' must lie below 'most'"
mistake 7 '40: augmented.g.sigma: 1 kg is a mass, a pure number is expected'
mistake 9 " parameter_noise.valve.ofset: there is no parameter of this name; did you mean 'valve.offset'?"
mistake 10 '18: parameter_noise.pump.pressure: 1 bar is a pressure,'
says err '9 mistakes found'
printf '' >empty.csv
run 1 replay study.yaml empty.csv --output estimate.csv
says err "study.yaml:$((first + 1)): augmented.a.parameter: there is no parameter of this name"

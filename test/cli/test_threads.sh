#!/bin/sh
# The same bytes from any number of threads where machines stand on the ground: the tractor on its tyres, crates on each other, and a
# blade in soil that moves in the truth of a planned study.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

# twice OUTPUT ARGUMENT...: with one thread and with two.
twice() {
  output=$1
  shift
  run 0 "$@" --output "$output" --threads 1
  mv "$output" one.csv
  grep -v '^work' out >one.out
  run 0 "$@" --output "$output" --threads 2
  cmp -s one.csv "$output" || fail "two threads give another $output"
  grep -v '^work' out | cmp -s one.out - || fail "two threads print something else beside $output"
  [ "$(lines "$output")" -gt 2 ] || fail "$output holds nothing"
}

# uncertain JOINT...: what a study of these knows of them.
uncertain() {
  printf 'uncertainty: fixed\njoints:\n'
  for joint; do
    case $joint in
    *_yaw | *_pitch | *_roll | *_turn | hub) echo "  $joint: {position_sigma: 1 deg, rate_sigma: 1 deg/s, acceleration_noise: 0.1 rad/s^2/Hz^0.5}" ;;
    *) echo "  $joint: {position_sigma: 5 mm, rate_sigma: 5 mm/s, acceleration_noise: 0.1 m/s^2/Hz^0.5}" ;;
    esac
  done
}

# The tractor rolls.
cp "$source_root"/datasets/tractor/tractor.yaml .
cat >tractor-study.yaml <<'END'
study: tractor
machine: tractor.yaml
sensors:
  boom: {type: encoder, joint: boom, sigma: 0.05 deg}
  rear: {type: gyro, joint: wheel_rl, sigma: 1 deg/s}
  lift: {type: pressure, volume: V1, sigma: 0.5 bar}
uncertainty: fixed
END
sed -n '/^joints:/,/^contacts:/ { /^contacts:/d; p; }' "$source_root/datasets/tractor/sensors.yaml" >>tractor-study.yaml
run 0 simulate tractor.yaml --duration '20 ms' --output truth.csv --noise tractor-study.yaml --seed 1 --log log.csv
cp log.csv log2.csv
twice tractor.csv sweep tractor-study.yaml log.csv log2.csv --vary 'sensors.boom.sigma=0.05 deg, 0.1 deg'

# Crates go to and fro with the truck.
cp "$source_root"/datasets/crates/crates.yaml .
cat >crates-study.yaml <<'END'
study: crates
machine: crates.yaml
sensors:
  crate_x: {type: encoder, joint: crate_x, sigma: 1 mm}
  box_x: {type: encoder, joint: box_x, sigma: 1 mm}
  drum_x: {type: encoder, joint: drum_x, sigma: 1 mm}
  wedge_x: {type: encoder, joint: wedge_x, sigma: 1 mm}
END
for body in crate box drum wedge; do
  for axis in x y z yaw pitch roll; do echo "${body}_$axis"; done
done >names
# shellcheck disable=SC2046
uncertain $(cat names) >>crates-study.yaml
run 0 simulate crates.yaml --duration '40 ms' --output truth.csv --noise crates-study.yaml --seed 1 --log log.csv
cp log.csv log2.csv
twice crates.csv sweep crates-study.yaml log.csv log2.csv --vary 'sensors.drum_x.sigma=1 mm, 2 mm'

# A blade cuts, and the ground that the wheel rolls on moves.
cat >grader.yaml <<'END'
machine: grader
gravity: [0, 0, -9.81 m/s^2]
bodies:
  frame: {mass: 800 kg, inertia: [100, 200, 200 kg*m^2]}
  front: {mass: 50 kg, inertia: [2, 4, 2 kg*m^2]}
  blade: {mass: 20 kg, inertia: [1, 1, 1 kg*m^2]}
joints:
  move: {type: planar, parent: ground, child: frame, axis: [0, -1, 0], second_axis: [1, 0, 0], initial: [0 m, 0.49 m, 0 deg], rate: [1.5 m/s, 0 m/s, 0 rad/s]}
  hub: {type: revolute, parent: frame, child: front, axis: [0, 1, 0], rate: 3 rad/s}
  pin: {type: fixed, parent: frame, child: blade, position: [0.8, 0, -0.5 m]}
terrain: {cells: [40, 12], cell: 0.1 m, origin: [-1, -0.6 m], heaps: [{at: [1.2, 0 m], height: 0.3 m}], particles: {most: 1000}, pressing: 0.2}
tyres:
  front: {body: front, radius: 0.5 m, width: 0.2 m, stiffness: 200 kN/m, damping: 4 kN*s/m, ground: terrain}
tools:
  blade: {body: blade, edge: [[0, 0.4, 0 m], [0, -0.4, 0 m]], profile: [[-0.1, 0, 0.3 m]]}
joint_springs:
  upright: {joint: move_turn, free_position: 0 deg, stiffness: 1e5 N*m/rad, damping: 1e4 N*m*s/rad}
END
cat >grader-study.yaml <<'END'
study: grader
machine: grader.yaml
sensors:
  along: {type: encoder, joint: move_x, sigma: 5 mm}
  up: {type: encoder, joint: move_y, sigma: 5 mm}
END
uncertain move_x move_y move_turn hub >>grader-study.yaml
cat >plan.yaml <<'END'
plan: grader
machine: grader.yaml
duration: 0.1 s
step: 1 ms
seeds: 4
rates: [1 kHz]
signals: {along: move_x.position, up: move_y.position}
studies: {both: grader-study.yaml}
END
twice grader.csv study plan.yaml

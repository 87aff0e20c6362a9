#!/bin/sh
# A machine and its soil: ruts, a blade that cuts, the picture of the ground, a file of heights, the same bytes again; mistakes.
. "$(dirname "$0")/common.sh"

cat >machine.yaml <<'END'
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
terrain:
  cells: [40, 12]
  cell: 0.1 m
  origin: [-1, -0.6 m]
  heaps: [{at: [1.6, 0 m], height: 0.3 m}]
  particles: {most: 1000}
  pressing: 0.2
tyres:
  front: {body: front, radius: 0.5 m, width: 0.2 m, stiffness: 200 kN/m, damping: 4 kN*s/m, ground: terrain}
tools:
  blade: {body: blade, edge: [[0, 0.4, 0 m], [0, -0.4, 0 m]], profile: [[-0.1, 0, 0.3 m]]}
joint_springs:
  upright: {joint: move_turn, free_position: 0 deg, stiffness: 1e5 N*m/rad, damping: 1e4 N*m*s/rad}
END

run 0 simulate machine.yaml --duration '0.6 s' --output truth.csv --report page.html
says out 'wedges failed'
says out 'mass is off by'
awk '/mass is off by/ { off = $NF; if (off < 0) off = -off; exit !(off <= 1e-12) }' out || fail 'soil is lost'
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^blade.cutting_force/) c = i }
  NR > 1 && $c > most { most = $c } END { exit !(most > 100) }' truth.csv || fail 'the blade cut nothing'
for column in 'blade.carried[kg]' 'blade.force_x[N]' 'front.normal_force[N]'; do
  [ -n "$(cell truth.csv 100 "$column")" ] || fail "no column $column"
done
for part in 'id="ground"' 'data:image/bmp;base64,Qk' 'class="dots"' '<title>front</title>' 'blade.carried' 'a machine makes'; do
  grep -qF -e "$part" page.html || fail "the page lacks $part"
done
run 0 simulate machine.yaml --duration '0.6 s' --output again.csv
cmp -s truth.csv again.csv || fail 'other bytes'

# Few particles: the run says that its forces are too large.
run 3 simulate machine.yaml --duration '0.6 s' --output few.csv --set terrain.particles.most=1
says out 'want of particles'

# Heights from a file, 2 cm higher, are as a level.
awk 'BEGIN { for (i = 0; i < 40; i++) for (j = 0; j < 12; j++) printf "%s%s", 0.02, j == 11 ? "\n" : ", " }' >field.csv
sed 's/  heaps:.*/  heights: field.csv/' machine.yaml >file.yaml
sed 's/  heaps:.*/  level: 20 mm/' machine.yaml >level.yaml
run 0 simulate file.yaml --duration '50 ms' --output file.csv
run 0 simulate level.yaml --duration '50 ms' --output level.csv
cmp -s file.csv level.csv || fail 'a file of heights is not what a level is'
sed '$d' field.csv >short.csv
sed 's/field.csv/short.csv/' file.yaml >short.yaml
run 1 simulate short.yaml --duration '50 ms' --output none.csv
says err 'short.yaml:15:12: terrain.heights: this file has 468 heights, but there are 40 x 12 cells'

# A filter's model stands on the field as it is given; mistakes have their place.
run 0 check machine.yaml
says out 'terrain: 40 x 12 cells of 100 mm, from [-1, -0.6] to [3, 0.6] m'
says out 'not what is in front of them: near ['
run 0 check level.yaml
if grep -q 'in front of them' out; then fail 'a flat field is called rough'; fi
says out 'tool blade: of blade, cuts with an edge'
sed '/^terrain/,/pressing/d' machine.yaml >none.yaml
run 1 check none.yaml
says err 'no terrain'
sed 's/profile: .*$/profile: [[-0.1, 0, 0.3 m], [0, 0, 0 m]]}/' machine.yaml >flat.yaml
run 1 check flat.yaml
says err '(tool blade)'

# The page of a replay has the field as it is given, with the tracks of the estimate.
cat >study.yaml <<'END'
study: grading
machine: machine.yaml
sensors: {turns: {type: encoder, joint: hub, sigma: 0.1 deg}}
joints:
  move_x: {position_sigma: 1 cm, rate_sigma: 1 cm/s, acceleration_noise: 1 m/s^2/Hz^0.5}
  move_y: {position_sigma: 1 cm, rate_sigma: 1 cm/s, acceleration_noise: 1 m/s^2/Hz^0.5}
  move_turn: {position_sigma: 1 deg, rate_sigma: 1 deg/s, acceleration_noise: 1 rad/s^2/Hz^0.5}
  hub: {position_sigma: 1 deg, rate_sigma: 1 deg/s, acceleration_noise: 1 rad/s^2/Hz^0.5}
END
run 0 simulate machine.yaml --duration '0.1 s' --output truth.csv --noise study.yaml --log log.csv
run 0 replay study.yaml log.csv --output estimate.csv --report page.html
for part in 'id="ground"' '>The field<' '<title>front</title>'; do
  grep -qF -e "$part" page.html || fail "the page of the replay lacks $part"
done

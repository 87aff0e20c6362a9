#!/bin/sh
# Where a machine starts: pressures that hold what can be held, and loops that close from poor guesses.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

# A load that swings below a boom. The cylinder holds the boom; by hand, with the boom at rest:
# (I + m l^2) phi'' = -m g l cos(phi), and the pin takes m (g + l phi'' cos(phi)) upwards.
cat >lift.yaml <<'YAML'
machine: lift
gravity: [0, -9.81, 0 m/s^2]
bodies:
  boom: {mass: 200 kg, centre_of_mass: [1.2, 0, 0 m], inertia: [1, 100, 100 kg*m^2]}
  load: {mass: 50 kg, centre_of_mass: [0.8, 0, 0 m], inertia: [0.1, 3, 3 kg*m^2]}
joints:
  boom: {type: revolute, parent: ground, child: boom, axis: [0, 0, 1], initial: 0 deg}
  load: {type: revolute, parent: boom, child: load, position: [2.5, 0, 0 m], axis: [0, 0, 1], initial: -50 deg}
hydraulics:
  oil: {bulk_modulus: 1500 MPa}
  transition_pressure: 2 bar
  supplies: {tank: {pressure: 0.1 MPa}}
  volumes:
    head: {pressure: equilibrium, hoses: [{volume: 200 cm^3, bulk_modulus: 550 MPa}]}
    rod: {pressure: 10 bar, hoses: [{volume: 200 cm^3, bulk_modulus: 550 MPa}]}
  cylinders:
    lift: {bodies: [ground, boom], points: [[0.3, -0.6, 0 m], [1.0, 0, 0 m]], piston_volume: head, rod_volume: rod,
           bore: 60 mm, rod: 30 mm, bulk_modulus: 30 GPa, reference_stroke: 1.0 m, piston_chamber_length: 300 mm,
           rod_chamber_length: 300 mm, friction: {model: viscous, viscous: 2000 N*s/m}}
integrator: {step: 1 ms}
YAML
by_hand() { # WITH_LOAD: angular acceleration of the load, pressure of the head
  awk -v with="$1" 'BEGIN {
    g = 9.81; pi = atan2(0, -1); phi = -50 * pi / 180; l = 0.8; m = 50 * with
    a = -50 * g * l * cos(phi) / (3 + 50 * l * l)
    moment = 200 * g * 1.2 + 2.5 * m * (g + l * a * cos(phi))
    force = moment / (1.0 * 0.6 / sqrt(0.7 * 0.7 + 0.6 * 0.6))
    head = pi / 4 * 0.06 ^ 2; rod = head - pi / 4 * 0.03 ^ 2
    printf "%.9g %.9g %.9g\n", a, (force + rod * 1e6) / head, force / (head - rod)
  }'
}
run 0 check lift.yaml
says out 'not at rest with these pressures: load.acceleration -7.207 rad/s^2'
if grep -q 'pressures: boom' out; then fail 'the boom is held'; fi
run 0 simulate lift.yaml --duration 0.01 --output lift.csv
read -r swing head _ <<EOF
$(by_hand 1)
EOF
near "$(cell lift.csv 2 'load.acceleration[rad/s^2]')" "$swing" 1e-8 'the load swings'
near "$(cell lift.csv 2 'boom.acceleration[rad/s^2]')" 0 1e-12 'the boom is held'
near "$(cell lift.csv 2 'head.pressure[Pa]')" "$head" 1 'pressure below a swinging load'

# With a leak past the piston nothing holds for long. From given pressure on one side it creeps, until the oil is at one
# pressure, on the difference of the areas; with both sides open that is where it starts.
sed '/^  load:/d; s/^  cylinders:/  leakages: {seal: {cylinder: lift, conductance: 1e-11 m^3\/s\/Pa}}\n&/' lift.yaml >creep.yaml
sed 's/pressure: 10 bar/pressure: equilibrium/' creep.yaml >still.yaml
read -r _ head level <<EOF
$(by_hand 0)
EOF
run 0 simulate creep.yaml --duration 20 --output creep.csv
near "$(cell creep.csv 2 'head.pressure[Pa]')" "$head" 1 'pressure of a creeping cylinder'
near "$(cell creep.csv 2 'boom.acceleration[rad/s^2]')" 0 1e-12 'a creeping cylinder'
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
  NR > 500 && !($c["lift.velocity[m/s]"] < 0 && $c["lift.velocity[m/s]"] > -5e-3) { exit 1 }
  { gap = $c["head.pressure[Pa]"] - $c["rod.pressure[Pa]"]; stroke = $c["lift.stroke[m]"] }
  END { exit !(gap > 0 && gap < 1e3 && stroke < 0.915) }' creep.csv || fail 'creeping'
run 0 simulate still.yaml --duration 1 --output still.csv
for row in 2 1002; do
  near "$(cell still.csv $row 'head.pressure[Pa]')" "$level" 1 'level'
  near "$(cell still.csv $row 'rod.pressure[Pa]')" "$level" 1 'level'
done
# Both at once: the load swings and the cylinder creeps.
sed 's/^  cylinders:/  leakages: {seal: {cylinder: lift, conductance: 1e-11 m^3\/s\/Pa}}\n&/' lift.yaml >both.yaml
run 0 simulate both.yaml --duration 0.01 --output both.csv
same "$(cell both.csv 2 'head.pressure[Pa]')" "$(cell lift.csv 2 'head.pressure[Pa]')" 'swinging and creeping'

# What no pressure holds is named: an orifice to the tank, or from side to side, lets the oil go.
for drain in 'to: tank' 'to: rod'; do
  sed "s/^  cylinders:/  orifices: {drain: {from: head, $drain, flow_coefficient: 1e-9 m^3\/s\/Pa^0.5}}\n&/" lift.yaml >drain.yaml
  run 1 check drain.yaml
  says err 'drain: no choice of the open pressures keeps this at rest'
done

# Loops from flat guesses, where Newton has no side to go to: a guess that does is named, and it does. What no guess closes
# gets no hint.
cat >flat.yaml <<'YAML'
machine: flat guesses
gravity: [0, -9.81, 0 m/s^2]
bodies:
  crank: {mass: 1 kg, inertia: [0, 0.1, 0.1 kg*m^2]}
  coupler: {mass: 1 kg, inertia: [0, 0.1, 0.1 kg*m^2]}
  rocker: {mass: 1 kg, inertia: [0, 0.1, 0.1 kg*m^2]}
joints:
  crank: {type: revolute, parent: ground, child: crank, axis: [0, 0, 1], initial: 10 deg}
  coupler: {type: revolute, parent: crank, child: coupler, position: [0.4, 0, 0 m], axis: [0, 0, 1]}
  rocker: {type: revolute, parent: coupler, child: rocker, position: [1.2, 0, 0 m], axis: [0, 0, 1]}
loops:
  pivot: {type: revolute, bodies: [rocker, ground], points: [[1, 0, 0 m], [1.5, 0, 0 m]], axes: [[0, 0, 1], [0, 0, 1]]}
YAML
run 1 check flat.yaml
says err 'pivot: the loop cannot be closed'
guess=$(sed -n 's/.*; from \([-0-9.]*\) rad as the guess of rocker they close.*/\1/p' err)
sed "/^  rocker: {type/s/}/, guess: $guess rad}/" flat.yaml >raised.yaml
run 0 check raised.yaml
says out '1 degree of freedom'
sed 's/1.5, 0, 0 m/15, 0, 0 m/' flat.yaml >far.yaml
run 1 check far.yaml
says err 'pivot: the loop cannot be closed'
if grep -q 'guess of' err; then fail 'a hint that cannot help'; fi

# A crate on a lifting table: the pressure that is to be found holds both: 300 kg on 50.27 cm^2, against 1 bar above.
cat >lift.yaml <<'END'
machine: table
gravity: [0, 0, -9.81 m/s^2]
bodies:
  table: {mass: 200 kg, inertia: [10, 10, 10 kg*m^2], shapes: [{kind: box, centre: [0, 0, -0.05 m], size: [1, 1, 0.1 m]}]}
  crate: {mass: 100 kg, inertia: [4, 4, 4 kg*m^2], shapes: [{kind: box, size: [0.5, 0.5, 0.5 m]}]}
joints:
  lift: {type: prismatic, parent: ground, child: table, axis: [0, 0, 1], initial: 1 m}
  crate: {type: prismatic, parent: ground, child: crate, axis: [0, 0, 1], initial: 1.249019 m}
contacts:
  on: {between: [table, crate], law: penalty, stiffness: 1e6 N/m, damping: 5000 N*s/m, friction: {coulomb: 0.4}}
hydraulics:
  oil: {bulk_modulus: 1500 MPa, density: 850 kg/m^3}
  supplies: {pump: {pressure: 7.6 MPa}, tank: {pressure: 0.1 MPa}}
  volumes:
    below: {pressure: equilibrium, hoses: [{volume: 50 cm^3, bulk_modulus: 550 MPa}]}
    above: {pressure: 0.1 MPa, hoses: [{volume: 50 cm^3, bulk_modulus: 550 MPa}]}
  valves:
    valve: {pump: pump, tank: tank, a: below, b: above, flow_coefficient: 2.138e-8 m^3/s/Pa^0.5/V, time_constant: 4.5 ms, limit: 10 V}
  cylinders:
    ram: {bodies: [ground, table], points: [[0, 0, 0 m], [0, 0, 0 m]], piston_volume: below, rod_volume: above, bore: 80 mm, rod: 35 mm,
          bulk_modulus: 31.5 GPa, reference_stroke: 1 m, piston_chamber_length: 300 mm, rod_chamber_length: 300 mm}
END
run 0 simulate lift.yaml --duration '10 ms' --output lift.csv
near "$(cell lift.csv 2 'below.pressure[Pa]')" 666350.6219 1e-3 'pressure under a table with a crate'
near "$(cell lift.csv 12 'lift.position[m]')" 1 1e-9 'place of the table after ten steps'

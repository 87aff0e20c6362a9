#!/bin/sh
# The true motion: columns, times, commands, a fall that can be checked by hand.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

run 0 simulate "$machine" --duration '1002 ms' --step=0.001 --output truth.csv
quiet err
says out '1003 rows, 1.002 s in steps of 0.001 s'
says out 'real time'
says out 'Newton iterations'
says out 'largest violation of a loop'
says out 'energy balance'
header='t[s]'
for joint in crank coupler rocker; do
  header="$header,$joint.angle[rad],$joint.rate[rad/s],$joint.acceleration[rad/s^2]"
done
header="$header,v1.pressure[Pa],v2.pressure[Pa],v3.pressure[Pa],valve.spool[V]"
header="$header,lift.stroke[m],lift.velocity[m/s],lift.force[N],lift.friction[N],lift.work[J]"
header="$header,valve.command[V],energy.kinetic[J],energy.potential[J]"
same "$(head -n 1 truth.csv)" "$header" 'columns of the truth'
same "$(lines truth.csv)" 1004 'lines'
same "$(cell truth.csv 2 't[s]')" 0 'first time'
same "$(cell truth.csv 1004 't[s]')" 1.002 'last time'
near "$(cell truth.csv 2 'crank.angle[rad]')" 1.047197551 1e-9 'the crank starts at 60 deg'
near "$(cell truth.csv 2 'v3.pressure[Pa]')" 3.5e6 1e-3 'pressure at the start'
same "$(cell truth.csv 2 'energy.kinetic[J]')" 0 'at rest at the start'

# The command planned for 1 s shows in the row of 1 s and moves the spool after it.
same "$(cell truth.csv 1001 'valve.command[V]')" 0 'command at 0.999 s'
same "$(cell truth.csv 1002 'valve.command[V]')" 10 'command at 1 s'
same "$(cell truth.csv 1002 'valve.spool[V]')" 0 'spool at 1 s'
awk -v u="$(cell truth.csv 1003 'valve.spool[V]')" 'BEGIN { exit !(u > 1 && u < 3) }' || fail 'spool at 1.001 s'

# How the steps are made, and to what the two ways agree.
run 0 simulate "$machine" --duration 1 --output tape.csv --how
says out 'how: tape of '
says out '; 1000 steps by it, 0 by the interpreter'
run 0 simulate "$machine" --duration 1 --output lagrange.csv --how --set integrator.formulation=augmented-lagrangian
says out 'how: interpreter (hydraulic four-bar: only coordinate partitioning is compiled)'
run 0 compare tape.csv lagrange.csv --all --relative 1e-4

# The step of the machine file; a duration that is no multiple of it; standard output.
run 0 simulate "$machine" --duration 0.0105 --output -
same "$(lines out)" 12 'lines on standard output'
says err 'not a multiple of the step: the last row is at 0.01 s'
run 0 simulate "$machine" --duration 0.01 --step '0.5 ms' --output half.csv
same "$(lines half.csv)" 22 'lines at half the step'

# Values from the command line.
run 0 simulate "$machine" --duration 0.01 --output heavy.csv --set 'bodies.crank.mass=20 kg' --set=joints.crank.initial='50 deg'
near "$(cell heavy.csv 2 'crank.angle[rad]')" 0.872664626 1e-9 'start from the command line'

# With --columns '*' also the outputs meant for sensors, behind the others, which stay the same.
run 0 simulate "$machine" --columns '*' --duration 1.1 --step=0.001 --output all.csv
run 0 simulate "$machine" --duration 1.1 --step=0.001 --output plain.csv
extra='orifice.flow[m^3/s],valve.flow_a[m^3/s],valve.flow_b[m^3/s]'
for body in rocker coupler crank; do
  columns=''
  for axis in x y z; do columns="$columns$body.body_rate_$axis[rad/s],"; done
  for axis in x y z; do columns="$columns$body.specific_force_$axis[m/s^2],"; done
  for axis in x y z; do columns="$columns$body.angular_acceleration_$axis[rad/s^2],"; done
  for axis in x y z; do columns="$columns$body.up_$axis[1],"; done
  for axes in xx yy zz xy xz yz; do columns="$columns$body.body_rate_$axes[rad^2/s^2],"; done
  extra="$columns$extra"
done
for part in dampers friction stops loads; do extra="$extra,energy.$part[J]"; done
same "$(head -n 1 all.csv)" "$header,$extra" 'all columns'
cut -d, -f "1-$(echo "$header" | tr ',' '\n' | wc -l)" all.csv | cmp -s - plain.csv || fail 'other columns change where all are written'
run 0 simulate "$machine" --columns 'valve.flow_?,crank.angle' --duration 1.1 --step=0.001 --output some.csv
same "$(head -n 1 some.csv)" 't[s],crank.angle[rad],valve.flow_a[m^3/s],valve.flow_b[m^3/s]' 'chosen columns'
run 0 compare some.csv all.csv
run 2 simulate "$machine" --all --duration 1.1 --output all.csv
says err "option '--all' is '--columns '*'' now"
same "$(cell all.csv 2 'valve.flow_a[m^3/s]')" 0 'the valve is shut at the start'
# Orifice (still laminar: C dp / sqrt(2 bar)) and valve (C U sqrt(dp)) from the columns beside them.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
  function differs(a, b) { return !(a - b < 1e-7 * b && b - a < 1e-7 * b) }
  END {
    p1 = $c["v1.pressure[Pa]"]; p2 = $c["v2.pressure[Pa]"]; p3 = $c["v3.pressure[Pa]"]; U = $c["valve.spool[V]"]
    if (p1 - p2 > 2e5 || p1 - p2 < 1e5 || U < 9) exit 1
    exit differs($c["orifice.flow[m^3/s]"], 1.0982013101645156e-06 * (p1 - p2) / sqrt(2e5)) ||
      differs($c["valve.flow_a[m^3/s]"], 2.138e-8 * U * sqrt(7.6e6 - p1)) ||
      differs(-$c["valve.flow_b[m^3/s]"], 2.138e-8 * U * sqrt(p3 - 1e5))
  }' all.csv || fail 'flows of orifice and valve'

# A cart that falls along its rail: z = -g t^2/2, which the trapezoidal rule integrates exactly.
cat >cart.yaml <<'END'
machine: cart
gravity: [0, 0, -9.81 m/s^2]
bodies:
  cart: {mass: 2 kg, centre_of_mass: [0, 0, 0 m], inertia: [1, 1, 1 kg*m^2]}
joints:
  rail: {type: prismatic, parent: ground, child: cart, axis: [0, 0, 1], initial: 0 m}
END
run 0 simulate cart.yaml --duration 1 --output cart.csv
same "$(head -n 1 cart.csv)" \
  't[s],rail.position[m],rail.rate[m/s],rail.acceleration[m/s^2],energy.kinetic[J],energy.potential[J]' 'columns of the cart'
near "$(cell cart.csv 1002 'rail.position[m]')" -4.905 1e-8 'fall of a second'
near "$(cell cart.csv 1002 'energy.kinetic[J]')" 96.2361 1e-6 'kinetic energy of the fall'
near "$(cell cart.csv 1002 'energy.potential[J]')" -96.2361 1e-6 'potential energy of the fall'

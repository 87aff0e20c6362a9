#!/bin/sh
# Tuning by several processes through MPI: the same bytes as by threads, from any number of them, and after one was killed.
[ -n "${BRAMAH_MPI_PROGRAM:-}" ] && command -v mpirun >/dev/null || exit 77
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cp "$source_root"/datasets/four-bar/*.yaml .
cp "$papers"/*.yaml .
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe

cp sensors-2.yaml off.yaml
cat >>off.yaml <<'END'
tune:
  parameters:
    sensors.p1.sigma: {least: 1e-3 bar, most: 100 bar, also: [sensors.p2.sigma, sensors.p3.sigma]}
    joints.crank.acceleration_noise: {least: 1e-5 rad/s^2/Hz^0.5, most: 1 rad/s^2/Hz^0.5}
END
sed -i 's/sigma: 0.5 bar, rate/sigma: 20 bar, rate/; s/acceleration_noise: 0.002/acceleration_noise: 0.2/' off.yaml
for seed in 1 2 3; do
  run 0 simulate four-bar.yaml --duration 0.3 --step 0.001 --output truth.csv --noise sensors-2.yaml --process-noise --seed "$seed" --log "log$seed.csv"
done
logs='log1.csv log2.csv log3.csv'

# shellcheck disable=SC2086
run 0 tune off.yaml $logs --threads 2 --output threads.yaml --evaluations threads.csv
for n in 1 2 3; do
  # shellcheck disable=SC2086
  timeout 2000 mpirun -n "$n" "$BRAMAH_MPI_PROGRAM" tune off.yaml $logs --output mpi.yaml --evaluations mpi.csv >out 2>err || fail "$n processes"
  { cmp -s threads.yaml mpi.yaml && cmp -s threads.csv mpi.csv; } || fail "$n processes give other bytes than threads"
done

# Sweeps too.
run 0 sweep off.yaml log1.csv log2.csv --vary 'joints.crank.acceleration_noise=1e-3 .. 1: 4 log' --output threads.table --threads 2
timeout 2000 mpirun -n 2 "$BRAMAH_MPI_PROGRAM" sweep off.yaml log1.csv log2.csv --vary 'joints.crank.acceleration_noise=1e-3 .. 1: 4 log' \
  --output mpi.table >out 2>err || fail 'a sweep by two processes'
cmp -s threads.table mpi.table || fail 'two processes give another table than threads'

# A process is killed: MPI ends the run, the journal keeps what was done, the next run goes on.
n=0
while [ "$n" -lt "${BRAMAH_MPI_KILLS:-3}" ]; do
  n=$((n + 1))
  # shellcheck disable=SC2086
  setsid mpirun -n 2 "$BRAMAH_MPI_PROGRAM" tune off.yaml $logs --output killed.yaml --evaluations killed.csv --journal j >/dev/null 2>&1 &
  pid=$!
  sleep "$(awk -v n="$n" 'BEGIN { srand(n); printf "%.2f", 0.4 + rand() }')"
  # The second process of this mpirun, or what there is by now.
  victim=$(ps -o pid= --ppid "$pid" 2>/dev/null | tail -n 1)
  [ -z "$victim" ] || kill -9 "$victim" 2>/dev/null || :
  wait "$pid" 2>/dev/null || :
done
# shellcheck disable=SC2086
timeout 2000 mpirun -n 2 "$BRAMAH_MPI_PROGRAM" tune off.yaml $logs --output killed.yaml --evaluations killed.csv --journal j >out 2>err || fail 'after kills'
{ cmp -s threads.yaml killed.yaml && cmp -s threads.csv killed.csv; } || fail 'killed processes change what is found'

# Mistakes are said once, and end all processes.
timeout 2000 mpirun -n 2 "$BRAMAH_MPI_PROGRAM" tune off.yaml nowhere.csv >out 2>err && fail 'a missing log goes unnoticed'
same "$(grep -c 'nowhere.csv' err)" 1 'times the mistake is said'

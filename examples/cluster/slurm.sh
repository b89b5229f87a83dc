#!/bin/bash
# A sweep on many nodes of a SLURM cluster: one task is the Dask scheduler, one is nodeb, all others are workers.
#
#   sbatch examples/cluster/slurm.sh study.toml
#
# If the job ends early (time limit, preemption, scancel), the same command continues from the results stored so far.
#SBATCH --job-name=nodeb
#SBATCH --ntasks=34
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=1G
#SBATCH --time=04:00:00
#SBATCH --signal=TERM@60
set -euo pipefail

study=${1:?which scenario file}
where=$PWD/out/cluster-${SLURM_JOB_ID:-here}
mkdir -p "$where"

# Ends the workers first: a worker that is signalled while it handles the end of its scheduler may hang.
end() {
  for step in ${worker_step:-} ${scheduler_step:-}; do
    kill "$step" 2>/dev/null || true
    wait "$step" || true
  done
}
trap end EXIT

srun --ntasks=1 --exact dask scheduler --port 0 --scheduler-file "$where/scheduler.json" --no-dashboard >"$where/scheduler.log" 2>&1 &
scheduler_step=$!
until [ -s "$where/scheduler.json" ]; do
  kill -0 $scheduler_step || { echo "error: no scheduler, see $where/scheduler.log" >&2; exit 1; }
  sleep 0.2
done
address=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["address"])' "$where/scheduler.json")

workers=$((${SLURM_NTASKS:-34} - 2))
srun --ntasks="$workers" --exact dask worker "$address" --nthreads 1 --no-nanny --no-dashboard \
  --death-timeout 60 --local-directory "${TMPDIR:-/tmp}" >"$where/workers.log" 2>&1 &
worker_step=$!

srun --ntasks=1 --exact nodeb sweep "$study" --cluster "$address"

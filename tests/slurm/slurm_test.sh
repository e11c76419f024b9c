#!/usr/bin/env bash
# A sweep as a job array on a real Slurm of this machine alone, against the same sweep without it.
# Arguments: the program. Exit code 77: it can't be tried here.
set -euo pipefail
weir=$(realpath "$1")
source=$(cd "$(dirname "$0")/../.." && pwd)

skip() {
  echo "skipped: $*"
  exit 77
}
for program in slurmctld slurmd munged sbatch srun squeue sinfo; do
  command -v $program >/dev/null ||
    skip "there is no $program; install slurmctld, slurmd, slurm-client and munge"
done
[ "$(id -u)" -eq 0 ] || skip "slurmd needs root"

folder=$(mktemp -d)
pids=()
finish() {
  local status=$?
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  [ $status -eq 0 ] || [ $status -eq 77 ] || tail -n 20 "$folder"/*.log 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
chmod 755 "$folder"

dd if=/dev/urandom of="$folder/munge.key" bs=1024 count=1 2>/dev/null
chmod 600 "$folder/munge.key"
munged --foreground --force --socket="$folder/munge.socket" --key-file="$folder/munge.key" \
  --pid-file="$folder/munge.pid" --log-file="$folder/munge.log" --seed-file="$folder/munge.seed" \
  2>"$folder/munged.log" &
pids+=($!)

host=$(hostname -s)
port=$((20000 + $$ % 20000))
mkdir "$folder/state" "$folder/spool"
cat >"$folder/slurm.conf" <<END
ClusterName=weir
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
END
cat >"$folder/cgroup.conf" <<END
CgroupAutomount=no
END
export SLURM_CONF=$folder/slurm.conf

wait_for() { # seconds, command...
  local left=$(($1 * 10))
  shift
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1))
    [ $left -gt 0 ] || return 1
    sleep 0.1  # this machine's daemons give no other sign
  done
}
wait_for 10 test -S "$folder/munge.socket" || skip "munged does not start: $(cat "$folder"/munge*.log)"
slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.log" 2>&1 &
pids+=($!)
slurmd -D -f "$SLURM_CONF" -N "$host" >"$folder/slurmd.log" 2>&1 &
pids+=($!)
idle() { sinfo -h -o %T | grep -q idle; }
wait_for 20 idle || skip "slurmd does not come up: $(tail -n 3 "$folder/slurmd.log" "$folder/slurmctld.log")"

cat >"$folder/sweep.toml" <<END
[fabric]
leaves = 2
hosts_per_leaf = 4
spines = 4
[traffic]
size = "64kB"
[[arms]]
cc = "nscc"
lb = "reps"
[[arms]]
cc = "dctcp"
lb = "ecmp"
[run]
seeds = 5
[sweep]
fabric.spines = [1, 2, 4]
END
cat >"$folder/job.sh" <<END
#!/bin/bash
srun "$weir" sweep "$folder/sweep.toml" --out "$folder/slurm" --jobs 1 --shard-from-slurm
END
cd "$source"
# Numbers of the array that do not begin at 1 and have steps.
job=$(sbatch --parsable --array=10-16:2 --output="$folder/job-%a.log" "$folder/job.sh")
over() { [ -z "$(squeue -h -j "$job")" ]; }
wait_for 60 over || { echo "the job array did not end"; squeue; exit 1; }
cat "$folder"/job-*.log
[ "$(ls "$folder"/job-*.log | wc -l)" -eq 4 ]
grep -q "8 in this shard" "$folder/job-10.log"
"$weir" sweep "$folder/sweep.toml" --out "$folder/alone" --quiet
"$weir" merge "$folder/slurm" --out "$folder/slurm.json"
"$weir" merge "$folder/alone" --out "$folder/alone.json" >/dev/null
cmp "$folder/slurm.json" "$folder/alone.json"
echo "the merged results are the same"

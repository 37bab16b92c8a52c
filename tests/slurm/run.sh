#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the job scripts under a Slurm of one node that lives in the working directory; multi_node.sh so too, on one node.
#
#   tests/slurm/run.sh PROTEUS SOURCE
#
# Exit status 77 (skipped) where Slurm is not installed or nobody may start it.
set -euo pipefail
program=$1 source=$2 root=$PWD/cluster
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root starts slurmd"
for tool in munged slurmctld slurmd sbatch; do
  PATH=$PATH:/usr/sbin command -v "$tool" > /dev/null || skip "$tool is not installed"
done
PATH=$PATH:/usr/sbin
rm -rf "$root" && mkdir -p "$root"/{state,spool}

finish() {
  for name in slurmd slurmctld; do
    [ ! -s "$root/$name.pid" ] || kill "$(cat "$root/$name.pid")" 2> /dev/null || true
  done
  [ -z "${started_munge:-}" ] || kill "$(cat /run/munge/munged.pid)" 2> /dev/null || true
}
trap finish EXIT

install -d -o munge -g munge -m 0755 /run/munge
if ! pgrep -x munged > /dev/null; then
  runuser -u munge -- munged || skip "munged does not start"
  started_munge=yes
fi
host=$(hostname -s)
# Ranks can be bound to cores only where the node's two exist.
binding=task/affinity launch=()
if [ "$(nproc)" -lt 2 ]; then
  binding=task/none launch=("LAUNCH=srun --mpi=pmix --kill-on-bad-exit=1")
fi
cat > "$root/slurm.conf" << CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=$binding
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool
SlurmctldPidFile=$root/slurmctld.pid
SlurmdPidFile=$root/slurmd.pid
SlurmctldLogFile=$root/slurmctld.log
SlurmdLogFile=$root/slurmd.log
SlurmctldPort=26817
SlurmdPort=26818
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1024 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=02:00:00 State=UP
CONF
export SLURM_CONF=$root/slurm.conf
slurmctld -c
slurmd -c
for _ in $(seq 50); do
  sinfo -h -t idle -o %N 2> /dev/null | grep -q . && break
  sleep 0.2
done
sinfo -h -t idle -o %N | grep -q . || { tail -n 20 "$root"/*.log; echo "FAILED: no idle node"; exit 1; }

export PROTEUS=$program CONFIG=$source/catalog/experiments/gpt2-16xA100.yaml

# job SCRIPT [SBATCH OPTION]...: runs it on two ranks and checks what it leaves in out-SCRIPT.
job() {
  local name=$1 out=$PWD/out-$1 number state=
  shift
  rm -rf "$out" "$name.txt"
  number=$(env "${launch[@]}" OUT="$out" sbatch --parsable --output="$PWD/$name.txt" "$@" "$source/jobs/$name.sh")
  for _ in $(seq 300); do
    state=$(squeue -h -j "$number" -t all -o %T)
    case $state in PENDING | CONFIGURING | RUNNING | COMPLETING) sleep 0.2 ;; *) break ;; esac
  done
  [ "$state" = COMPLETED ] || { cat "$name.txt" || true; tail -n 20 "$root"/*.log; echo "FAILED: $name is $state"; exit 1; }
  for file in run.h5 summary.json; do
    [ -s "$out/$file" ] || { echo "FAILED: $name leaves no $file"; exit 1; }
  done
  grep -q '"ranks": 2' "$out/summary.json" || { echo "FAILED: $name: not two ranks"; exit 1; }
}
job single_node
job multi_node --nodes=1
"$program" diff out-single_node/run.h5 out-multi_node/run.h5

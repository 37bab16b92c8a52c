#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Simulates one experiment on several nodes. The ranks are told before the time limit comes: they write what is complete and
# leave with exit status 75; OUT/run.h5.part stays readable.
#
#   sbatch --nodes=4 --ntasks-per-node=32 --export=ALL,CONFIG=my.yaml jobs/multi_node.sh
#
# PROTEUS   the program            CONFIG  the experiment
# OUT       folder of the results  LAUNCH  what starts the ranks
#SBATCH --job-name=proteus
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
#SBATCH --signal=USR1@180
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
set -euo pipefail
# Edit for your site, or name a file of your own that loads the modules:
# shellcheck source=/dev/null
source "${SITE_ENVIRONMENT:-/dev/null}"

: "${PROTEUS:=build/release/proteus}" "${CONFIG:=catalog/experiments/gpt3-175b-1024xA100.yaml}"
: "${OUT:=out/$SLURM_JOB_ID}"
# Neighbouring ranks exchange most: keep them on one node.
: "${LAUNCH:=srun --mpi=pmix --kill-on-bad-exit=1 --cpu-bind=cores --distribution=block:block}"
export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-1}"
mkdir -p "$OUT"
status=0
$LAUNCH "$PROTEUS" simulate "$CONFIG" -o "$OUT/run.h5" --json "$OUT/summary.json" || status=$?
[ "$status" -ne 75 ] || echo "stopped before the time limit; $OUT/run.h5.part holds what was complete" >&2
exit "$status"

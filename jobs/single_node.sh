#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Simulates one experiment on the cores of one node. Submit it from the repository:
#
#   sbatch jobs/single_node.sh
#   sbatch --ntasks-per-node=16 --export=ALL,CONFIG=my.yaml jobs/single_node.sh
#
# PROTEUS   the program            CONFIG  the experiment
# OUT       folder of the results  LAUNCH  what starts the ranks
#SBATCH --job-name=proteus
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=1
#SBATCH --time=00:30:00
#SBATCH --output=%x-%j.out
set -euo pipefail
# Edit for your site, or name a file of your own that loads the modules:
# shellcheck source=/dev/null
source "${SITE_ENVIRONMENT:-/dev/null}"

: "${PROTEUS:=build/release/proteus}" "${CONFIG:=catalog/experiments/gpt3-175b-1024xA100.yaml}"
: "${OUT:=out/$SLURM_JOB_ID}" "${LAUNCH:=srun --mpi=pmix --kill-on-bad-exit=1}"
export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-1}"
mkdir -p "$OUT"
$LAUNCH "$PROTEUS" simulate "$CONFIG" -o "$OUT/run.h5" --json "$OUT/summary.json"

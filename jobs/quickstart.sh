#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh checkout to a first result: installs what is missing (Debian, as root or with sudo that asks for no
# password), builds, and simulates GPT-3 175B on 1,024 A100s. Called again, it only builds what has changed.
#
#   jobs/quickstart.sh [EXPERIMENT.yaml]
#
# PROTEUS_OUT    the timeline (default build/release/EXPERIMENT.h5)
# PROTEUS_RANKS  MPI ranks (default 1: no launcher)
set -euo pipefail
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=jobs/lib.sh
source jobs/lib.sh

experiment=catalog/experiments/gpt3-175b-1024xA100.yaml
[ $# -eq 0 ] || experiment=$(cd "$called_from" && realpath "$1")
[ -r "$experiment" ] || die 2 "cannot read $experiment"
out=build/release/$(basename "${experiment%.*}").h5
[ -z "${PROTEUS_OUT:-}" ] || out=$(cd "$called_from" && realpath -m "$PROTEUS_OUT")

install_missing build
# Tests that are configured already stay so; without GoogleTest they cannot be.
testing=OFF
if grep -qs '^BUILD_TESTING:BOOL=ON' build/release/CMakeCache.txt &&
  grep -qs '^GTest_DIR:PATH=/' build/release/CMakeCache.txt; then
  testing=ON
fi
configure release "$testing"
build release proteus

run=(build/release/proteus simulate "$experiment" -o "$out")
ranks=${PROTEUS_RANKS:-1}
if [ "$ranks" != 1 ]; then
  mpi_environment
  run=(mpirun -n "$ranks" "${run[@]}")
fi
say "Running: ${run[*]}"
"${run[@]}"
echo
echo "Timeline: $(realpath "$out") ($(du -h "$out" | cut -f1))"

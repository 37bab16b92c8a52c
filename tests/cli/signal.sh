#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run that is told to stop leaves in order: exit status 75, no file under the final name, a readable .part that says how
# far it got. So does one under MPI, where all ranks have to stop together.
source "${SOURCE:?}/tests/cli/support/lib.sh"

# stopped SIGNAL [LAUNCHER...]
stopped() {
  local signal=$1 pid status=0
  shift
  rm -f run.h5 run.h5.part
  "$@" "$PROTEUS" simulate "$experiments/gpt3-175b-1024xA100.yaml" --set simulate.iterations=200 -o run.h5 > run.txt 2>&1 &
  pid=$!
  for _ in $(seq 100); do [ -e run.h5.part ] && break; sleep 0.1; done
  sleep 1
  kill "-$signal" "$pid"
  wait "$pid" || status=$?
  [ "$status" -eq 75 ] || fail "$signal $*: exit status $status: $(cat run.txt)"
  [ ! -e run.h5 ] || fail "$signal $*: an unfinished run under the final name"
  /usr/bin/python3 - <<'PY'
import h5py
with h5py.File("run.h5.part") as file:
    assert file.attrs["complete"] == 0
    assert "timeline/start" in file
PY
  rm -f run.h5.part
}

stopped TERM
# mpirun hands SIGUSR1 on; SIGTERM it takes as its own end and reports a status of its own.
stopped USR1 mpirun -n 2

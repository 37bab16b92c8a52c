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

# A rank that cannot write ends the job: the others would wait for it in the middle of a collective write.
cat > limited.sh <<'SH'
if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then
  trap '' XFSZ
  ulimit -f 200
fi
exec "$@"
SH
status=0
timeout 90 mpirun -n 2 bash limited.sh "$PROTEUS" simulate "$experiments/gpt3-175b-1024xA100.yaml" \
  --set simulate.iterations=1 -o run.h5 > run.txt 2>&1 || status=$?
if [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then fail "a rank that cannot write: exit status $status: $(cat run.txt)"; fi
grep -q "proteus: error: rank 1: " run.txt || fail "nobody says which rank could not write: $(cat run.txt)"
[ ! -e run.h5 ] || fail "a file that is not whole under the final name"
rm -f run.h5.part

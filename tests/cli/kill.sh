#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A rank that dies takes the job down: within seconds, with a message that names it, and what was flushed stays readable.
source "${SOURCE:?}/tests/cli/support/lib.sh"

# killed RANKS RANK SECONDS COMPRESSION: kills RANK of RANKS that long after the first row was written.
killed() {
  local ranks=$1 rank=$2 pid child status=0 begin empty
  rm -f run.h5 run.h5.part
  mpirun -n "$ranks" "$PROTEUS" simulate "$experiments/gpt2-16xA100.yaml" --trace all --set simulate.iterations=6000 \
    --set "simulate.compress=$4" -o run.h5 > run.txt 2>&1 &
  pid=$!
  for _ in $(seq 200); do [ -e run.h5.part ] && break; sleep 0.1; done
  empty=$(stat -c %s run.h5.part)
  for _ in $(seq 200); do [ "$(stat -c %s run.h5.part)" -gt "$empty" ] && break; sleep 0.1; done
  sleep "$3"
  for child in $(pgrep -P "$pid"); do
    if tr '\0' '\n' < "/proc/$child/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$rank"; then kill -KILL "$child"; fi
  done
  begin=$SECONDS
  wait "$pid" || status=$?
  [ "$status" -ne 0 ] || fail "$*: exit status 0"
  [ $((SECONDS - begin)) -le 20 ] || fail "$*: took $((SECONDS - begin)) s to end"
  grep -q "rank $rank" run.txt || fail "$*: nobody names the rank: $(cat run.txt)"
  [ ! -e run.h5 ] || fail "$*: an unfinished run under the final name"
  /usr/bin/python3 - <<'PY'
import h5py
with h5py.File("run.h5.part") as file:
    assert file.attrs["complete"] == 0
    start, duration = file["timeline/start"][:], file["timeline/duration"][:]
    written = int((start >= 0).sum())
    claimed = int(file["devices/rows_done"][:].sum())
    assert 0 <= claimed <= written < len(start), (claimed, written, len(start))
    assert (duration[start >= 0] >= 0).all()
    print(f"{claimed} of {len(start)} rows are there")
PY
}

killed 2 1 0 none
killed 3 0 1.3 none
killed 2 0 0.6 deflate

# Where the file system lost more than the program did, the comparison says so.
"$PROTEUS" simulate "$experiments/gpt2-16xA100.yaml" -o whole.h5 > whole.txt
expect 1 "$PROTEUS" diff run.h5.part whole.h5
grep -q complete stdout.txt || fail "the unfinished file is not told: $(cat stdout.txt)"
head -c 4000 run.h5.part > torn.h5
expect 2 "$PROTEUS" diff torn.h5 whole.h5
grep -q torn.h5 stderr.txt || fail "which file is torn is not told: $(cat stderr.txt)"
rm -f run.h5.part torn.h5 whole.h5

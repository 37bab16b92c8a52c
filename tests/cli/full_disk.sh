#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A disk that gets full, and a limit on the size of files, end a run within seconds, on any number of ranks, with one line
# that says so and exit status 73. What is left is a FILE.part with rows, or nothing.
source "${SOURCE:?}/tests/cli/support/lib.sh"
small=$experiments/gpt2-16xA100.yaml

# told REASON: one line of error of ours, none of HDF5's, nothing that is of no use.
told() {
  [ "$(grep -c 'proteus: error' stderr.txt)" -eq 1 ] || fail "not one line: $(cat stderr.txt)"
  grep 'proteus: error' stderr.txt | grep -q "run.*part: .*$1" || fail "file and reason are missing: $(cat stderr.txt)"
  if grep -q HDF5 stderr.txt; then fail "HDF5 speaks: $(cat stderr.txt)"; fi
}

# limited KIB COMMAND...: no file longer than that.
limited() (
  ulimit -f "$1"
  shift
  exec "$@"
)

if [ -z "${DISK_IS_OURS:-}" ]; then
  rm -f run.*
  for compress in none deflate; do
    expect 73 limited 200 timeout 30 "$PROTEUS" simulate "$small" --trace all --set simulate.iterations=200 \
      --set "simulate.compress=$compress" -o run.h5
    told "File too large"
    [ -z "$(ls run.* 2> /dev/null)" ] || fail "left behind: $(ls run.*)"
    expect 73 limited 200 timeout 60 mpirun -n 2 "$PROTEUS" simulate "$small" --trace all --set simulate.iterations=200 \
      --set "simulate.compress=$compress" -o run.h5
    told "File too large"
    [ -z "$(ls run.* 2> /dev/null)" ] || fail "left behind: $(ls run.*)"
  done
fi

# A disk of this process and its children alone, which is gone with them however they end.
if [ -z "${DISK_IS_OURS:-}" ]; then
  for way in "--mount" "--mount --map-root-user"; do
    # shellcheck disable=SC2086
    if unshare $way mount -t tmpfs -o size=80m tmpfs "$PWD" 2> /dev/null; then
      DISK_IS_OURS=1 exec unshare $way "${BASH:?}" "$0"
    fi
  done
  echo "no disk can be made here; limits on file sizes work"
  exit 0
fi
disk=$PWD/disk
mkdir -p "$disk"
mount -t tmpfs -o size=80m tmpfs "$disk"

# full FREE_KIB RANKS COMPRESSION ITERATIONS
full() {
  local launcher=()
  [ "$2" -eq 1 ] || launcher=(mpirun -n "$2")
  rm -f "$disk"/*
  head -c $(((80 * 1024 - $1) * 1024)) /dev/zero > "$disk/filler"
  expect 73 timeout -k 5 60 "${launcher[@]}" "$PROTEUS" simulate "$small" --trace all --set "simulate.compress=$3" \
    --set "simulate.iterations=$4" -o "$disk/run.h5"
  told "No space left on device"
  [ ! -e "$disk/run.h5" ] || fail "$*: a file that is not whole under the final name"
  [ ! -e "$disk/run.h5.lock" ] || fail "$*: a lock is left behind"
}

for ranks in 1 2 3; do
  for free in 4 40 300 500; do
    full $free $ranks none 40
    [ ! -e "$disk/run.h5.part" ] || fail "$free KiB, $ranks ranks: a file without rows is left behind"
  done
  full 500 $ranks deflate 4000
  [ ! -e "$disk/run.h5.part" ] || fail "$ranks ranks: a file without rows is left behind"
done

# Some segments find room, the next does not: their rows are there.
for case in "1 none 600" "2 deflate 1500"; do
  # shellcheck disable=SC2086
  full 77000 $case
  /usr/bin/python3 - "$disk/run.h5.part" <<'PY'
import h5py, sys
with h5py.File(sys.argv[1]) as file:
    assert file.attrs["complete"] == 0
    start = file["timeline/start"]
    done = int(file["devices/rows_done"][:].sum())
    assert 0 < done < len(start), done
    assert (start[:done] >= 0).all()
PY
done

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One state hash and equal timelines on any number of ranks, under any partition, with and without windows and jitter;
# and another hash as soon as one op is one picosecond longer.
source "${SOURCE:?}/tests/cli/support/lib.sh"
small=$experiments/gpt2-16xA100.yaml

# same NAME OPTIONS... [-- LAUNCHER...]: runs and compares with reference.*
same() {
  local name=$1 launcher=()
  shift
  if [ "${1:-}" = mpi ]; then launcher=(ranks "$2"); shift 2; fi
  "${launcher[@]}" "$PROTEUS" simulate "$small" "${common[@]}" "$@" -o "$name.h5" --json "$name.json" > "$name.txt" ||
    fail "$name: $(cat "$name.txt")"
  local hash
  hash=$(value "$name.json" engine.state_hash)
  [ "$hash" = "$reference" ] || fail "$name: hash $hash, not $reference"
  "$PROTEUS" diff reference.h5 "$name.h5" || fail "$name: another timeline"
}

for jitter in 0 0.02; do
  common=(--set "simulate.compute_jitter=$jitter")
  "$PROTEUS" simulate "$small" "${common[@]}" --sequential -o reference.h5 --json reference.json > reference.txt
  reference=$(value reference.json engine.state_hash)
  for count in 1 2 5 16; do same "virtual-$count" --virtual-ranks "$count"; done
  for policy in auto block replica metis each random:1 random:2 random:3; do same "policy-${policy/:/-}" --virtual-ranks 4 --partition "$policy"; done
  same one-process
  same binary-heap --queue binary
  same binary-heap-windows --queue binary --virtual-ranks 3
  for count in 1 2 3 4; do same "mpi-$count" mpi "$count"; done
done

"$PROTEUS" simulate "$small" "${common[@]}" -o later.h5 --json later.json \
  --set 'simulate.delays=[{device: 3, position: 21, by: 1 ps}]' > later.txt
[ "$(value later.json engine.state_hash)" != "$reference" ] || fail "one picosecond more leaves the hash as it was"
expect 1 "$PROTEUS" diff reference.h5 later.h5
# Links that nodes of several replicas share.
uplinks=$SOURCE/tests/cli/shared_uplinks.yaml
"$PROTEUS" simulate "$uplinks" --sequential --json uplinks.json > uplinks.txt
for count in 1 2 4 8; do
  "$PROTEUS" simulate "$uplinks" --virtual-ranks "$count" --json ranks.json > ranks.txt || fail "$(cat ranks.txt)"
  [ "$(value ranks.json engine.state_hash)" = "$(value uplinks.json engine.state_hash)" ] ||
    fail "shared uplinks: another hash on $count ranks"
done
echo "hash $reference everywhere"

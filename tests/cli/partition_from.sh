#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a run counted decides how the next one is partitioned, and nothing else; counts are the same bits however the run
# was made; those of another experiment are refused with what differs.
source "${SOURCE:?}/tests/cli/support/lib.sh"
job=$experiments/gpt2-16xA100.yaml
# Eight nodes, so that there is something to deal.
spread=(--set cluster.nodes=8 --set strategy.dp=16 --set strategy.micro_batch=1)

run() {
  local name=$1
  shift
  "$@" "$PROTEUS" simulate "$job" "${spread[@]}" -o "$name.h5" --json "$name.json" "${options[@]}" > "$name.txt" ||
    fail "$name: $(cat "$name.txt")"
}
options=(--sequential) && run counted
options=(--virtual-ranks 5 --partition random:3) && run virtual
options=() && run mpi ranks 3
options=(--set simulate.compute_jitter=0.02 --set simulate.iterations=3 --virtual-ranks 4) && run jitter
for policy in auto metis replica; do
  for from in counted jitter; do
    options=(--partition "$policy" --partition-from "$from.h5") && run "$policy-$from" ranks 2
    [ "$(value "$policy-$from.json" engine.state_hash)" = "$(value counted.json engine.state_hash)" ] ||
      fail "$policy by $from: another hash"
    "$PROTEUS" diff counted.h5 "$policy-$from.h5" || fail "$policy by $from: another timeline"
  done
done
/usr/bin/python3 - <<'PY'
import h5py, json
def counts(name):
    return list(h5py.File(name + ".h5")["engine/process_events"][:])
first = counts("counted")
assert sum(first) == json.load(open("counted.json"))["engine"]["events"], first
for name in ("virtual", "mpi", "metis-counted", "auto-jitter"):
    assert counts(name) == first, name
assert counts("jitter") != first
PY

expect 0 "$PROTEUS" partition "$job" "${spread[@]}" --ranks 3 --json
cp stdout.txt predicted.json
expect 0 "$PROTEUS" partition "$job" "${spread[@]}" --ranks 3 --json --partition-from counted.h5
cp stdout.txt measured.json
expect 0 "$PROTEUS" partition "$job" "${spread[@]}" --ranks 3 --partition-from counted.h5
grep -q 'events as counted in counted.h5' stdout.txt || fail "what the prediction rests on is not told"
/usr/bin/python3 - <<'PY'
import json
predicted, measured = (json.load(open(name + ".json")) for name in ("predicted", "measured"))
events = json.load(open("counted.json"))["engine"]["events"]
assert predicted["events_from"] is None and measured["events_from"] == "counted.h5"
for policy in measured["policies"]:
    assert abs(sum(policy["events"]) - events) < 1e-6 * events, policy
assert sum(predicted["policies"][0]["events"]) != events
PY

# refused TEXT OPTIONS...
refused() {
  local text=$1
  shift
  expect 2 "$PROTEUS" simulate "$job" "${spread[@]}" "$@"
  [ "$(wc -l < stderr.txt)" -eq 1 ] || fail "more than one line of error: $(cat stderr.txt)"
  grep -q -- "$text" stderr.txt || fail "$* does not say '$text': $(cat stderr.txt)"
}
refused 'model.seq_len is 1024 there and 512 here' --partition-from counted.h5 --set model.seq_len=512
expect 2 ranks 2 "$PROTEUS" simulate "$job" --partition-from counted.h5
[ "$(grep -c 'proteus: error' stderr.txt)" -eq 1 ] || fail "several ranks tell the same error"
grep -q 'cluster.nodes is 8 there and 2 here' stderr.txt || fail "the other cluster is not named: $(cat stderr.txt)"
expect 2 "$PROTEUS" partition "$job" --ranks 2 --partition-from counted.h5
refused 'exclude each other' --partition-from counted.h5 --fold exact
refused 'missing.h5: partition-from: No such file' --partition-from missing.h5
mkfifo pipe
refused 'is no regular file' --partition-from pipe
rm pipe
refused 'cannot open it' --partition-from "$job"
"$PROTEUS" simulate "$job" "${spread[@]}" --fold exact -o folded.h5 > folded.txt
"$PROTEUS" diff folded.h5 counted.h5 || fail "counts make a folded run differ"
refused 'has no /engine/process_events' --partition-from folded.h5
rm -f ./*.h5

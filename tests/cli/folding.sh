#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exact folding gives the hash and the timeline of the whole job, whatever the fabric; approximate folding comes close
# and says what it assumed; jobs of 16,384 and 98,304 GPUs need as many events as their different devices.
source "${SOURCE:?}/tests/cli/support/lib.sh"
job=$experiments/gpt3-175b-1024xA100.yaml
large=$experiments/llama3-405b-16384xH100.yaml
# 32 nodes, four stages of eight replicas; all rows of some devices of every stage
small=(--set simulate.iterations=1 --set strategy.global_batch=16 --set cluster.nodes=32 --set strategy.pp=4
  --set model.layers=8 --set simulate.trace_devices=0:256:20)

# same NAME DEVICES OPTIONS...: exactly folded to so many devices
same() {
  local name=$1 devices=$2
  shift 2
  expect 0 "$PROTEUS" simulate "$job" "${small[@]}" "$@" -o "$name.h5" --json "$name.json"
  expect 0 "$PROTEUS" simulate "$job" "${small[@]}" "$@" -o folded.h5 --json folded.json --fold exact
  [ "$(value folded.json engine.state_hash)" = "$(value "$name.json" engine.state_hash)" ] || fail "$name: another hash"
  "$PROTEUS" diff "$name.h5" folded.h5 || fail "$name: another timeline"
  [ "$(value folded.json engine.devices_simulated)" = "$devices" ] ||
    fail "$name: $(value folded.json engine.devices_simulated) devices simulated, not $devices"
}

same plain 32
same leaves-that-fit 32 --set cluster.fabric.oversubscription=4 --set cluster.fabric.nodes_per_leaf=8
same leaves-that-do-not 256 --set cluster.fabric.oversubscription=4 --set cluster.fabric.nodes_per_leaf=3
same shared-uplinks 32 --set cluster.fabric.kind=fat-tree --set cluster.fabric.oversubscription=8 \
  --set cluster.fabric.nodes_per_leaf=4
same shared-nics 32 --set 'cluster.node={name: DGX-A100-80, nics: 2}' --set strategy.tp=4 --set strategy.global_batch=32
same one-late-device 64 --set 'simulate.delays=[{device: 9, position: 21, by: 1 ms}]'
same tensor-parallel-over-nodes 32 --set strategy.tp=16
same fair-share 32 --set simulate.network=fair-share --set 'cluster.node={name: DGX-A100-80, nics: 1}'

# On two ranks, too.
expect 0 ranks 2 "$PROTEUS" simulate "$job" "${small[@]}" -o folded.h5 --json folded.json --fold exact
"$PROTEUS" diff plain.h5 folded.h5 || fail "two ranks fold to another timeline"

expect 0 "$PROTEUS" simulate "$job" "${small[@]}" --json approx.json --fold approx \
  --set cluster.fabric.oversubscription=4 --set cluster.fabric.nodes_per_leaf=3
/usr/bin/python3 - <<'PY'
import json
whole, approx = json.load(open("leaves-that-do-not.json")), json.load(open("approx.json"))
error = approx["iteration_time_s"] / whole["iteration_time_s"] - 1
print(f"approximate folding: {100 * error:.2f} % longer")
assert 0 <= error < 0.02, error
assert approx["engine"]["assumptions"], "assumed nothing"
PY

expect 2 "$PROTEUS" simulate "$large" --fold exact
grep -q "compute_jitter" stderr.txt || fail "exact folding of jitter does not name the key"
expect 2 "$PROTEUS" simulate "$job" --fold all
expect 0 "$PROTEUS" simulate "$large" --set simulate.compute_jitter=0 --fold exact --json large.json
expect 0 "$PROTEUS" simulate "$large" --set cluster.nodes=12288 --set strategy.global_batch=12288 --fold approx \
  --json larger.json
for file in large larger; do
  [ "$(value $file.json engine.devices_simulated)" = 128 ] || fail "$file: one node of each of 16 stages should do"
done

# Who runs long without folding is told that it would do, and only then.
long=("$experiments/gpt2-16xA100.yaml" --set cluster.nodes=8 --set strategy.dp=16 --set strategy.micro_batch=1
  --trace none --set simulate.iterations=400)
expect 0 "$PROTEUS" simulate "${long[@]}" --json long.json
grep -q 'hint  *--fold exact gives the same from 16 of 64 GPUs' stdout.txt || fail "no hint: $(cat stdout.txt)"
[ "$(value long.json engine.foldable_to)" = 16 ] || fail "no hint in the summary"
expect 0 "$PROTEUS" simulate "${long[@]}" --fold exact --json long-folded.json
[ "$(value long.json engine.state_hash)" = "$(value long-folded.json engine.state_hash)" ] || fail "the hint is wrong"
[ "$(value long-folded.json engine.foldable_to)" = 0 ] || fail "a hint where there is nothing left to fold"
expect 0 "$PROTEUS" simulate "${long[@]}" --set simulate.iterations=2 --json short.json
[ "$(value short.json engine.foldable_to)" = 0 ] || fail "a hint for a run that ends at once"
expect 0 "$PROTEUS" simulate "${long[@]}" --set simulate.compute_jitter=0.01 --json jitter.json
[ "$(value jitter.json engine.foldable_to)" = 0 ] || fail "a hint where jitter leaves none alike"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What scripts rely on: help, version, exit statuses, one-line errors, nothing left behind.
source "${SOURCE:?}/tests/cli/support/lib.sh"
small=$experiments/gpt2-16xA100.yaml
rm -rf ./*.h5* ./*.json*

expect 0 "$PROTEUS" --help
grep -q "usage: proteus" stdout.txt || fail "no usage in the help"
for command in simulate check compile partition catalog diff; do
  expect 0 "$PROTEUS" "$command" --help
  grep -q "usage: proteus $command" stdout.txt || fail "no usage in the help of $command"
done
expect 0 "$PROTEUS" --version
grep -qE '^Proteus [0-9]+\.[0-9]+\.[0-9]+ \(' stdout.txt || fail "no version"
grep -q '^HDF5 ' stdout.txt || fail "no library versions"

expect 2 "$PROTEUS"
expect 2 "$PROTEUS" simulat
expect 2 "$PROTEUS" simulate
expect 2 "$PROTEUS" simulate missing.yaml
expect 2 "$PROTEUS" simulate "$small" --tra all
expect 2 "$PROTEUS" simulate "$small" --partition best
expect 2 "$PROTEUS" simulate "$small" --sequential --virtual-ranks 2
expect 2 ranks 2 "$PROTEUS" simulate "$small" --sequential
expect 2 ranks 2 "$PROTEUS" simulate "$small" --virtual-ranks 2
expect 2 "$PROTEUS" simulate "$small" --virtual-ranks -1
expect 2 "$PROTEUS" simulate "$small" --virtual-ranks 0
expect 2 "$PROTEUS" simulate "$small" --virtual-ranks 100000
mkfifo pipe
expect 73 "$PROTEUS" simulate "$small" -o pipe
expect 73 "$PROTEUS" simulate "$small" --json pipe
[ -p pipe ] || fail "what was no file has been replaced"
rm pipe
expect 2 "$PROTEUS" simulate "$small" --set 'strategy.tree=[{"**": {store: {weight: dp}}}]'
grep -q 'store.weight' stderr.txt || fail "weights that are not sharded are not named"
expect 2 "$PROTEUS" simulate "$small" --set 'strategy.tree=[{"**": {split: {}}}]'
grep -q 'strategy.batch_axis' stderr.txt || fail "replicas that compute everything are not refused"
expect 2 "$PROTEUS" simulate "$small" --set strategy.tp=1099511627776 --set strategy.pp=16777216
expect 0 ranks 2 "$PROTEUS" --version
[[ $(grep -c '^Proteus ' stdout.txt) == 1 ]] || fail "every rank prints the version"
expect 2 "$PROTEUS" simulate "$small" --partition random:x
expect 2 "$PROTEUS" simulate "$small" --seed -1
expect 2 "$PROTEUS" simulate "$small" --seed x
grep -q -- "--seed takes a whole number" stderr.txt || fail "--seed x: $(cat stderr.txt)"
expect 2 "$PROTEUS" simulate "$small" --trace x
grep -q -- "--trace takes none, summary, comm or all" stderr.txt || fail "--trace x: $(cat stderr.txt)"
expect 0 "$PROTEUS" compile "$small" --print tree --format json
/usr/bin/python3 -c 'import json, sys; assert json.load(open("stdout.txt"))["strategy"]["mesh"]["tp"] == 2'
expect 0 "$PROTEUS" compile "$small" --print graph --format json
/usr/bin/python3 -c 'import json
ops = {op["path"]: op for op in json.load(open("stdout.txt"))["ops"]}
assert {"name": "out", "size": 12, "split": "tp"} in ops["layers[0].attention.qkv"]["dims"], ops["layers[0].attention.qkv"]
branch = ops["layers[0].attention.add"]["inputs"][0]
assert [(step["kind"], step["over"]) for step in branch["reshard"]] == [("all-reduce", "tp")], branch'
expect 0 "$PROTEUS" compile "$small" --print graph --format dot
grep -q '^  o0 -> o1 \[label="all-reduce over tp"\];$' stdout.txt || fail "no edge in the dot file: $(head -5 stdout.txt)"
expect 2 "$PROTEUS" compile "$small" --print tree --format dot
expect 2 "$PROTEUS" simulate "$small" "$small"
expect 2 "$PROTEUS" check "$small" -o run.h5
expect 2 "$PROTEUS" diff run.h5
expect 2 "$PROTEUS" simulate "$small" --set strategy.tp
expect 2 "$PROTEUS" compile "$small" --print everything
expect 2 "$PROTEUS" partition "$small"
expect 2 "$PROTEUS" partition "$small" --ranks 0
expect 2 "$PROTEUS" partition "$small" --ranks 2 --partition best
expect 0 "$PROTEUS" partition "$small" --ranks 500 --json
/usr/bin/python3 -c "import json; j = json.load(open('stdout.txt')); assert sum(j['policies'][0]['devices']) == 16, j"
expect 2 "$PROTEUS" catalog cars
[ "$(wc -l < stderr.txt)" -eq 1 ] || fail "more than one line of error"
expect 73 "$PROTEUS" simulate "$small" -o no/such/folder/run.h5
expect 73 "$PROTEUS" simulate "$small" -o /dev/null/run.h5
expect 73 "$PROTEUS" simulate "$small" --json /dev/null/run.json
expect 73 ranks 2 "$PROTEUS" simulate "$small" -o no/such/folder/run.h5
expect 73 "$PROTEUS" simulate "$small" --json no/such/folder/run.json
expect 73 ranks 3 "$PROTEUS" simulate "$small" -o no/such/folder/run.h5
[ "$(grep -c 'proteus: error' stderr.txt)" -eq 1 ] || fail "several ranks tell the same error"
expect 2 ranks 3 "$PROTEUS" simulate "$small" --set strategy.tp=3 -o run.h5
[ "$(grep -c 'proteus: error' stderr.txt)" -eq 1 ] || fail "several ranks tell the same error"
expect 2 "$PROTEUS" diff missing-a.h5 missing-b.h5

for section in gpus nodes clusters models presets runtimes; do
  expect 0 "$PROTEUS" catalog "$section"
  [ -s stdout.txt ] || fail "nothing in catalog $section"
done
expect 0 "$PROTEUS" check "$small"
expect 0 "$PROTEUS" check "$small" --print-config
cp stdout.txt resolved.yaml
expect 0 "$PROTEUS" simulate "$small" --json a.json -o a.h5
expect 0 "$PROTEUS" simulate resolved.yaml --json b.json -o b.h5
[ "$(value a.json engine.state_hash)" = "$(value b.json engine.state_hash)" ] || fail "the resolved experiment is another one"

# What a preset makes can be edited and fed back.
expect 0 "$PROTEUS" compile "$small" --print tree
{ echo "model: {name: gpt2-117m}"; echo "cluster: {name: dgx-a100-80g, nodes: 2}"; cat stdout.txt; } > expanded.yaml
expect 0 "$PROTEUS" simulate expanded.yaml --json c.json
[ "$(value a.json engine.state_hash)" = "$(value c.json engine.state_hash)" ] || fail "the printed tree makes another job"

# The breakdown adds up.
/usr/bin/python3 - <<'PY'
import json
run = json.load(open("a.json"))
for part in [run] + run["stages"]:
    total = part["breakdown"]
    parts = total["compute_s"] + sum(total["exposed_s"].values()) + total["bubble_s"] + total["host_s"] + total["other_s"]
    assert abs(parts - run["iteration_time_s"]) < 1e-9 * run["iteration_time_s"], (parts, run["iteration_time_s"])
PY
ls ./*.part 2> /dev/null && fail "unfinished files"
exit 0

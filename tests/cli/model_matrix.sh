#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every model of the catalog on 1, 8 and 64 GPUs: convolutional networks with data parallelism, transformers with it and
# with Megatron's axes. All run to the end. Large ones are cut to their first layers: what fits is not the question here.
source "${SOURCE:?}/tests/cli/support/lib.sh"

write() {  # NODES MESH-AND-STRATEGY
  local override=""
  grep -q '^layers:' "$SOURCE/catalog/models/$model.yaml" && override=", layers: 4"
  printf 'model: {name: %s%s}\ncluster: {name: dgx-a100-80g, nodes: %s}\nstrategy:\n%s\nsimulate: {iterations: 1, trace: none}\n' \
    "$model" "$override" "$1" "$2" > experiment.yaml
}

run() {
  expect 0 "$PROTEUS" simulate experiment.yaml --json run.json
  /usr/bin/python3 - "$model" <<'PY'
import json, math, sys
run = json.load(open("run.json"))
assert math.isfinite(run["iteration_time_s"]) and run["iteration_time_s"] > 0, (sys.argv[1], run["iteration_time_s"])
assert 0 < run["mfu"] < 1, (sys.argv[1], run["mfu"])
PY
  runs=$((runs + 1))
}

data_parallel() {  # GPUS
  printf '  {preset: ddp, micro_batch: 4, global_batch: %s}' "$((8 * $1))"
}

runs=0
for file in "$SOURCE"/catalog/models/*.yaml; do
  model=$(basename "$file" .yaml)
  for nodes in 1 8; do
    write "$nodes" "$(data_parallel $((8 * nodes)))"
    run
  done
  printf 'model: {name: %s%s}\ncluster: {name: dgx-a100-80g, nodes: 1, node: {name: DGX-A100-80, gpus: 1, nvlink_domain: 1, nics: 1}}\nstrategy:\n%s\nsimulate: {iterations: 1, trace: none}\n' \
    "$model" "$(grep -q '^layers:' "$file" && echo ', layers: 4')" "$(data_parallel 1)" > experiment.yaml
  run
  grep -q '^family: convnet' "$file" && continue
  write 8 "  {preset: megatron, tp: 4, pp: 2, sequence_parallel: true, global_batch: 32}"
  run
done
models=$(find "$SOURCE/catalog/models" -name '*.yaml' | wc -l)
echo "$runs runs of $models models"
[ "$runs" -ge $((3 * models)) ] || fail "only $runs runs of $models models"

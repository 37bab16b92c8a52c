#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compilation depends on the number of different devices: 16 times as many replicas change neither the number of classes
# nor the size of their programs.
source "${SOURCE:?}/tests/cli/support/lib.sh"
job=$experiments/gpt3-175b-1024xA100.yaml
# The same micro-batches a replica: programs differ only where placement does.
"$PROTEUS" compile "$job" --print programs --format json > small.json
"$PROTEUS" compile "$job" --set cluster.nodes=2048 --set strategy.global_batch=24576 --print programs --format json > large.json
[ "$(value small.json devices) $(value large.json devices)" = "1024 16384" ] || fail "other sizes than meant"
for key in classes program_bytes; do
  [ "$(value small.json $key)" = "$(value large.json $key)" ] || fail "$key: $(value small.json $key) and $(value large.json $key)"
done
echo "classes $(value small.json classes), program bytes $(value small.json program_bytes) at 1,024 and 16,384 devices;" \
  "compile time $(value small.json compile_s) and $(value large.json compile_s) s"

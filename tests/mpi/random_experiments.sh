#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ten random experiments on 1 to 4 MPI ranks: the hash, the summary and the timeline of one loop without ranks.
#
#   random_experiments.sh PROPERTY_TESTS    the program that prints random experiments
source "${SOURCE:?}/tests/cli/support/lib.sh"
generator=${1:?the program that prints random experiments}
policies=(auto replica block metis each random:1 random:2)

# What a summary says of the job, without how the run was made.
facts() {
  /usr/bin/python3 - "$1" <<'PY'
import json, sys
summary = json.load(open(sys.argv[1]))
summary["state_hash"] = summary.pop("engine")["state_hash"]
print(json.dumps(summary, sort_keys=True))
PY
}

runs=0
for seed in 1000 1001 1002 1003 1004 1005 1006 1007 1008 1009; do
  file=random-experiment-$seed.yaml
  "$generator" --print-experiment "$seed" > "$file"
  expect 0 "$PROTEUS" simulate "$file" --sequential -o reference.h5 --json reference.json
  for count in 1 2 3 4; do
    policy=${policies[runs % ${#policies[@]}]}
    queue=$([ $((runs % 3)) = 0 ] && echo binary || echo radix)
    what="$file on $count ranks, --partition $policy --queue $queue"
    expect 0 ranks "$count" "$PROTEUS" simulate "$file" --partition "$policy" --queue "$queue" -o found.h5 \
      --json found.json
    [ "$(facts found.json)" = "$(facts reference.json)" ] || fail "$what: another summary or hash"
    "$PROTEUS" diff reference.h5 found.h5 || fail "$what: another timeline"
    runs=$((runs + 1))
  done
done
echo "$runs runs give what one loop gives"

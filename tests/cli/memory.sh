#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Memory of Korthikanti et al. 2022, figures 1 and 7 (GiB a GPU, as calculon-ai/calculon validation.py reads them):
# parameters with optimizer, and activations without recomputation and with sequence parallelism and selective
# recomputation. Mean error of each at most 5 %. The figures count no embeddings, so a middle stage is compared where
# there is one; activations are those of the first stage, which holds most.
source "${SOURCE:?}/tests/cli/support/lib.sh"
for row in 22b:45.56:59.25:9.56 175b:45.56:66.84:12.35 530b:31.64:114.02:23.08 1t:32.96:131.25:26.56; do
  IFS=: read -r model states none both <<< "$row"
  "$PROTEUS" compile "$experiments/korthikanti/$model-full.yaml" --set strategy.recompute=none --print memory --format json > none.json
  "$PROTEUS" compile "$experiments/korthikanti/$model-selective.yaml" --print memory --format json > both.json
  /usr/bin/python3 - "$model" "$states" "$none" "$both" <<'PY'
import json, sys
model, states, none, both = sys.argv[1], *map(float, sys.argv[2:])
gib = 2.0 ** 30
plain, shared = json.load(open("none.json"))["memory"], json.load(open("both.json"))["memory"]
middle = plain[len(plain) // 2]
held = sum(middle[k + "_bytes"] for k in ("parameters", "gradients", "optimizer")) / gib
for what, found, published in (("states", held, states), ("none", plain[0]["activations_bytes"] / gib, none),
                               ("seq+selective", shared[0]["activations_bytes"] / gib, both)):
    print(model, what, published, found)
PY
done > rows.txt
awk '{ e = $4 / $3 - 1; kind = $2 == "states" ? "states" : "activations"; a = e < 0 ? -e : e; sum[kind] += a; n[kind]++
       printf "%-5s %-14s published %7.2f GiB  predicted %7.2f GiB  %+5.1f %%\n", $1, $2, $3, $4, 100 * e }
     END { for (k in sum) { printf "mean error of %s %.1f %%\n", k, 100 * sum[k] / n[k]; if (sum[k] / n[k] > 0.05) bad = 1 }
           exit bad }' rows.txt

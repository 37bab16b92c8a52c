#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Values that a reader accepts and no machine has: a result or one line with exit status 2, in seconds, and nothing left.
source "${SOURCE:?}/tests/cli/support/lib.sh"
experiment=$SOURCE/catalog/experiments/gpt2-16xA100.yaml
try() {
  local status=0
  rm -rf scratch && mkdir scratch
  (cd scratch && timeout -s KILL 20 "$PROTEUS" simulate "$experiment" -o out.h5 --set simulate.trace=summary "$@" \
    > ../stdout.txt 2> ../stderr.txt) || status=$?
  case $status in
    0) [ ! -s stderr.txt ] || fail "$*: $(cat stderr.txt)" ;;
    2)
      [ "$(wc -l < stderr.txt)" -eq 1 ] || fail "$*: not one line: $(cat stderr.txt)"
      grep -q "expected" stderr.txt || fail "$*: says not what it expects: $(cat stderr.txt)"
      [ -z "$(ls -A scratch)" ] || fail "$*: left $(ls scratch)"
      ;;
    *) fail "$*: exit status $status: $(tail -3 stderr.txt)" ;;
  esac
  echo "$status $*"
}
refused() {
  try "$@" | tee line.txt
  grep -q '^2 ' line.txt || fail "$*: not refused"
}
for length in 20000000 1000000000 2147483648; do refused --set "model.seq_len=$length"; done
refused --set model.hidden=600000000 --set model.ffn_hidden=2147483648
refused --set strategy.global_batch=2147483648
refused --set strategy.micro_batch=500000000 --set strategy.global_batch=2000000000
refused --set cluster.node.gpu.kernel_floor=100000s
refused --set "cluster.node.nic_bandwidth=1 B/s"
refused --set "cluster.node.gpu.memory_bandwidth=1 B/s"
refused --set "cluster.node.gpu.peak={bf16: 1 FLOP/s}"
refused --set model.layers=16384
refused --set "strategy.runtime.state_bytes_per_parameter=1000" --set model.vocab=2147483648 --set model.hidden=1073741824
try --set model.vocab=2000000000
try --set model.seq_len=2000000
try --set "simulate.delays=[{device: 0, position: 3, by: 900000 s}]"
try --set "cluster.node.nic_bandwidth=1e290 GB/s"
# Far more device-seconds than a 64-bit count of picoseconds holds: the breakdown still adds up.
"$PROTEUS" simulate "$experiment" --set model.seq_len=2000000 --set model.attention=flash --set cluster.nodes=512 \
  --set strategy.dp=1024 --set strategy.global_batch=8192 --trace none --fold exact --json long.json > /dev/null
python3 - <<'EOF' || fail "the breakdown of a long run does not add up"
import json
summary = json.load(open("long.json"))
parts = summary["breakdown"]
total = sum(parts[key] for key in ("compute_s", "bubble_s", "host_s", "other_s")) + sum(parts["exposed_s"].values())
assert summary["iteration_time_s"] * 4096 > 9.3e6, summary["iteration_time_s"]
assert abs(total / summary["iteration_time_s"] - 1) < 1e-9, (total, summary["iteration_time_s"])
assert all(parts[key] >= 0 for key in ("compute_s", "bubble_s", "host_s", "other_s")), parts
EOF

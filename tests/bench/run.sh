#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks and prints "benchmark,ranks,metric,value,unit" lines; medians of five where a run is short.
#
#   tests/bench/run.sh [NAME]...    hold, phold, window, main_job, large_job, folding, rows, memory; default: all
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 PMIX_MCA_gds=hash
build=${PROTEUS_BUILD:-build/release}
proteus=$build/proteus
main=catalog/experiments/gpt3-175b-1024xA100.yaml
large=catalog/experiments/llama3-405b-16384xH100.yaml
scratch=$(mktemp -d "${TMPDIR:-/dev/shm}/proteus-bench-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

[ -f "$build/build.ninja" ] || cmake --preset release > /dev/null
ninja -C "$build" proteus bench_phold bench_queue_hold > /dev/null

row() { printf '%s,%s,%s,%s,%s\n' "$@"; }
ranks() { if [ "$1" -gt 1 ]; then mpirun -n "$@"; else "${@:2}"; fi; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# value FILE.json PATH.TO.KEY
value() {
  python3 -c 'import functools, json, sys
print(functools.reduce(lambda node, key: node[key], sys.argv[2].split("."), json.load(open(sys.argv[1]))))' "$1" "$2"
}

hold() {
  "$build/tests/bench_queue_hold" --benchmark_format=csv 2> /dev/null | awk -F, '/^"hold/ {
    gsub(/"/, "", $1); split($1, part, "/"); printf "hold_%s_%s,1,rate,%.0f,events/s\n", part[2], part[3], $7 }'
}

# Fujimoto 1990; 4,096 processes, 16 events each, lookahead 0.1, a tenth of the events remote, mean 1, until 6.
phold() {
  local count
  for count in 1 2; do
    row phold "$count" rate "$(for _ in 1 2 3 4 5; do
      ranks "$count" "$build/tests/bench_phold" "ranks=$((count - 1))" | sed 's/.*events\/s \([^ ]*\).*/\1/'
    done | median)" events/s
  done
}

# Few events a window: what is left is the exchange.
window() {
  row window 2 cost "$(ranks 2 "$build/tests/bench_phold" processes=64 events=1 end_us=2000 ranks=1 |
    sed 's/.*seconds \([^ ]*\).*windows \([^ ]*\).*/\1 \2/' | awk '{ print $1 / $2 * 1e6 }')" us
}

# simulate NAME RANKS EXPERIMENT OPTIONS...
simulate() {
  local name=$1 count=$2
  shift 2
  ranks "$count" "$proteus" simulate "$@" --json "$scratch/run.json" > /dev/null
  row "$name" "$count" time "$(value "$scratch/run.json" engine.seconds)" s
  row "$name" "$count" event_rate "$(value "$scratch/run.json" engine.events_per_s)" events/s
  if [ "$count" -gt 1 ]; then
    row "$name" "$count" windows "$(value "$scratch/run.json" engine.windows)" 1
    row "$name" "$count" perfect_windows "$(value "$scratch/run.json" engine.perfect_windows)" 1
    row "$name" "$count" synchronization "$(value "$scratch/run.json" engine.seconds_synchronization)" s
  fi
}

main_job() {
  local count
  for count in 1 2; do
    simulate main_job "$count" "$main" --trace none
    simulate main_job_jitter "$count" "$main" --trace none --set simulate.compute_jitter=0.02
    simulate main_job_traced "$count" "$main" -o "$scratch/run.h5"
  done
}

large_job() {
  local count
  for count in 1 2; do simulate large_job "$count" "$large"; done
}

# Wall time of the whole command, compilation included.
folding() {
  local begin
  begin=$(date +%s.%N)
  "$proteus" simulate "$large" --set simulate.compute_jitter=0 --fold exact > /dev/null
  row folded_16384_exact 1 wall "$(awk -v b="$begin" -v e="$(date +%s.%N)" 'BEGIN { print e - b }')" s
  begin=$(date +%s.%N)
  "$proteus" simulate "$large" --set cluster.nodes=12288 --set strategy.global_batch=12288 --fold approx > /dev/null
  row folded_98304_approx 1 wall "$(awk -v b="$begin" -v e="$(date +%s.%N)" 'BEGIN { print e - b }')" s
}

rows() {
  local experiment=catalog/experiments/rows.yaml name
  for name in rows_produced rows_written; do
    local options=()
    [ "$name" = rows_produced ] || options=(-o "$scratch/rows.h5")
    "$proteus" simulate "$experiment" --json "$scratch/run.json" "${options[@]}" > /dev/null
    row "$name" 1 rate "$(python3 -c 'import json, sys
engine = json.load(open(sys.argv[1]))["engine"]
print(round(engine["rows"] / engine["seconds"]))' "$scratch/run.json")" rows/s
  done
}

# What one more device costs, from two sizes of one job.
memory() {
  local nodes
  for nodes in 512 2048; do
    /usr/bin/python3 - "$proteus" "$large" "$nodes" <<'PY' > "$scratch/memory-$nodes"
import resource, subprocess, sys
program, experiment, nodes = sys.argv[1:]
subprocess.run([program, "simulate", experiment, "--set", f"cluster.nodes={nodes}", "--set",
                f"strategy.global_batch={int(nodes)}", "--trace", "none"], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
PY
    row "memory_$((nodes * 8))" 1 resident "$(cat "$scratch/memory-$nodes")" bytes
  done
  row memory_a_device 1 resident "$(awk 'NR == 1 { a = $1 } NR == 2 { print ($1 - a) / (1536 * 8) }' \
    "$scratch/memory-512" "$scratch/memory-2048")" bytes
}

echo benchmark,ranks,metric,value,unit
for name in "${@:-hold phold window main_job large_job folding rows memory}"; do
  for part in $name; do
    case $part in
      hold | phold | window | main_job | large_job | folding | rows | memory) "$part" ;;
      *) echo "no benchmark $part" >&2; exit 2 ;;
    esac
  done
done

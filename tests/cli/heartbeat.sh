#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How far a run is: told when asked, on one line a time, by rank 0 alone; results stay as they are.
source "${SOURCE:?}/tests/cli/support/lib.sh"
job=("$PROTEUS" simulate "$experiments/gpt2-16xA100.yaml" --set simulate.iterations=400 --json run.json)

expect 0 "${job[@]}"
[ ! -s stderr.txt ] || fail "not asked, yet it speaks: $(cat stderr.txt)"
hash=$(value run.json engine.state_hash)
expect 0 "${job[@]}" --heartbeat 0
[ ! -s stderr.txt ] || fail "silenced, yet it speaks: $(cat stderr.txt)"

# beats PATTERN LAUNCHER...: lines that match, and nothing else.
beats() {
  local pattern=$1 others
  shift
  expect 0 "$@" --heartbeat 0.01
  [ "$(value run.json engine.state_hash)" = "$hash" ] || fail "$*: another hash"
  grep -Eq "$pattern" stderr.txt || fail "$*: no line like $pattern: $(head -3 stderr.txt)"
  others=$(grep -Ev "$pattern|^proteus: warning: " stderr.txt || true)
  [ -z "$others" ] || fail "$*: other lines: $others"
  # Never backwards, never beyond the end.
  grep -Eo '[0-9.]+ % of rows' stderr.txt | awk '$1 < last || $1 > 100 { exit 1 } { last = $1 } END { exit last <= 0 }' ||
    fail "$*: shares go astray: $(grep -Eo '[0-9.]+ % of rows' stderr.txt | tr '\n' ' ')"
}
one='^proteus: simulated [0-9.e-]+ s, [0-9.]+ % of rows, [0-9.e+]+ events/s(, [0-9]+ s left)?$'
many='^proteus: simulated [0-9.e-]+ s, [0-9.]+ % of rows, [0-9.e+]+ events/s, [0-9.e+]+ windows/s, rank [0-3] slowest \([0-9]+ % busy\)(, [0-9]+ s left)?$'
beats "$one" "${job[@]}"
beats "$many" "${job[@]}" --virtual-ranks 3
beats "$many" mpirun -q -n 2 "${job[@]}"
expect 2 "${job[@]}" --heartbeat -1

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where ranks run is reported, and warned of where they get into each other's way; results do not depend on it.
source "${SOURCE:?}/tests/cli/support/lib.sh"
job=$experiments/gpt2-16xA100.yaml
cores=$(/usr/bin/python3 - <<'PY'
import os
print(len(os.sched_getaffinity(0)))
PY
)
expect 0 "$PROTEUS" simulate "$job" -o alone.h5 --json alone.json
[ ! -s stderr.txt ] || fail "a single process is warned: $(cat stderr.txt)"
hash=$(value alone.json engine.state_hash)

# placed NAME LAUNCHER...: runs under a launcher.
placed() {
  local name=$1
  shift
  expect 0 "$@" "$PROTEUS" simulate "$job" -o "$name.h5" --json "$name.json"
  [ "$(value "$name.json" engine.state_hash)" = "$hash" ] || fail "$name: another hash"
  "$PROTEUS" diff alone.h5 "$name.h5" || fail "$name: another timeline"
  cp stderr.txt "$name.err"
}

# report NAME EXPRESSION: of `host`, the only one, and `warnings`.
report() {
  /usr/bin/python3 - "$1" "$2" <<'PY'
import json, sys
placement = json.load(open(sys.argv[1] + ".json"))["engine"]["placement"]
assert len(placement["hosts"]) == 1, placement
host, warnings = placement["hosts"][0], placement["warnings"]
assert eval(sys.argv[2]), (sys.argv[2], placement)
PY
}
report alone 'host["ranks"] == 1 and host["cores"] >= 1 and host["numa_nodes"] >= 1 and not warnings'

# More ranks than the machine can have cores.
placed crowded mpirun -n $((cores + 1)) --bind-to none
report crowded 'host["ranks"] > host["cores"] and host["bound"] == 0 and len(host["bindings"]) == 1'
grep -q "^proteus: warning: $((cores + 1)) ranks share the " crowded.err || fail "no warning: $(cat crowded.err)"
[ "$(grep -c 'ranks share' crowded.err)" -eq 1 ] || fail "several ranks warn"
report crowded 'any("ranks share" in warning for warning in warnings)'

if [ "$(value alone.json engine.placement.hosts | grep -o "'cores': [0-9]*" | grep -o '[0-9]*')" -lt 2 ]; then
  echo "one core: no binding to tell apart"
  exit 0
fi
placed free mpirun -n 2 --bind-to none
report free 'host["bound"] == 0 and host["bindings"][0]["ranks"] == "0, 1"'
first=$(/usr/bin/python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
placed same mpirun -n 2 --bind-to none taskset -c "$first"
report same 'host["bound"] == 2 and len(host["bindings"]) == 1 and "are bound to core" in warnings[0]'
grep -q '^proteus: warning: ranks 0, 1 are bound to core .*--bind-to core --map-by core.*--cpu-bind=cores' same.err ||
  fail "no warning: $(cat same.err)"
# Some containers do not let a launcher bind.
if mpirun -n 2 --bind-to core --map-by core true > bind.txt 2>&1; then
  placed bound mpirun -n 2 --bind-to core --map-by core
  report bound 'host["bound"] == 2 and not warnings and len({b["cores"] for b in host["bindings"]}) == 2'
  [ ! -s bound.err ] || fail "warned of what it asks for: $(cat bound.err)"
fi
rm -f ./*.h5

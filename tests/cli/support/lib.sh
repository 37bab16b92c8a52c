# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the tests of this folder. $PROTEUS: the program; $SOURCE: the repository. The working directory is the
# test's own.
set -euo pipefail
: "${PROTEUS:?the program}" "${SOURCE:?the repository}"
# shellcheck disable=SC2034  # for those who source this
experiments=$SOURCE/catalog/experiments

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect STATUS COMMAND...: runs it with output in stdout.txt and stderr.txt.
expect() {
  local wanted=$1 status=0
  shift
  "$@" > stdout.txt 2> stderr.txt || status=$?
  [ "$status" -eq "$wanted" ] || fail "exit status $status, not $wanted: $* ($(head -c 400 stderr.txt))"
}

# value FILE.json PATH.TO.KEY
value() {
  /usr/bin/python3 - "$1" "$2" <<'PY'
import json, sys
node = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    node = node[key]
print(node)
PY
}

# ranks N COMMAND...: under MPI.
ranks() {
  local count=$1
  shift
  mpirun -n "$count" "$@"
}

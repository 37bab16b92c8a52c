#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job on 1 to 4 ranks: one hash, equal files.
source "${SOURCE:?}/tests/cli/support/lib.sh"
for count in 1 2 3 4; do
  ranks "$count" "$PROTEUS" simulate "$experiments/gpt3-175b-1024xA100.yaml" -o "$count.h5" --json "$count.json" > "$count.txt"
  [ "$(value "$count.json" engine.state_hash)" = "$(value 1.json engine.state_hash)" ] || fail "another hash on $count ranks"
  "$PROTEUS" diff 1.h5 "$count.h5" || fail "another timeline on $count ranks"
done
rm -f ./*.h5

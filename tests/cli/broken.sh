#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every file of broken/ gives exit status 2 and one line that names file and line and says what its first line expects.
source "${SOURCE:?}/tests/cli/support/lib.sh"
count=0
for file in "$SOURCE"/tests/cli/broken/*.yaml; do
  name=$(basename "$file")
  wanted=$(sed -n '1s/^# expect: //p' "$file")
  [ -n "$wanted" ] || fail "$name says nothing of what it expects"
  for command in "simulate $file -o out.h5 --json out.json" "check $file"; do
    rm -rf scratch && mkdir scratch
    status=0
    # shellcheck disable=SC2086
    (cd scratch && "$PROTEUS" $command > ../stdout.txt 2> ../stderr.txt) || status=$?
    [ "$status" -eq 2 ] || fail "$name: exit status $status: $(cat stderr.txt)"
    [ "$(wc -l < stderr.txt)" -eq 1 ] || fail "$name: not one line: $(cat stderr.txt)"
    [ ! -s stdout.txt ] || fail "$name: output beside the error"
    grep -qE "$name:[0-9]+" stderr.txt || fail "$name: no file and line in: $(cat stderr.txt)"
    grep -qP -- "$wanted" stderr.txt || fail "$name: expected /$wanted/, got: $(cat stderr.txt)"
    [ -z "$(ls -A scratch)" ] || fail "$name: left $(ls scratch)"
  done
  count=$((count + 1))
done
[ "$count" -ge 20 ] || fail "only $count broken files"
echo "$count broken experiments refused"

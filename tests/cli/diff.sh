#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The verdict of a comparison does not depend on how much of it is printed, and there is one whatever the files are.
source "${SOURCE:?}/tests/cli/support/lib.sh"
small=$experiments/gpt2-16xA100.yaml
rm -rf ./*.h5* pipe
compare() { timeout 30 "$PROTEUS" diff "$@"; }

expect 0 "$PROTEUS" simulate "$small" --trace all -o a.h5
expect 0 "$PROTEUS" simulate "$small" --trace all --seed 5 --set simulate.compute_jitter=0.01 -o b.h5
expect 0 compare a.h5 a.h5
expect 1 compare a.h5 b.h5
lines=$(wc -l < stdout.txt)
[ "$lines" -gt 3 ] || fail "few differences: $(cat stdout.txt)"
for limit in 0 1 2; do
  expect 1 compare a.h5 b.h5 --limit $limit
  [ "$(wc -l < stdout.txt)" -eq $((limit + 1)) ] || fail "--limit $limit: $(cat stdout.txt)"
  [ "$(tail -1 stdout.txt)" = different ] || fail "--limit $limit: $(cat stdout.txt)"
  expect 0 compare a.h5 a.h5 --limit $limit
done
for limit in -1 -20 some 1.5 ''; do
  expect 2 compare a.h5 a.h5 "--limit=$limit"
  [ "$(wc -l < stderr.txt)" -eq 1 ] || fail "--limit '$limit': more than one line"
done
expect 2 compare a.h5 a.h5 --limit -1

mkfifo pipe
expect 2 compare pipe a.h5
grep -q "pipe: is no regular file" stderr.txt || fail "no word of the pipe: $(cat stderr.txt)"
expect 2 compare a.h5 pipe
expect 2 compare . a.h5
rm pipe
expect 2 compare a.h5 missing.h5
grep -q "missing.h5: No such file" stderr.txt || fail "not said which is missing: $(cat stderr.txt)"

# Damage, of metadata above all, which lies at the beginning.
/usr/bin/python3 - <<'PY'
import random, subprocess, os
random.seed(3)
whole = open("a.h5", "rb").read()
statuses = set()
for number in range(60):
    data = bytearray(whole)
    at = random.randrange(len(data) if number % 2 else 20000)
    data[at] ^= random.randrange(1, 256)
    open("c.h5", "wb").write(data)
    run = subprocess.run([os.environ["PROTEUS"], "diff", "a.h5", "c.h5"], capture_output=True, timeout=30)
    errors = run.stderr.decode(errors="replace").splitlines()
    assert run.returncode in (0, 1, 2), (at, run.returncode, errors)
    assert len(errors) == (1 if run.returncode == 2 else 0), (at, errors)
    assert run.returncode != 2 or "c.h5" in errors[0], (at, errors)
    statuses.add(run.returncode)
assert statuses == {0, 1, 2}, statuses
PY

# A run that did not end is compared, and said not to have ended.
timeout 60 "$PROTEUS" simulate "$small" --trace all --set simulate.iterations=2000 -o part.h5 > run.txt 2>&1 &
run=$!
for _ in $(seq 100); do [ -e part.h5.part ] && break; sleep 0.1; done
kill "$(pgrep -P "$run")"
wait "$run" || true
mv part.h5.part c.h5
expect 0 compare c.h5 c.h5
grep -q "warning: c.h5 is not complete" stderr.txt || fail "not said that it is not complete: $(cat stderr.txt)"
expect 1 compare a.h5 c.h5
expect 0 compare a.h5 a.h5
[ ! -s stderr.txt ] || fail "a warning without a reason: $(cat stderr.txt)"
rm -f ./*.h5

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is written replaces no input, no other output and nothing of another run, and what cannot be written is told before
# the run.
source "${SOURCE:?}/tests/cli/support/lib.sh"
small=$experiments/gpt2-16xA100.yaml
rm -rf ./*.h5* ./*.json* ./*.yaml ./catalog ./folder
simulate() { timeout 60 "$PROTEUS" simulate "$@"; }

# refused STATUS TEXT ARGUMENTS...: with one line that has the text, before anything is simulated.
refused() {
  local status=$1 text=$2
  shift 2
  expect "$status" simulate "$@"
  grep -q -- "$text" stderr.txt || fail "$*: $(cat stderr.txt)"
  [ "$(wc -l < stderr.txt)" -eq 1 ] || fail "$*: more than one line"
  [ ! -s stdout.txt ] || fail "$*: it has been simulated"
}

# Inputs, by whatever name.
cat > config.json <<'JSON'
{"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257,
 "architectures": ["GPT2LMHeadModel"]}
JSON
expect 0 "$PROTEUS" check "$small" --print-config
cp stdout.txt mine.yaml
cat > hf.yaml <<'YAML'
model: {file: config.json}
YAML
/usr/bin/python3 - <<'PY'
import re
text = open("mine.yaml").read()
open("hf.yaml", "a").write(text[text.index("\ncluster:") + 1:])
PY
ln -s mine.yaml link.yaml
ln mine.yaml hard.yaml
cp mine.yaml kept.yaml
for name in mine.yaml ./mine.yaml "$PWD/mine.yaml" link.yaml hard.yaml; do
  refused 2 "would replace the experiment" mine.yaml -o "$name"
  refused 2 "would replace the experiment" mine.yaml --json "$name"
  refused 2 "would replace the experiment" link.yaml --json "$name"
done
expect 2 ranks 2 "$PROTEUS" simulate mine.yaml -o mine.yaml
[ "$(grep -c 'proteus: error' stderr.txt)" -eq 1 ] || fail "several ranks tell the same error"
cmp -s mine.yaml kept.yaml || fail "the experiment is another one now"
expect 0 simulate hf.yaml
refused 2 "description of the model" hf.yaml -o config.json
refused 2 "description of the model" hf.yaml --json config.json
cp -r "$SOURCE/catalog" catalog
PROTEUS_CATALOG=$PWD/catalog refused 2 "entry of the catalog" mine.yaml -o catalog/models/gpt2-117m.yaml
cmp -s catalog/models/gpt2-117m.yaml "$SOURCE/catalog/models/gpt2-117m.yaml" || fail "the catalog is another one now"
expect 0 simulate mine.yaml -o earlier.h5
refused 2 "partition-from" mine.yaml --partition-from earlier.h5 -o earlier.h5
refused 2 "partition-from" mine.yaml --partition-from earlier.h5 --json ./earlier.h5

# Outputs among themselves.
refused 2 "would both write" mine.yaml -o a.h5 --json a.h5
refused 2 "would both write" mine.yaml -o a.h5 --json "$PWD/a.h5"
refused 2 "would both write" mine.yaml -o a.h5 --json a.h5.part
ln -s a.h5 alias
refused 2 "would both write" mine.yaml -o a.h5 --json alias
rm alias

# Nothing, or no file.
refused 2 "takes the name of a file" mine.yaml -o ''
refused 2 "takes the name of a file" mine.yaml --json ''
mkdir folder
refused 73 "is a directory" mine.yaml -o folder
refused 73 "is a directory" mine.yaml --json folder
refused 73 "a file name is missing" mine.yaml --json folder/
refused 73 "does not exist" mine.yaml --json no/such/folder/run.json
[ -z "$(ls ./*.part ./*.lock 2> /dev/null)" ] || fail "left behind: $(ls ./*.part ./*.lock)"

# A link is followed, whether or not something is at its end.
ln -s folder/target.h5 linked.h5
ln -s folder/target.json linked.json
for _ in 1 2; do
  expect 0 simulate mine.yaml -o linked.h5 --json linked.json
  if ! [ -L linked.h5 ] || ! [ -L linked.json ]; then fail "the links are gone"; fi
  [ "$(ls folder)" = "target.h5
target.json" ] || fail "not what the links stand for: $(ls folder)"
done
expect 0 "$PROTEUS" diff folder/target.h5 earlier.h5

# Two runs at once: the second is refused, the first is not touched. Also under MPI, where rank 0 finds out.
long=(--trace all --set simulate.iterations=100000)
for launcher in "" "mpirun -n 2"; do
  # shellcheck disable=SC2086
  timeout 90 $launcher "$PROTEUS" simulate mine.yaml "${long[@]}" -o both.h5 --json both.json > first.txt 2>&1 &
  first=$!
  for _ in $(seq 100); do [ -e both.h5.part ] && break; sleep 0.1; done
  refused 73 "another run is writing it" mine.yaml -o both.h5
  refused 73 "another run is writing it" mine.yaml --json both.json
  expect 73 timeout 60 mpirun -n 3 "$PROTEUS" simulate mine.yaml -o both.h5
  [ "$(grep -c 'proteus: error' stderr.txt)" -eq 1 ] || fail "several ranks tell the same error: $(cat stderr.txt)"
  expect 73 timeout 60 mpirun -n 3 "$PROTEUS" simulate mine.yaml --json both.json
  [ "$(grep -c 'proteus: error' stderr.txt)" -eq 1 ] || fail "several ranks tell the same error: $(cat stderr.txt)"
  # mpirun hands it on.
  kill -USR1 "$(pgrep -P "$first")"
  status=0
  wait "$first" || status=$?
  [ "$status" -eq 75 ] || fail "the first run did not go on: $status $(cat first.txt)"
  [ -e both.h5.part ] || fail "the first run lost its file"
  rm both.h5.part
  expect 0 simulate mine.yaml -o both.h5 --json both.json
  rm both.h5 both.json
done

# What a killed run leaves is in nobody's way.
timeout 60 "$PROTEUS" simulate mine.yaml "${long[@]}" -o both.h5 > first.txt 2>&1 &
first=$!
for _ in $(seq 100); do [ -e both.h5.part ] && break; sleep 0.1; done
kill -KILL "$(pgrep -P "$first")"
wait "$first" || true
expect 0 simulate mine.yaml -o both.h5
[ -z "$(ls ./*.part ./*.lock 2> /dev/null)" ] || fail "left behind: $(ls ./*.part ./*.lock)"

# Standard output that cannot be written, full or closed; nothing else may end up in its place.
for arguments in "--help" "--version" "simulate mine.yaml" "check mine.yaml" "check mine.yaml --print-config" \
  "compile mine.yaml" "partition mine.yaml --ranks 2" "catalog models" "diff earlier.h5 earlier.h5" "diff --help"; do
  for way in full closed; do
    status=0
    # shellcheck disable=SC2086
    if [ $way = full ]; then
      timeout 60 "$PROTEUS" $arguments > /dev/full 2> stderr.txt || status=$?
    else
      timeout 60 "$PROTEUS" $arguments >&- 2> stderr.txt || status=$?
    fi
    [ "$status" -eq 73 ] || fail "$arguments, $way: exit status $status"
    grep -q "proteus: error: cannot write standard output" stderr.txt || fail "$arguments, $way: $(cat stderr.txt)"
    [ "$(wc -l < stderr.txt)" -eq 1 ] || fail "$arguments, $way: $(cat stderr.txt)"
  done
done
status=0
"$PROTEUS" simulate mine.yaml -o quiet.h5 --json quiet.json >&- 2> stderr.txt || status=$?
[ "$status" -eq 73 ] || fail "exit status $status"
expect 0 "$PROTEUS" diff quiet.h5 earlier.h5
value quiet.json engine.state_hash > hash.txt
status=0
"$PROTEUS" simulate missing.yaml >&- 2> stderr.txt || status=$?
[ "$status" -eq 2 ] || fail "an error of its own is covered: $status"

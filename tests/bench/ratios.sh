#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A ratio that holds on any machine, from interleaved runs, the best of each: other work slows some of them, and none is
# faster than the machine.
source "${SOURCE:?}/tests/cli/support/lib.sh"
build=$(dirname "$PROTEUS")
hold_rate() {
  "$build/tests/bench_queue_hold" --benchmark_format=csv --benchmark_min_time=0.2 \
    --benchmark_filter="hold/$1/65536" 2> /dev/null | awk -F, '/^"hold/ { print $7 }'
}
best() { sort -g "$1" | tail -1; }
rm -f bare.txt radix.txt phold.txt
for _ in 1 2 3 4 5; do
  hold_rate priority_queue >> bare.txt
  hold_rate radix >> radix.txt
  "$build/tests/bench_phold" ranks=0 end_us=12 | sed 's/.*events\/s \([^ ]*\).*/\1/' >> phold.txt
done
echo "radix heap $(best radix.txt) holds/s, std::priority_queue $(best bare.txt)"
awk -v r="$(best radix.txt)" -v b="$(best bare.txt)" 'BEGIN { exit !(r >= 2.5 * b) }' ||
  fail "the radix heap is not 2.5 times as fast as std::priority_queue with 65,536 pending events"
echo "PHOLD $(best phold.txt) events/s"
awk -v p="$(best phold.txt)" -v b="$(best bare.txt)" 'BEGIN { exit !(p >= 0.75 * b) }' ||
  fail "an event of PHOLD, all included, takes over 1.33 times a hold of std::priority_queue with as many pending events"

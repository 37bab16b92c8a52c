#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Style and static analysis of everything that git tracks or would track. Needs a configured build/release, built at
# least once (clang-tidy reads its compile commands and generated headers).
#
#   tests/lint.sh          check
#   tests/lint.sh --fix    let clang-format rewrite
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=jobs/lib.sh
source jobs/lib.sh

sources() { git ls-files -z --cached --others --exclude-standard -- "$@"; }

say "Checking scripts ..."
mapfile -d '' -t scripts < <(sources '*.sh' .ci/run)
for script in "${scripts[@]}"; do
  bash -n "$script"
done
shellcheck -x "${scripts[@]}"

say "Checking the format of C++ ..."
format=(--dry-run --Werror)
[ "${1:-}" != --fix ] || format=(-i)
sources '*.cpp' '*.hpp' | xargs -0 clang-format-14 "${format[@]}"

say "Running clang-tidy ..."
/usr/bin/python3 tests/tidy.py build/release

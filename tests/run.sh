#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All checks: installs what is missing (Debian), builds, lints, runs every test. Arguments go to CTest:
#
#   tests/run.sh                     everything
#   tests/run.sh -R unit.engine      what matches; -L and -E as in ctest(1)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=jobs/lib.sh
source jobs/lib.sh

# Public measurements that may be quoted but not shipped; tests that read them are skipped where they are absent.
if [ -z "${PROTEUS_SHARED_DATA:-}" ] && [ -d ../shared/data ]; then
  PROTEUS_SHARED_DATA=$(realpath ../shared/data)
  export PROTEUS_SHARED_DATA
fi

install_missing build test
configure release ON
build release
tests/lint.sh

# CTest's summary is the last thing printed.
exec ctest --preset release -j2 "$@"

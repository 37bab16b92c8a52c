#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the collectives of `proteus compile` with those that theory gives: collectives.json, which derives each number
and says where and why it differs from what the original Proteus (JF-D/Proteus) makes of the same job."""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--proteus", required=True, help="the program")
parser.add_argument("--catalog", required=True, help="the catalog folder")
options = parser.parse_args()

folder = pathlib.Path(__file__).resolve().parent
failed = False
for name, golden in json.loads((folder / "collectives.json").read_text()).items():
    command = [options.proteus, "compile", folder / "experiments" / (name + ".yaml"), "--print", "collectives", "--format", "json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {"PROTEUS_CATALOG": options.catalog})
    found = collections.Counter()
    for entry in json.loads(output.stdout)["collectives"]:
        found[entry["collective"], entry["members"], entry["traffic"]] += entry["instances"]
    expected = {(e["collective"], e["members"], e["traffic"]): e["instances"] for e in golden["collectives"]}
    for key in sorted(set(found) | set(expected)):
        right = found.get(key, 0) == expected.get(key, 0)
        failed = failed or not right
        print(f"{name:24} {key[0]:14} of {key[1]} {key[2]:10} expected {expected.get(key, 0):6.0f} found {found.get(key, 0):6.0f}"
              f"{'' if right else '  <-- differs'}")
sys.exit(failed)

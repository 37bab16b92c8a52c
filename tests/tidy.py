#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the program's translation units (not the tests), each only when something it reads changed.

usage: tidy.py BUILD_DIRECTORY

A unit that passed leaves an empty file BUILD_DIRECTORY/tidy/HASH. The hash covers the tool, its checks, the compile
command and the text of the unit and of every header of the project that it includes.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

TIDY = "clang-tidy-14"
CHECKED = ("src", "io", "partition")
# GCC options that clang does not know; a redundant diagnosis is the compiler's job.
ARGUMENTS = ["--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error"]


def dependencies(build):
    """Object file -> files it was compiled from, as ninja recorded them."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found, current = {}, None
    for line in listing.splitlines():
        if line.startswith("    "):
            current.append(pathlib.Path(build, line.strip()).resolve())
        elif ": #deps" in line:
            current = found.setdefault(line.split(": #deps")[0], [])
    return found


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(__file__).resolve().parent.parent
    cache = build / "tidy"
    cache.mkdir(exist_ok=True)
    tool = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    base = hashlib.sha256(tool + (root / ".clang-tidy").read_bytes() + repr(ARGUMENTS).encode())
    inputs = dependencies(build)
    texts = {}

    def key(unit):
        digest = base.copy()
        digest.update(unit["command"].encode())
        for path in sorted({pathlib.Path(unit["file"]), *inputs.get(unit["command"].split(" -o ")[1].split()[0], [])}):
            if path.is_relative_to(root):
                if path not in texts:
                    texts[path] = hashlib.sha256(path.read_bytes()).digest()
                digest.update(str(path.relative_to(root)).encode() + texts[path])
        return cache / digest.hexdigest()

    units = [unit for unit in json.loads((build / "compile_commands.json").read_text())
             if pathlib.Path(unit["file"]).relative_to(root).parts[0] in CHECKED]
    pending = [(unit["file"], passed) for unit in units if not (passed := key(unit)).exists()]

    def check(item):
        file, passed = item
        result = subprocess.run([TIDY, *ARGUMENTS, "-p", build, file], capture_output=True, text=True)
        if result.returncode == 0:
            passed.touch()
        return file, result

    began, failed = time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for file, result in workers.map(check, pending):
            if result.returncode != 0:
                failed += 1
                print(f"{file}:\n{result.stdout}{result.stderr}", file=sys.stderr)
    print(f"clang-tidy: {len(pending)} of {len(units)} units checked in {time.monotonic() - began:.0f} s, "
          f"{failed} failed", file=sys.stderr)
    return 1 if failed else 0


sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Reads Proteus timelines with h5py and numpy; docs/trace-format.md explains the format.

    python3 read_timeline.py FILE [DEVICE]    prints the time of one device by kind of op
"""
import sys

import h5py
import numpy as np

TABLES = ("op", "kind", "phase", "stream", "traffic", "communicator")
PLAIN = ("step", "micro_batch", "bytes", "flops")


def devices(file):
    """Numbers of the traced devices."""
    return file["devices/device"][:]


def rows_of(file, device):
    """Rows of one device by program position, as arrays of one length: start and duration in ps (-1 where a killed
    run did not get), iteration, and the columns of its program. Columns that are indices stay indices: see text()."""
    index = int(np.flatnonzero(devices(file) == device)[0])
    program = file[f"programs/{file['devices/class'][index]}"]
    rows, iterations = int(program.attrs["rows"]), int(program.attrs["iterations"])
    total = rows * iterations
    row_start = file["devices/row_start"][:, index]
    segments = len(row_start)

    columns = {name: np.full(total, -1, dtype="i8") for name in ("start", "duration")}
    done = int(file["devices/rows_done"][index])
    for segment, row in enumerate(row_start):
        first = segment * total // segments
        last = min((segment + 1) * total // segments, done)
        if first < last:
            for name, values in columns.items():
                values[first:last] = file[f"timeline/{name}"][row:row + last - first]

    columns["iteration"] = np.repeat(np.arange(iterations), rows)
    for name in TABLES + PLAIN:
        columns[name] = np.tile(program[name][:], iterations)
    return columns


def text(file, program_column, values):
    """Names for the indices of a column of TABLES; "" for -1."""
    table = "op" if program_column == "kind" else program_column
    names = np.append(file[f"strings/{table}"].asstr()[:], "")
    return names[values]


def main():
    with h5py.File(sys.argv[1]) as file:
        device = int(sys.argv[2]) if len(sys.argv) > 2 else int(devices(file)[0])
        rows = rows_of(file, device)
        to_seconds = file["timeline/duration"].attrs["to_seconds"]
        done = rows["start"] >= 0
        kinds = text(file, "kind", rows["kind"])
        print(f"device {device}: {done.sum()} of {len(done)} rows")
        for kind in np.unique(kinds[done]):
            here = done & (kinds == kind)
            print(f"  {kind:24} {here.sum():8}  {rows['duration'][here].sum() * to_seconds:.6f} s")


if __name__ == "__main__":
    main()

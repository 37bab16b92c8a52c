# SPDX-License-Identifier: Apache-2.0
"""Draws the pipeline of a timeline as an SVG: one line a traced device, one box a pass of a micro-batch.

    python3 plot_timeline.py RUN.h5 OUT.svg

Needs h5py and numpy. The picture of README.md is the main job with 12 micro-batches a replica:

    proteus simulate catalog/experiments/gpt3-175b-1024xA100.yaml -o run.h5 \\
        --set strategy.global_batch=192 --set simulate.iterations=1
"""
import sys

import h5py
import numpy as np

from read_timeline import devices, rows_of, text

WIDTH, LEFT, LINE = 1180, 74, 30
COLOURS = {"forward": "#4c78a8", "backward": "#f2a541", "epilogue": "#54a24b"}


def passes(file, device):
    """(start s, end s, kind, micro-batch) of every pass that the device ran."""
    rows = rows_of(file, device)
    compute = (text(file, "stream", rows["stream"]) == "compute") & (rows["start"] >= 0)
    names = text(file, "phase", rows["phase"])
    keys = rows["iteration"] * (rows["step"].max() + 1) + rows["step"]
    for key in np.unique(keys[compute]):
        chosen = compute & (keys == key)
        start = rows["start"][chosen].min()
        end = (rows["start"] + rows["duration"])[chosen].max()
        first = np.flatnonzero(chosen)[0]
        yield start * 1e-12, end * 1e-12, names[first], rows["micro_batch"][first]


def main():
    with h5py.File(sys.argv[1]) as file:
        lines = [(int(device), int(stage), list(passes(file, device)))
                 for device, stage in zip(devices(file), file["devices/stage"][:])]
    last = max(end for _, _, boxes in lines for _, end, _, _ in boxes)
    scale = (WIDTH - LEFT - 10) / last
    height = LINE * len(lines) + 62
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for number, (device, stage, boxes) in enumerate(lines):
        y = 8 + number * LINE
        out.append(f'<text x="6" y="{y + 17}">stage {stage}</text>')
        out.append(f'<rect x="{LEFT}" y="{y}" width="{last * scale:.1f}" height="{LINE - 5}" fill="#eeeeee"/>')
        for start, end, phase, micro_batch in boxes:
            kind = next(kind for kind in COLOURS if phase.startswith(kind))
            width = max((end - start) * scale, 0.6)
            title = f"device {device}, {phase}, micro-batch {micro_batch}: {start:.3f} to {end:.3f} s"
            out.append(f'<rect x="{LEFT + start * scale:.1f}" y="{y}" width="{width:.1f}" height="{LINE - 5}" '
                       f'fill="{COLOURS[kind]}" stroke="white" stroke-width="0.6"><title>{title}</title></rect>')
            if width > 14 and kind != "epilogue":
                out.append(f'<text x="{LEFT + (start + end) / 2 * scale:.1f}" y="{y + 17}" text-anchor="middle" fill="white">{micro_batch}</text>')
    y = 8 + len(lines) * LINE
    for tick in np.arange(0, last, 0.5):
        x = LEFT + tick * scale
        out.append(f'<line x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{y + 5}" stroke="#666"/><text x="{x:.1f}" y="{y + 18}" text-anchor="middle" fill="#444">{tick:g} s</text>')
    for number, (kind, colour) in enumerate((*COLOURS.items(), ("waiting", "#eeeeee"))):
        x = LEFT + number * 110
        out.append(f'<rect x="{x}" y="{y + 32}" width="14" height="12" fill="{colour}"/><text x="{x + 20}" y="{y + 42}">{kind}</text>')
    out.append("</svg>")
    with open(sys.argv[2], "w") as svg:
        svg.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()

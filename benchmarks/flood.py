"""A fake claude that prints as much as it is told: an opening, a body over and over, an ending.

usage: python -I -S flood.py OPENING BODY ENDING BYTES [PROMPT]

The three are files; the body is repeated until BYTES are out.
"""

import os
import sys

parts = []
for name in sys.argv[1:4]:
    with open(name, "rb") as file:  # noqa: PTH123 - pathlib costs as much as all this
        parts.append(file.read())


def write(data: bytes) -> int:
    """Write all of it to standard output."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]
    return len(data)


left = int(sys.argv[4]) - sum(write(part) for part in parts[:1])
while left > 0:
    left -= write(parts[1])
write(parts[2])

"""What a comparison or a run prints on a terminal, as a person would copy it."""

from __future__ import annotations


def find_commands(text: str, label: str) -> list[str]:
    """The commands below or behind a label, such as `rerun`; a long one has a line of its own."""
    lines = [line.strip() for line in text.splitlines()]
    found = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line == label:
            found.append(following)
        elif line.startswith(f"{label} "):
            found.append(line.removeprefix(label).strip())
    return found

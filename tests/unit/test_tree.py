"""The package stays one that a stranger can hold in the head: short files, small folders."""

from collections import Counter
from pathlib import Path

import click

from routing_action.cli.main import group

SOURCE = Path(__file__).resolve().parents[2] / "src/routing_action"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 300
MOST_FILES = 16


def test_no_module_is_long() -> None:
    """A file of more than 300 lines is split by subject."""
    lines = {str(path.relative_to(SOURCE)): path.read_text("utf-8").count("\n") for path in MODULES}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_no_folder_is_crowded() -> None:
    """A folder of more than 16 modules becomes two; in `cli` those of a command are not counted."""
    commands = group.list_commands(click.Context(group))
    counted = [
        path
        for path in MODULES
        if path.name != "__init__.py"
        and not (path.parent == SOURCE / "cli" and path.stem in commands)
    ]
    files = Counter(str(path.parent.relative_to(SOURCE)) for path in counted)
    assert {folder: count for folder, count in files.items() if count > MOST_FILES} == {}

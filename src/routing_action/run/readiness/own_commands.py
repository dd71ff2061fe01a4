"""What can be told of the commands that users gave agents in place of their own."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from routing_action.agents.provider import Provider, template_variable
from routing_action.git.changes import list_tree
from routing_action.git.command import find_work_tree, resolve
from routing_action.run.settings import agent_templates


def find_template_files(templates: Collection[str], root: Path) -> tuple[str, ...]:
    """The committed files below a folder that stand in commands, by their paths in it, sorted."""
    words = {one for text in templates for one in _BETWEEN.split(text)}
    for text in templates:
        with suppress(ValueError):  # the run itself says so
            words.update(shlex.split(text))
    top = find_work_tree(root) if words else None
    if top is None or resolve(top, "HEAD") is None:
        return ()
    below, tree = root.resolve(), list_tree(top, "HEAD")
    places = {Path(os.path.normpath(below / word)) for word in words}
    found = [one for one in places if below in one.parents]
    tracked = (one for one in found if one.relative_to(top).as_posix() in tree)
    return tuple(sorted(one.relative_to(below).as_posix() for one in tracked))


_BETWEEN = re.compile(r"""[\s='";]+""")


def describe_plain_text(
    providers: Mapping[str, Provider], environ: Mapping[str, str], absent: int
) -> Iterator[str]:
    """Which agents' commands print what shows no load; `absent` cases depend on absence."""
    cases = "1 case depends" if absent == 1 else f"{absent} cases depend"
    for agent, template in agent_templates(providers, environ).items():
        if missing := missing_record_flag(providers[agent], template):
            yield (
                f"{agent}: {template_variable(agent)} has no {missing}, and plain text shows no "
                f"load of a skill: {cases} on absence and cannot be measured; add {missing} to it"
            )


def missing_record_flag(provider: Provider, template: str) -> str:
    """The option that a template lacks to print records; "" where it has one, or none is known.

    Only a template that names the CLI itself is judged: what another program does is unknown.
    """
    program, text = provider.command[0], f" {template.replace('=', ' ')} "
    names_it = re.search(rf"""[\s/'"]{re.escape(program)}[\s'"]""", text)
    if names_it is None or any(f" {flag} " in text for flag in provider.record_flags):
        return ""
    return provider.record_flags[0] if provider.record_flags else ""

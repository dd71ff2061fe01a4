"""Says what was unusual about a measurement: what a reader must know and no row tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from routing_action.agents.provider import template_variable
from routing_action.gate.wording import name_few
from routing_action.results.model import Options

UNCOMMITTED = "uncommitted edits"


def list_conditions(measured: Iterable[Options], uncommitted: Sequence[str]) -> tuple[str, ...]:
    """A sentence for each condition, once; `uncommitted` are the paths where it is judged."""
    said = [sentence for options in measured for sentence in _list(options)]
    if uncommitted:
        said.append(f"judged in a checkout with {UNCOMMITTED} of {name_few(uncommitted, 3)}")
    return tuple(dict.fromkeys(said))


def _list(options: Options) -> Iterator[str]:
    for agent in options.templates:
        yield f"{agent} was started by {template_variable(agent)}, not by its own command"
    if options.uncommitted:
        yield f"measured in a checkout with {UNCOMMITTED} of {name_few(options.uncommitted, 3)}"
    folders = (
        (options.replay, "recordings of {} were replayed: no agent was started"),
        (options.skills, "skills were staged from {}"),
    )
    yield from (text.format(folder) for folder, text in folders if folder)
    flags = {
        "agents worked in the checkout itself (--workspace shared)": options.workspace == "shared",
        "session logs could prove a skill (--allow-log-fallback-pass)": (
            options.allow_log_fallback_pass
        ),
        "loads in sub-agents were no proof (--subagent-loads ignore)": (
            options.subagent_loads == "ignore"
        ),
        "runs were ended as soon as their verdict was settled (--stop-early)": options.stop_early,
    }
    yield from (text for text, is_so in flags.items() if is_so)

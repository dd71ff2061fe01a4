"""Tells beforehand which agents a leg cannot measure, and leaves the marker that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from routing_action.evidence.reader_protocol import Provider
from routing_action.results.batch_folder import write_atomically
from routing_action.results.unmeasured import MARKER_FILE, NotMeasured
from routing_action.run.settings import agent_templates
from routing_action.run.workspace.agent_home import find_login_files

MARKERS = "not-measured"


def missing_credentials(
    providers: Iterable[Provider], environ: Mapping[str, str], *, from_fork: bool
) -> dict[str, str]:
    """The reason for each agent that has neither a credential nor a login nor its own command.

    One of an agent's credential variables or login files is enough. `from_fork` only explains.
    """
    return {
        one.name: _reason(one, from_fork)
        for one in providers
        if one.credential_variables and not _can_log_in(one, environ)
    }


def _can_log_in(provider: Provider, environ: Mapping[str, str]) -> bool:
    if agent_templates([provider.name], environ):
        return True
    if any(environ.get(name, "").strip() for name in provider.credential_variables):
        return True
    return bool(find_login_files(provider, environ))


def _reason(provider: Provider, from_fork: bool) -> str:
    names = " or ".join(provider.credential_variables)
    if from_fork:
        return f"a pull request from a fork gets no secrets, so {names} is not set"
    return f"{names} is not set; give the secret to this step with env"


def write_markers(folder: Path, reasons: Mapping[str, str]) -> None:
    """One marker for each agent, where `store.unmeasured` finds it below the leg's folder."""
    for agent, reason in reasons.items():
        text = NotMeasured(agent=agent, reason=reason).model_dump_json() + "\n"
        write_atomically(folder / MARKERS / agent / MARKER_FILE, text)

"""A provider is plain data, and every one of ours can be used by the harness."""

from __future__ import annotations

import pytest

from routing_action.agents.discovery import DEFAULT_AGENTS, all_providers
from routing_action.agents.provider import Provider, ReadContext
from routing_action.evidence.tiers import TIER_ONE
from tests.support.streams import AGENTS

each_provider = pytest.mark.parametrize("provider", all_providers().values(), ids=lambda p: p.name)


def test_the_agents_are_found() -> None:
    """Eleven come with the tool; three run by default."""
    assert set(all_providers()) == {*AGENTS, *"cline droid kilo kimi pi qwen".split()}
    assert set(DEFAULT_AGENTS) <= set(all_providers())
    assert set(TIER_ONE) <= set(all_providers())


@each_provider
def test_the_prompt_is_one_argument_of_the_command(provider: Provider) -> None:
    """A prompt with spaces or quotes reaches the agent as it was written."""
    assert provider.command.count("{prompt}") == 1
    assert provider.command[0] == provider.name
    assert any("{model}" in argument for argument in provider.model_arguments)


@each_provider
def test_no_provider_is_given_the_github_token(provider: Provider) -> None:
    """The token that could write to the repository is no agent's credential."""
    seen = {*provider.credential_variables, *provider.pass_variables, *provider.set_variables}
    assert not seen & {"GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN"}
    assert not set(provider.credential_variables) & set(provider.pass_variables)


@each_provider
def test_every_path_of_a_provider_is_relative(provider: Provider) -> None:
    """Each unit has its own home and workspace, so nothing may point elsewhere."""
    paths = [
        *provider.skill_folders,
        *provider.credential_files,
        *provider.log_globs,
        *provider.shared_caches,
        *provider.home_variables.values(),
    ]
    assert provider.skill_folders
    assert not [path for path in paths if path.startswith(("/", "~")) or ".." in path]
    assert bool(provider.log_globs) == (provider.log_reader is not None)


@each_provider
def test_a_new_reader_has_seen_nothing(provider: Provider) -> None:
    """A reader starts empty, and an empty transcript proves nothing."""
    reader = provider.reader(ReadContext())
    assert not reader.terminal_seen
    assert list(reader.finish()) == []
    assert list(reader.finish()) == []
    assert (reader.reading.recognised, reader.reading.unrecognised) == (0, 0)

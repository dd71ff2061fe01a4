"""Each unit has a home of its own, and an agent sees the environment it is allowed to see."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import Provider
from routing_action.errors import HarnessError, UsageError
from routing_action.files.removal import remove_tree
from routing_action.run.workspace.agent_home import (
    AgentHome,
    build_environment,
    find_login_files,
    make_agent_home,
)
from tests.support.sandbox import files_below, ordinary_user, provider, run_agent, write

FAKE = provider(
    home_variables={"FAKE_HOME": ".fake", "FAKE_ROOT": "."},
    set_variables={"FAKE_UPDATES": "off"},
    credential_variables=("FAKE_API_KEY",),
    pass_variables=("FAKE_BASE_URL",),
    credential_files=(".fake/auth.json",),
    shared_caches=(".cache/fake",),
)
SECRETS = {
    "GITHUB_TOKEN": "ghs_workflow_token_0123456789",
    "GH_TOKEN": "ghs_workflow_token_0123456789",
    "ACTIONS_RUNTIME_TOKEN": "runtime-token-0123456789",
    "ACTIONS_ID_TOKEN_REQUEST_URL": "https://example.org/oidc",
    "RUNNER_TEMP": "/runner/temp",
    "INPUT_TOKEN": "input-token-0123456789",
    "AWS_SECRET_ACCESS_KEY": "aws-secret",
    "OPENAI_API_KEY": "of-another-agent",
    "SSH_AUTH_SOCK": "/run/agent.sock",
    "PYTHONPATH": "/somewhere",
}

PRINT_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"


def test_an_agent_prints_an_environment_without_secrets(tmp_path: Path) -> None:
    """Whatever the job holds, only the agent's own key is seen, and its own folders (P10)."""
    home = make_agent_home(FAKE, tmp_path / "home")
    base = {**SECRETS, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "FAKE_API_KEY": "k"}

    seen = run_agent(PRINT_ENVIRONMENT, home.path, build_environment(FAKE, home, base))

    assert seen["FAKE_API_KEY"] == "k"
    assert seen["FAKE_HOME"] == str(home.path / ".fake")
    assert not set(seen) & set(SECRETS)
    assert not set(seen.values()) & set(SECRETS.values())


def test_all_folders_of_the_environment_exist_below_the_home(tmp_path: Path) -> None:
    """No variable leads an agent to the user's own folders."""
    home = make_agent_home(FAKE, tmp_path / "home")
    environment = build_environment(FAKE, home, {"HOME": "/home/somebody", "TMPDIR": "/tmp"})
    for name in ("HOME", "TMPDIR", "TMP", "TEMP", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
                 "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "FAKE_HOME"):  # fmt: skip
        folder = Path(environment[name])
        assert folder.is_relative_to(home.path)
        assert folder.is_dir()
    assert home.path.stat().st_mode & 0o777 == 0o700


UPDATE_CONFIG = """
import json, os, pathlib, time
config = pathlib.Path(os.environ["FAKE_HOME"]) / "config.json"
for _ in range(20):
    runs = json.loads(config.read_text())["runs"] if config.exists() else 0
    time.sleep(0.002)
    config.write_text(json.dumps({"runs": runs + 1}))
print(config.read_text())
"""


def test_p6_agents_that_run_at_once_do_not_corrupt_a_config_file(tmp_path: Path) -> None:
    """Each reads, changes and writes the file of its own home (P6)."""

    def work(number: int) -> object:
        home = make_agent_home(FAKE, tmp_path / str(number))
        return run_agent(UPDATE_CONFIG, home.path, build_environment(FAKE, home, {}))

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == [{"runs": 20}] * 6


# --- login files --------------------------------------------------------------------------------


def test_a_login_file_is_copied_and_nothing_else_of_the_user(tmp_path: Path) -> None:
    """The copy is for the owner alone; the user's other files stay out."""
    user = tmp_path / "user"
    write(user, {".fake/auth.json": "login", ".fake/history": "h", ".ssh/id": "s"})
    home = make_agent_home(FAKE, tmp_path / "home", user_home=user)
    assert files_below(home.path) == [".fake/auth.json"]
    copy = home.path / ".fake/auth.json"
    assert copy.read_text() == "login"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert home.notes == ("the login file .fake/auth.json was copied into the agent's home",)
    copy.write_text("refreshed")
    assert (user / ".fake/auth.json").read_text() == "login"


def test_a_login_file_is_found_where_the_home_variable_points(tmp_path: Path) -> None:
    """A user who keeps the CLI's folder elsewhere is logged in all the same."""
    write(tmp_path, {"elsewhere/auth.json": "there", "user/.fake/auth.json": "here"})
    home = make_agent_home(
        FAKE,
        tmp_path / "home",
        user_home=tmp_path / "user",
        base_environ={"FAKE_HOME": str(tmp_path / "elsewhere")},
    )
    assert (home.path / ".fake/auth.json").read_text() == "there"


SETTINGS = ".fake/settings.json"
MIXED = provider(
    "fake",
    credential_files=(SETTINGS,),
    credential_fields={SETTINGS: "security.auth"},
    home_files={SETTINGS: '{"default": true}'},
)


@pytest.mark.parametrize(
    ("users", "copied"),
    [
        (
            '{"hooks": {"start": "evil"}, "security": {"auth": {"type": "key"}, "trust": 1}}',
            '{"security": {"auth": {"type": "key"}}}',
        ),
        ('{"mcpServers": {"mine": {}}}', '{"default": true}'),
        ('{"security": "all of it"}', '{"default": true}'),
        ("no JSON", '{"default": true}'),
        ("[" * 5_000, '{"default": true}'),
    ],
)
def test_of_settings_with_a_login_in_them_the_login_alone_comes_along(
    tmp_path: Path, users: str, copied: str
) -> None:
    """The user's hooks and servers would act in the run; without a login there is a default."""
    write(tmp_path / "user", {SETTINGS: users})
    home = make_agent_home(MIXED, tmp_path / "home", user_home=tmp_path / "user")
    assert (home.path / SETTINGS).read_text("utf-8") == copied
    assert (home.path / SETTINGS).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (".fake/auth.json", "", False),
        (".fake/auth.json", " \n", False),
        (".fake/auth.json", '{"token": "x"}', True),
        (".fake/auth.json", "a token", True),
    ],
)
def test_an_empty_login_file_is_none(tmp_path: Path, name: str, text: str, found: bool) -> None:
    """A CLI that was signed out can leave one behind."""
    write(tmp_path, {name: text})
    names = find_login_files(FAKE, {"HOME": str(tmp_path)})
    assert names == ((name,) if found else ())


def test_settings_without_a_login_in_them_are_none(tmp_path: Path) -> None:
    """Only the field that is copied is a login."""
    write(tmp_path, {SETTINGS: '{"theme": "dark"}'})
    assert find_login_files(MIXED, {"HOME": str(tmp_path)}) == ()


def test_a_missing_or_huge_login_file_is_no_error(tmp_path: Path) -> None:
    """The CLI itself will say that it is not logged in."""
    user = tmp_path / "user"
    assert make_agent_home(FAKE, tmp_path / "one", user_home=user).notes == ()
    write(user, {".fake/auth.json": "x" * (1 << 20) + "x"})
    assert files_below(make_agent_home(FAKE, tmp_path / "two", user_home=user).path) == []


def test_a_login_file_that_cannot_be_read_is_told() -> None:
    """People then know why the CLI is not logged in."""
    with ordinary_user() as base:
        write(base, {"user/.fake/auth.json": "login"})
        (base / "user/.fake/auth.json").chmod(0)
        home = make_agent_home(FAKE, base / "home", user_home=base / "user")
        assert home.notes == (
            "the login file .fake/auth.json could not be read: Permission denied",
        )


def test_without_a_user_home_nothing_is_copied(tmp_path: Path) -> None:
    """A home can be made that has no login at all."""
    assert make_agent_home(FAKE, tmp_path / "home").notes == ()


# --- shared caches ------------------------------------------------------------------------------


def test_a_shared_cache_is_linked_and_outlives_the_home(tmp_path: Path) -> None:
    """What one unit unpacks the next one finds; clean-up does not follow the link."""
    first = make_agent_home(FAKE, tmp_path / "one", cache_root=tmp_path / "caches")
    write(first.path / ".cache/fake", {"unpacked.bin": "b"})
    assert remove_tree(first.path) == ()
    second = make_agent_home(FAKE, tmp_path / "two", cache_root=tmp_path / "caches")
    assert (second.path / ".cache/fake/unpacked.bin").read_text() == "b"
    assert files_below(tmp_path / "caches") == [".cache/fake/unpacked.bin"]


# --- trouble ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        provider(home_variables={"FAKE_HOME": "../out"}),
        provider(home_variables={"FAKE_HOME": "/etc"}),
        provider(credential_files=("../../etc/passwd",)),
        provider(shared_caches=("/var/cache",)),
    ],
)
def test_a_record_cannot_lead_out_of_the_home(tmp_path: Path, record: Provider) -> None:
    """A custom provider's path is checked before anything is written there."""
    with pytest.raises(UsageError, match="not a path inside an agent home"):
        make_agent_home(
            record, tmp_path / "home", user_home=tmp_path, cache_root=tmp_path / "caches"
        )


def test_a_home_that_cannot_be_made_is_an_error_of_the_harness(tmp_path: Path) -> None:
    """The remedy names the setting to change."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(HarnessError, match="TMPDIR"):
        make_agent_home(FAKE, tmp_path / "file/home")


@pytest.mark.parametrize("name", sorted(all_providers()))
def test_every_provider_gets_a_home(tmp_path: Path, name: str) -> None:
    """The records that we ship name only folders inside a home."""
    record = all_providers()[name]
    home = make_agent_home(record, tmp_path / "h", user_home=tmp_path, cache_root=tmp_path / "c")
    environment = build_environment(record, home, {"PATH": "/bin"})
    assert all(
        Path(environment[variable]).is_relative_to(home.path) for variable in record.home_variables
    )
    assert remove_tree(home.path) == ()


def test_a_home_without_notes_says_nothing(tmp_path: Path) -> None:
    """A home can be named by its folder alone, as for `--workspace shared`."""
    assert AgentHome(tmp_path).notes == ()

"""Gives each unit an agent home of its own, and an environment that holds what is allowed.

Pure for the environment: it is built from a mapping, never from the process' own. It never
hands an agent the workflow's token.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from routing_action.agents.provider import Provider
from routing_action.errors import HarnessError, UsageError
from routing_action.files.secret_values import read_secrets
from routing_action.run.workspace.seal import Seal, seal_file, seal_link

_MOST_CREDENTIAL_BYTES = 1 << 20

# XDG Base Directory Specification 0.8; TMPDIR: POSIX.1-2017, chapter 8 (TMP and TEMP: by habit).
_FOLDER_VARIABLES: Mapping[str, str] = {
    "HOME": ".",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_RUNTIME_DIR": ".run",
    "TMPDIR": "tmp",
    "TMP": "tmp",
    "TEMP": "tmp",
}
_FIXED_VARIABLES: Mapping[str, str] = {"TERM": "dumb", "NO_COLOR": "1"}
_PROXIES = ("ALL_PROXY", "FTP_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
_ALLOWED = frozenset(
    "PATH LANG LANGUAGE TZ NODE_USE_ENV_PROXY AWS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO "
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH NIX_SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE "
    "SSL_CERT_DIR SSL_CERT_FILE".split()
).union(_PROXIES, map(str.lower, _PROXIES))
# What a workflow's job holds for itself; a provider's record cannot ask for these by `pass`.
_WORKFLOW_PREFIXES = ("ACTIONS_", "GITHUB_", "INPUT_", "RUNNER_")
_NEVER = frozenset({"GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"})
_LOGINS = tuple(
    ".copilot/config.json .config/github-copilot/hosts.json .config/github-copilot/apps.json "
    ".config/gh/hosts.yml .config/git/credentials .git-credentials .netrc .npmrc .pypirc "
    ".docker/config.json".split()
)
"""What agents and their tools log in with; no unit gets a copy."""
_TOKEN_INPUTS = ("INPUT_TOKEN", "INPUT_GITHUB_TOKEN", "INPUT_GITHUB-TOKEN")
_SHORTEST_PART = 16


@dataclass(frozen=True, slots=True)
class AgentHome:
    """A home folder: one that was made for a unit, or the user's own.

    `seal` is what was put into it. `notes` say, for people, what was brought in or could not be.
    """

    path: Path
    notes: tuple[str, ...] = ()
    seal: Seal = field(default_factory=dict)
    is_users_own: bool = False


def make_agent_home(
    provider: Provider,
    destination: Path,
    *,
    user_home: Path | None = None,
    cache_root: Path | None = None,
    base_environ: Mapping[str, str] | None = None,
) -> AgentHome:
    """A home in a folder that is new or empty, with the folders that the environment names.

    Login files that the provider lists are copied from the user's home (or from the folder that
    a home variable of `base_environ` names), mode 0600; its shared caches are linked to folders
    below `cache_root`, which are made where missing. Without those two arguments nothing comes
    in. Raises HarnessError where the folder cannot be made, UsageError where the record names
    a path outside the home.
    """
    notes: list[str] = []
    seal: dict[str, bytes] = {}
    try:
        destination.mkdir(mode=0o700, parents=True, exist_ok=True)
        home = destination.resolve()
        for folder in _folders_of(provider).values():
            _inside(home, folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        if cache_root is not None:
            for cache in provider.shared_caches:
                seal[str(PurePosixPath(cache))] = seal_link(_link_cache(home, cache, cache_root))
                notes.append(f"{cache} is shared with other units")
        for name, source in _logins(provider, user_home, base_environ or {}):
            login, said = _read_login(name, source, provider.credential_fields.get(name, ""))
            notes += said
            if login:
                seal[str(PurePosixPath(name))] = _write_private(_inside(home, name), login)
        for name in provider.home_files.keys() - seal.keys():
            text = provider.home_files[name].encode()
            seal[str(PurePosixPath(name))] = _write_private(_inside(home, name), text)
    except OSError as error:
        raise HarnessError(
            f"an agent home could not be made in {destination}: {error.strerror or error}",
            remedy="free space in the temporary folder, or set TMPDIR to another one",
        ) from error
    return AgentHome(home, tuple(notes), seal)


def build_environment(
    provider: Provider, home: AgentHome, base: Mapping[str, str]
) -> dict[str, str]:
    """The whole environment of an agent: what is allowed of the base, then what is ours.

    Allowed are PATH, language, time zone, proxies, CA files, and what the provider's record
    names. The workflow's token never passes, under whatever name. Later parts win: the base, the
    record's fixed values, the folders of the home. In the user's own home these are the user's.
    """
    tokens = {base.get(name, "").strip() for name in (*_NEVER, *_TOKEN_INPUTS)} - {""}
    allowed = {
        name: value
        for name, value in _wanted(provider, base).items()
        if name.upper() not in _NEVER and not any(_shows(value, token) for token in tokens)
    }
    ours = {**allowed, **_FIXED_VARIABLES, **provider.set_variables}
    folders = _folders_of(provider)
    if home.is_users_own:
        kept = {name: value for name, value in ours.items() if name not in folders}
        return {**kept, **{name: base[name] for name in folders if base.get(name)}}
    return {**ours, **{name: str(_inside(home.path, at)) for name, at in folders.items()}}


def _wanted(provider: Provider, base: Mapping[str, str]) -> dict[str, str]:
    """The part of the base that the allow-list and the record name."""
    passed = {
        name for name in provider.pass_variables if not name.upper().startswith(_WORKFLOW_PREFIXES)
    }
    names = _ALLOWED | passed | set(provider.credential_variables)
    return {name: base[name] for name in sorted(base) if name in names or name.startswith("LC_")}


def _shows(value: str, token: str) -> bool:
    """True where a value is a token; a long token is found inside a value too."""
    return value.strip() == token or (len(token) >= _SHORTEST_PART and token in value)


def _folders_of(provider: Provider) -> dict[str, str]:
    return {**_FOLDER_VARIABLES, **provider.home_variables}


def _inside(home: Path, relative: str) -> Path:
    """A path below the home; raises UsageError where a record's path leads out of it."""
    parts = PurePosixPath(relative)
    if parts.is_absolute() or ".." in parts.parts:
        raise UsageError(
            f"{relative} is not a path inside an agent home",
            remedy="write a relative path without `..` in the provider's record",
        )
    return home / parts


def _link_cache(home: Path, cache: str, cache_root: Path) -> str:
    """Link a cache folder of the home to the one that all units share; gives that one's path."""
    shared = _inside(cache_root.resolve(), cache)
    shared.mkdir(parents=True, exist_ok=True)
    link = _inside(home, cache)
    link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    link.symlink_to(shared, target_is_directory=True)
    return str(shared)


def _logins(
    provider: Provider, user_home: Path | None, base: Mapping[str, str]
) -> list[tuple[str, Path]]:
    """Where each login file of the user's is looked for; none without the user's home."""
    names = () if user_home is None else provider.credential_files
    return [(name, login_source(provider, name, user_home or Path(), base)) for name in names]


def _read_login(name: str, source: Path, part: str) -> tuple[bytes, tuple[str, ...]]:
    """A login file's content, where the user has one; what cannot be read is a note, no error.

    With a part (a field) nothing else of the file comes along: hooks and servers are the user's.
    """
    try:
        if not source.is_file() or source.stat().st_size > _MOST_CREDENTIAL_BYTES:
            return b"", ()
        login = source.read_bytes()
    except OSError as error:
        return b"", (f"the login file {name} could not be read: {error.strerror}",)
    if part:
        login = _cut_out(login, part)
    what = f"{part} of {name}" if part else f"the login file {name}"
    return login, (f"{what} was copied into the agent's home",) if login else ()


def _write_private(target: Path, content: bytes) -> bytes:
    """Make a new file that the owner alone can read; gives what stands for it in a seal."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
        file.write(content)
    return seal_file(content)


def _cut_out(text: bytes, field: str) -> bytes:
    """A JSON document that holds one field of another, at its place; empty where it has none."""
    try:
        value = json.loads(text)
        for name in field.split("."):
            value = value[name]
    except (ValueError, RecursionError, LookupError, TypeError):
        return b""
    for name in reversed(field.split(".")):
        value = {name: value}
    return json.dumps(value).encode()


def login_secrets(provider: Provider, environ: Mapping[str, str]) -> set[str]:
    """The secrets of the login files that an agent gets a copy of, or may find in the home."""
    if not environ.get("HOME"):
        return set()
    home = Path(environ["HOME"])
    paths = [path for _, path in _logins(provider, home, environ)]
    paths += [home / name for name in _LOGINS]
    return {secret for path in paths for secret in read_secrets(path)}


def renewed_secrets(provider: Provider, home: str) -> set[str]:
    """What looks like a secret in the login files of an agent's home; "" is no home."""
    paths = [Path(home) / name for name in provider.credential_files] if home else []
    return {secret for path in paths for secret in read_secrets(path, random_alone=True)}


def find_login_files(provider: Provider, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of a provider's login files that the user has, and that hold anything."""
    home = Path(environ["HOME"]) if environ.get("HOME") else None
    fields = provider.credential_fields
    return tuple(
        name
        for name, path in _logins(provider, home, environ)
        if path.is_file() and _holds_anything(path, fields.get(name, ""))
    )


def _holds_anything(path: Path, field: str) -> bool:
    """False for an empty file, and for one without the field that matters; True in doubt."""
    try:
        text = path.read_bytes().strip()
    except OSError:
        return True
    return bool(_cut_out(text, field)) if field else bool(text)


def login_source(provider: Provider, name: str, user_home: Path, base: Mapping[str, str]) -> Path:
    """The user's own file: below the folder that a home variable names, else below the home."""
    for variable, folder in provider.home_variables.items():
        if base.get(variable) and PurePosixPath(name).is_relative_to(folder):
            return Path(base[variable]) / PurePosixPath(name).relative_to(folder)
    return _inside(user_home, name)

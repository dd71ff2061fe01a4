"""The scripts that set up, check and start the project, run on made-up checkouts."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = (
    "requirements.lock",
    "requirements-bot.lock",
    "requirements-release.lock",
    "requirements-dev.lock",
    "requirements-uv.lock",
)


def write(path: Path, text: str, *, executable: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if executable:
        path.chmod(0o755)
    return path


def run(
    *command: str | Path, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **variables},
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=240,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of the project's scripts in a folder whose path has spaces and a quote."""
    folder = tmp_path / "a user's folder" / "check out"
    scripts = ["scripts/env.sh", "scripts/lock.sh"]
    (folder / "scripts").mkdir(parents=True)
    for name in ("pyproject.toml", "test.sh", "check.sh", *LOCKS, *scripts):
        shutil.copy2(ROOT / name, folder / name)
    for name in ("__init__.py", "py.typed"):
        write(folder / "src" / "routing_action" / name, '"""A stand-in."""\n')
    return folder


# --- scripts/lock.sh --------------------------------------------------------------------------


def test_the_locks_belong_to_the_project_file(checkout: Path) -> None:
    """Nothing is said where nothing is stale; no registry is asked."""
    outcome = run(checkout / "scripts" / "lock.sh", "--check", UV_OFFLINE="1", PIP_NO_INDEX="1")
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")


def test_a_new_runtime_dependency_makes_its_locks_stale(checkout: Path) -> None:
    """Each is named, with the command that renews it; the installer's lock stays good."""
    project = checkout / "pyproject.toml"
    write(project, project.read_text("utf-8").replace('  "rich', '  "attrs",\n  "rich'))
    outcome = run(checkout / "scripts" / "lock.sh", "--check")
    assert outcome.returncode == 1
    said = outcome.stderr.splitlines()
    assert [line.partition(" ")[0] for line in said] == [LOCKS[0], LOCKS[1], LOCKS[3]]
    assert all("is stale" in line and "run scripts/lock.sh" in line for line in said)


def test_a_new_dependency_of_the_server_leaves_the_action_as_it_is(checkout: Path) -> None:
    """The lock that the action installs is not stale."""
    project = checkout / "pyproject.toml"
    write(project, project.read_text("utf-8").replace('  "psycopg', '  "attrs",\n  "psycopg'))
    outcome = run(checkout / "scripts" / "lock.sh", "--check")
    said = outcome.stderr.splitlines()
    assert [line.partition(" ")[0] for line in said] == [LOCKS[1], LOCKS[3]]


def test_a_lock_that_lost_its_origin_is_stale(checkout: Path) -> None:
    """So is one that was emptied."""
    write(checkout / "requirements-uv.lock", "")
    outcome = run(checkout / "scripts" / "lock.sh", "--check")
    assert outcome.returncode == 1
    assert "requirements-uv.lock is stale" in outcome.stderr


def test_every_pin_has_a_hash_and_the_dev_lock_repeats_the_runtime_pins() -> None:
    """The action, the bot's server and a dev environment run the same releases."""
    pins = {}
    for lock in LOCKS:
        text = (ROOT / lock).read_text("utf-8").replace("\\\n", "")
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert all("==" in line and "--hash=sha256:" in line for line in lines)
        pins[lock] = {line.split()[0] for line in lines}
    assert pins["requirements.lock"] < pins["requirements-bot.lock"]
    assert pins["requirements-bot.lock"] < pins["requirements-dev.lock"]
    assert pins["requirements-release.lock"] < pins["requirements-dev.lock"]
    assert pins["requirements-uv.lock"] < pins["requirements-release.lock"]


# --- test.sh ----------------------------------------------------------------------------------

STAND_IN = """\
import os, pathlib, sys
command, *arguments = sys.argv[1:]
if arguments[:1] == ["--batch-file"]:
    pathlib.Path(arguments[1]).write_text("FOLDER\\n")
    arguments = arguments[2:]
if arguments == ["--help"]:
    sys.exit(0)
print(command, *arguments, sep="|")
print("cwd", os.getcwd(), sep="|")
print(os.environ["ROUTING_ACTION_PROGRAM"], file=sys.stderr)
sys.exit(int(os.environ.get(command.upper() + "_CODE", "0")))
"""


@pytest.fixture
def harness(checkout: Path) -> Path:
    """Return a checkout with a stand-in for the package, and nothing to be set up."""
    write(checkout / "src" / "routing_action" / "__main__.py", STAND_IN)
    write(
        checkout / "scripts" / "env.sh",
        f'prepare_environment() {{ VENV_PYTHON="{sys.executable}"; }}\n'
        f'export PYTHONPATH="{checkout}/src"\n',
    )
    return checkout


def commands_of(outcome: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in outcome.stdout.splitlines() if not line.startswith("cwd|")]


@pytest.mark.parametrize(("ran", "compared"), [(0, 0), (0, 1), (1, 0), (1, 2)])
def test_the_comparison_of_the_batch_decides(harness: Path, ran: int, compared: int) -> None:
    """A failed case that the baseline expects to fail is no failure."""
    outcome = run(harness / "test.sh", RUN_CODE=str(ran), COMPARE_CODE=str(compared))
    assert outcome.returncode == compared
    assert commands_of(outcome) == [
        "run",
        "",
        f"compare|--results|FOLDER|--or-exit|{ran}",
    ]


@pytest.mark.parametrize("code", [2, 3, 4, 70, 130, 137])
def test_a_run_that_did_not_reach_its_end_is_not_compared(harness: Path, code: int) -> None:
    """There is nothing whole to compare; the run's exit code is kept."""
    outcome = run(harness / "test.sh", RUN_CODE=str(code))
    assert outcome.returncode == code
    assert commands_of(outcome) == ["run"]


def test_arguments_arrive_as_they_were_given(harness: Path, tmp_path: Path) -> None:
    """Spaces, empty words and signs survive, from whatever folder the script is started."""
    outcome = run(harness / "test.sh", "--case-id", "a b", "", "$HOME*", cwd=tmp_path)
    assert outcome.stdout.splitlines()[:2] == ["run|--case-id|a b||$HOME*", f"cwd|{harness}"]
    own = Path(sys.executable).with_name("routing-action")
    assert outcome.stderr.splitlines()[0] == str(own)


def test_a_module_in_the_callers_folder_is_not_imported(harness: Path) -> None:
    """A checkout under test may hold a file of any name."""
    write(harness / "json.py", "raise SystemExit('imported')\n")
    write(harness / "src" / "routing_action" / "__main__.py", "import json\n" + STAND_IN)
    assert run(harness / "test.sh", cwd=harness).returncode == 0


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--agents", "claude", "--help"]])
def test_help_tells_the_exit_codes_and_compares_nothing(
    harness: Path, arguments: list[str]
) -> None:
    """The options themselves are told by the command."""
    outcome = run(harness / "test.sh", *arguments)
    assert outcome.returncode == 0
    assert outcome.stdout.startswith("usage: ./test.sh")
    assert "compare" not in outcome.stdout.splitlines()
    assert "exit codes:" in outcome.stdout


# --- check.sh ---------------------------------------------------------------------------------

FAKE_PYTHON = """\
#!/bin/bash
[[ "$*" == *" pytest "* ]] || exit 0
[[ "$*" == *"slow or live"* ]] && echo "===== 2 passed, 9 deselected in 1.50s ====="
[[ "$*" == *"slow or live"* ]] || echo "===== $SUMMARY in 0.50s (0:00:01) ====="
exit "${TESTS_WANTED:-0}"
"""


@pytest.fixture
def gate(checkout: Path) -> Path:
    """Return a checkout whose tools are stand-ins that pass; WANTED is ruff's exit code."""
    tools = checkout / "tools"
    write(tools / "python", FAKE_PYTHON, executable=True)
    for name in (
        "mypy", "lint-imports", "shellcheck", "zizmor", "jactionlint", "check-jsonschema", "act",
        "chromium",
    ):  # fmt: skip
        write(tools / name, "#!/bin/bash\nexit 0\n", executable=True)
    write(tools / "ruff", '#!/bin/bash\necho found it; exit "${WANTED:-0}"\n', executable=True)
    write(
        checkout / "scripts" / "env.sh",
        f'prepare_environment() {{ VENV_PYTHON="{tools}/python"; }}\n',
    )
    write(checkout / "scripts" / "lock.sh", "#!/bin/bash\nexit 0\n", executable=True)
    run("git", "init", "--quiet", checkout)
    return checkout


def test_the_gate_passes_where_every_check_does(gate: Path) -> None:
    """It ends with the number of tests, in the form that CI systems read."""
    outcome = run(gate / "check.sh", SUMMARY="12 passed, 1 skipped")
    assert outcome.returncode == 0
    *steps, total, tests = outcome.stdout.splitlines()
    assert all(line.startswith(("ok   ", "=====")) for line in steps)
    assert total == "gate: all 18 checks passed"
    assert tests == "tests: 12 passed, 0 failed, 1 skipped"


def test_the_gate_continues_after_a_failure_and_names_it(gate: Path) -> None:
    """What the failed check printed is shown, what the others printed is not."""
    outcome = run(gate / "check.sh", SUMMARY="3 passed", WANTED="1")
    assert outcome.returncode == 1
    assert outcome.stdout.count("found it") == 2
    assert "FAIL ruff check (" in outcome.stdout
    assert "ok   coverage, 90 % (" in outcome.stdout
    assert outcome.stdout.endswith(
        "gate: 16 checks passed, 2 failed:\n  ruff check\n  ruff format\n"
        "tests: 3 passed, 0 failed, 0 skipped\n"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cd /wo" + "rk/main", True),
        ('HOME="/ro' + 'ot/.config"', True),
        ("PATH=/bin:/ro" + "ot/bin", True),
        ("file:///wo" + "rk/x", True),
        ("see https://py" + "pi.org/simple", True),
        ("see https://files.python" + "hosted.org/x", True),
        ("see https://registry.npm" + "js.org/x", True),
        ("https://example.com/wo" + "rk/x", False),
        ("$HOME/wo" + "rk/x", False),
        ("/home/me/ro" + "ot/x", False),
        ("/wo" + "rkspace/x", False),
    ],
)
def test_the_gate_names_traces_of_a_machine(gate: Path, text: str, found: bool) -> None:
    """File and line of what git would track; the tail of a longer path or of an address is none."""
    write(gate / ".gitignore", "/ignored.txt\n")
    write(gate / "ignored.txt", "cd /wo" + "rk/main\n")
    write(gate / "notes.txt", f"\n{text}\n")
    outcome = run(gate / "check.sh", SUMMARY="1 passed")
    assert outcome.returncode == int(found)
    assert (f"notes.txt:2:{text}\n" in outcome.stdout) is found
    assert "ignored.txt" not in outcome.stdout


def test_failed_tests_and_errors_count_as_failed(gate: Path) -> None:
    """A fixture that breaks is no less a failure than a test."""
    outcome = run(gate / "check.sh", SUMMARY="1 failed, 3 passed, 2 errors", TESTS_WANTED="1")
    assert outcome.returncode == 1
    assert outcome.stdout.endswith("  tests\ntests: 3 passed, 3 failed, 0 skipped\n")


def test_no_test_at_all_is_a_failure(gate: Path) -> None:
    """An emptied tests folder must not look like success."""
    outcome = run(gate / "check.sh", SUMMARY="no tests ran", TESTS_WANTED="5")
    assert outcome.returncode == 1
    assert "no test was found" in outcome.stdout


def test_the_full_gate_adds_the_slow_tests(gate: Path) -> None:
    """Their number, and that of the many properties, is added to the others'."""
    outcome = run(gate / "check.sh", "--full", SUMMARY="12 passed")
    assert outcome.returncode == 0
    assert outcome.stdout.endswith("tests: 26 passed, 0 failed, 0 skipped\n")


def test_an_unknown_option_of_the_gate_is_a_usage_error(gate: Path) -> None:
    """The usage goes to stderr."""
    outcome = run(gate / "check.sh", "--fast")
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("usage: ./check.sh")


# --- scripts/env.sh ---------------------------------------------------------------------------

PREPARE = """\
set -euo pipefail
source "$1/scripts/env.sh"
prepare_environment "$2"
"$VENV_PYTHON" -c 'import github, msgspec, routing_action; print(routing_action.__file__)'
"""


def prepare(checkout: Path, kind: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run("bash", "-c", PREPARE, "bash", checkout, kind, cwd=checkout.parent, **variables)


def test_a_python_that_is_too_old_is_rejected_with_a_remedy(checkout: Path) -> None:
    """Also one that does not start at all."""
    outcome = prepare(checkout, "runtime", PYTHON="no-such-python")
    assert outcome.returncode == 4
    assert "no Python of at least 3.11 was found: PYTHON is no-such-python" in outcome.stderr
    assert "remedy: " in outcome.stderr


def test_a_folder_of_somebody_else_is_left_alone(checkout: Path, tmp_path: Path) -> None:
    """Nothing is deleted that the script did not make."""
    kept = write(tmp_path / "mine" / "thesis.txt", "text")
    outcome = prepare(checkout, "runtime", ROUTING_ACTION_VENV=str(kept.parent))
    assert outcome.returncode == 4
    assert "exists and was not made by this script" in outcome.stderr
    assert kept.read_text("utf-8") == "text"


@pytest.mark.slow
def test_a_fresh_checkout_is_set_up_once_in_spite_of_a_hostile_shell(checkout: Path) -> None:
    """The second start says nothing; a moved checkout is set up anew."""
    hostile = {"PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere", "VIRTUAL_ENV": "/nowhere"}
    hostile |= {"PIP_TARGET": "/nowhere", "PIP_USER": "1", "UV_SYSTEM_PYTHON": "1"}
    first = prepare(checkout, "runtime", **hostile)
    expected = f"{checkout}/src/routing_action/__init__.py\n"
    assert (first.returncode, first.stdout) == (0, expected), first.stderr
    assert "setting up the runtime environment" in first.stderr
    stand_in = "import os; print(os.environ['ROUTING_ACTION_PROGRAM'])\n"
    write(checkout / "src" / "routing_action" / "__main__.py", stand_in)
    entry_point = checkout / ".venv" / "bin" / "routing-action"
    assert run(entry_point, cwd=checkout.parent).stdout == f"{entry_point}\n"
    second = prepare(checkout, "runtime", **hostile)
    assert (second.returncode, second.stdout, second.stderr) == (0, expected, "")
    moved = checkout.rename(checkout.with_name("elsewhere"))
    third = prepare(moved, "runtime")
    assert third.stdout == f"{moved}/src/routing_action/__init__.py\n", third.stderr


@pytest.mark.slow
def test_two_starts_at_once_set_up_one_environment(checkout: Path) -> None:
    """The second waits for the first; the dev environment serves the runtime too."""
    with ThreadPoolExecutor() as pool:
        outcomes = list(pool.map(lambda _: prepare(checkout, "dev"), range(2)))
    assert [outcome.returncode for outcome in outcomes] == [0, 0], outcomes
    assert sum("setting up" in outcome.stderr for outcome in outcomes) == 1
    assert prepare(checkout, "runtime").stderr == ""


@pytest.mark.slow
def test_pip_serves_where_uv_does_not_work(checkout: Path, tmp_path: Path) -> None:
    """A uv that starts but cannot install costs time, not the set-up."""
    broken = write(
        tmp_path / "bin" / "uv", '#!/bin/sh\n[ "$1" = --version ]\n', executable=True
    ).parent
    outcome = prepare(checkout, "runtime", PATH=f"{broken}:{os.environ['PATH']}")
    assert outcome.returncode == 0, outcome.stderr

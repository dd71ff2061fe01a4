"""The documents say what the code does: links, anchors, entries, examples and generated parts."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from routing_action.errors import RoutingActionError
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.verdict import FailureKind
from routing_action.gate.rules import DeltaKind
from routing_action.results.model import (
    OfferedSkill,
    Options,
    PairSummary,
    Results,
    Summary,
    TokenHit,
    UnitResult,
    UsageTotals,
)
from scripts import generate
from tests.support.builders import read
from tests.support.doc_pages import prose_of
from tests.support.streams import run_of, shell, skill_text

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md")))
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
COMMAND_ROW = re.compile(
    r"^\| `(?P<command>.+)` \| (?P<printed>[a-z ]+) \| (?P<tier>[123]|none) \|$", re.MULTILINE
)


def text_of(path: str) -> str:
    return (DOCS / path).read_text(encoding="utf-8")


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    plain = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {slug(heading) for heading in HEADING.findall(plain)}


def slug(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def links_of(page: Path) -> Iterator[str]:
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if not target.startswith(("https://", "http://")):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    """A reader who follows a link finds what it promises."""
    for target in links_of(page):
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), target
        assert linked.is_relative_to(ROOT), target
        assert not anchor or anchor in anchors_of(linked), target


def test_every_page_is_reached_from_the_index() -> None:
    """No document is hidden; the records of decisions are reached as a folder."""
    found: set[Path] = set()
    ahead = [DOCS / "README.md"]
    while ahead:
        page = ahead.pop()
        if page.is_dir():
            found.update(page.glob("*.md"))
        elif page.suffix == ".md" and page not in found:
            found.add(page)
            linked = [page.parent / target.partition("#")[0] for target in links_of(page)]
            ahead += [one.resolve() for one in linked if one.resolve().is_relative_to(DOCS)]
    assert set(DOCS.rglob("*.md")) <= found


def test_the_index_names_no_decisions_and_no_makers() -> None:
    """A reader looks for a task there, not for how the project was made."""
    index = text_of("README.md")
    assert "decisions/" not in index
    assert "made by" not in index.lower()


MOST_WORDS = 700
SHORT_PAGES = [
    page
    for folder in ("tutorial", "how-to", "explanation")
    for page in sorted((DOCS / folder).glob("*.md"))
]


@pytest.mark.parametrize("page", SHORT_PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_page_is_short(page: Path) -> None:
    """A maintainer in a hurry reads one page for one task; blocks of code are not counted."""
    words = [word for word in prose_of(page.read_text("utf-8")).split() if re.search(r"\w", word)]
    assert len(words) < MOST_WORDS


PLACEHOLDERS = ("OWNER", "0000000000")


def test_one_page_says_what_to_put_in_place_of_the_owner() -> None:
    """Whoever meets a placeholder finds, by one link, what to write."""
    install = "install.md"
    for page in PAGES:
        text = page.read_text("utf-8")
        if any(word in text for word in PLACEHOLDERS) and page.name not in (install, "cli.md"):
            linked = {(page.parent / one.partition("#")[0]).resolve() for one in links_of(page)}
            assert DOCS / "how-to" / install in linked, page


def test_generated_documents_are_fresh() -> None:
    """`scripts/generate.py --check` passes, so the reference is what the code says."""
    assert generate.stale_documents() == ""


def test_a_field_without_a_meaning_stops_the_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new field cannot be published without a word on what it means, nor an old one stay."""
    known = generate.FIELD_MEANINGS
    monkeypatch.setattr(generate, "FIELD_MEANINGS", {**known, "colour": "None."})
    with pytest.raises(SystemExit, match="colour does not exist"):
        generate.render_fields()
    short = {name: meaning for name, meaning in known.items() if name != "prompt"}
    monkeypatch.setattr(generate, "FIELD_MEANINGS", short)
    with pytest.raises(SystemExit, match="prompt has no meaning"):
        generate.render_fields()


def test_a_stale_document_is_shown_as_a_diff(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The gate says which file is stale, in which lines, and how to mend it."""
    fresh = generate.documents()
    changed = {**fresh, "docs/reference/cli.md": fresh["docs/reference/cli.md"] + "more\n"}
    monkeypatch.setattr(generate, "documents", lambda: changed)
    assert generate.main(["--check"]) == 1
    printed = capsys.readouterr().out
    assert "--- docs/reference/cli.md (as it is)" in printed
    assert "\n+more\n" in printed
    assert "scripts/generate.py" in printed


def test_every_failure_kind_and_infra_outcome_has_an_entry() -> None:
    """Whatever `failure_kind` says can be looked up, with meaning, example and remedy."""
    kinds = {kind.value for kind in FailureKind}
    kinds |= {outcome.value for outcome in Outcome if outcome.is_infra}
    entries = re.split(r"^### ", text_of("reference/failure-kinds.md"), flags=re.MULTILINE)[1:]
    named = {entry.partition("\n")[0]: entry for entry in entries}
    assert set(named) == kinds
    for name, entry in named.items():
        for part in ("Meaning", "Example", "Remedy"):
            assert f"- **{part}**: " in entry, f"{name} lacks {part}"


def test_every_delta_word_has_an_entry() -> None:
    """A reader of a delta can look up each of its words."""
    text = (DOCS / "reference" / "delta-words.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (\w+(?: \w+)*)$", text, re.MULTILINE) == [
        kind.value for kind in DeltaKind
    ]


def test_every_error_class_has_its_anchor() -> None:
    """The place in the documents that an error class names is there."""
    anchors = anchors_of(DOCS / "reference/exit-codes.md")
    assert {error.anchor for error in error_classes(RoutingActionError)} <= anchors


def error_classes(error: type[RoutingActionError]) -> Iterator[type[RoutingActionError]]:
    yield error
    for child in error.__subclasses__():
        yield from error_classes(child)


RESULT_MODELS: tuple[type[BaseModel], ...] = (
    Results, Summary, PairSummary, Options, OfferedSkill, UnitResult, TokenHit, UsageTotals,
)  # fmt: skip


@pytest.mark.parametrize("model", RESULT_MODELS)
def test_every_field_of_the_results_is_described(model: type[BaseModel]) -> None:
    """A consumer of results.json finds each of its fields on the page, and none that is gone."""
    tables = re.findall(r"^\| (`.+?) \|", text_of("reference/results.md"), flags=re.MULTILINE)
    described = {name for cell in tables for name in re.findall(r"`(\w+)`", cell)}
    fields = {field.alias or name for name, field in model.model_fields.items()}
    assert fields <= described


def test_the_results_page_describes_nothing_that_is_not_there() -> None:
    """No row of the page is about a field that was removed."""
    tables = re.findall(r"^\| (`.+?) \|", text_of("reference/results.md"), flags=re.MULTILINE)
    described = {name for cell in tables for name in re.findall(r"`(\w+)`", cell)}
    fields = {f.alias or name for model in RESULT_MODELS for name, f in model.model_fields.items()}
    assert described <= fields


def test_the_documents_install_the_agents_that_the_tests_start() -> None:
    """A reader gets the versions whose output is known, the same on every page."""
    pins = json.loads((ROOT / "tests/live/package.json").read_text("utf-8"))["dependencies"]
    told: dict[str, set[str]] = {name: set() for name in pins}
    for page in PAGES:
        for name, version in re.findall(r"(@[\w-]+/[\w-]+)@(\d[\w.]*)", page.read_text("utf-8")):
            if name in told:
                told[name].add(version)
    assert told == {name: {version} for name, version in pins.items()}


PROGRAM = r"(?:routing-action|\./test\.sh)"
SPAN_CALL = re.compile(rf"`({PROGRAM} [^`\n]+)`")
SHELL_FENCE = re.compile(r"^```(?:console|sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE_CALL = re.compile(rf"^(?:\$ )?(?:\w+=\S+ +)*({PROGRAM} [^\n|;&#]+)", re.MULTILINE)
HELP = re.compile(r"(?ms)^## `routing-action ?(?P<path>[\w ]*)`\n(?P<text>.*?)(?=^## |\Z)")
HELPS = {match["path"]: match["text"] for match in HELP.finditer(generate.render_commands())}
SKILL_PAGES = sorted((ROOT / ".claude" / "skills").rglob("*.md"))


def calls_of(text: str) -> Iterator[list[str]]:
    """The words of each call of the command line in a text, in code spans and in shell blocks."""
    for call in SPAN_CALL.findall(FENCE.sub("", text)):
        yield call.split()
    for fence in SHELL_FENCE.findall(text):
        for call in LINE_CALL.findall(fence.replace("\\\n", " ")):
            yield call.split()


def unknown_parts(text: str) -> Iterator[str]:
    """Each command or flag of a call in a text that the command line does not have."""
    for program, *words in calls_of(text):
        names = list(itertools.takewhile(re.compile("[a-z]+").fullmatch, words))[:3]
        known_paths = (" ".join(names[:count]) for count in (3, 2, 1))
        path = next((one for one in known_paths if one in HELPS), " ".join(names[:1]))
        path = "run" if program == "./test.sh" else path
        is_message = path not in HELPS and len(names) > 1  # such as "routing-action runs on"
        is_part = len(names) > len(path.split())
        if path not in HELPS or ("\nCommands:\n" in HELPS[path] and is_part):
            if not is_message:
                yield " ".join(names)
            continue
        known = re.findall(r"--[a-z][\w-]*", HELPS[path])
        for word in words:
            flag = word.partition("=")[0]
            if re.fullmatch(r"--[a-z][\w-]*", flag) and flag not in known:
                yield f"{path} {flag}"


def test_a_command_or_flag_that_does_not_exist_is_found() -> None:
    """The next test can fail."""
    wrong = """```console
$ A=b routing-action run --max-pence 3 --agents x
routing-action providers dokter    # what is there
```
Use `routing-action evaluat --agent x` or `./test.sh --replays`."""
    found = ["evaluat", "run --replays", "run --max-pence", "providers dokter"]
    assert list(unknown_parts(wrong)) == found


@pytest.mark.parametrize(
    "page", [*PAGES, *SKILL_PAGES], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_every_command_and_flag_that_is_told_exists(page: Path) -> None:
    """A reader can type them, in the skills too."""
    if page.name != "cli.md":
        assert list(unknown_parts(page.read_text(encoding="utf-8"))) == []


PRINTED = {
    "the file": skill_text("foo"),
    "another skill": skill_text("my-foo"),
    "later lines": "The end of the body.\n",
    "a number": "12\n",
    "a line": "name: foo\n",
    "a path": ".agents/skills/foo/SKILL.md\n",
    "nothing": "",
}
EXAMPLES = [
    (match["command"].replace("\\|", "|"), match["printed"], match["tier"])
    for match in COMMAND_ROW.finditer(
        text_of("reference/evidence-rules.md").partition("### The shell rule")[2]
    )
]


def test_the_shell_rule_has_examples_on_both_sides() -> None:
    """The table is found, and shows what counts and what does not."""
    assert {tier for _, _, tier in EXAMPLES} == {"1", "2", "3", "none"}
    assert len(EXAMPLES) > 20


@pytest.mark.parametrize(("command", "printed", "tier"), EXAMPLES)
def test_an_example_of_the_shell_rule_is_judged_as_the_document_says(
    command: str, printed: str, tier: str
) -> None:
    """Each row of the table is what the codex reader makes of that command."""
    stream = run_of("codex", *shell("codex", command, PRINTED[printed]))
    found = read("codex", stream, tokens=("foo",)).tier("foo")
    assert str(found or "none") == tier


def test_the_page_of_attempts_names_tests_that_exist() -> None:
    """Each row has one at least, and each kind of attempt has a row."""
    page = text_of("reference/attempts.md")
    rows = [line for line in page.splitlines() if line.startswith("| ") and "| ---" not in line]
    rows = [row for row in rows if not row.startswith("| attempt |")]
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row.rpartition(" | ")[2])
        assert named, row
        for name in named:
            assert f"def {name}(" in tests, name
    kinds = set(re.findall(r"^\| ([GSR]\d+):", page, re.MULTILINE))
    assert kinds == {
        *(f"G{number}" for number in range(1, 16)), "S1", "S2", "S3", "R1", "R2", "R3",
    }  # fmt: skip

"""Whatever a change edits that can alter a measurement, or its judgement, is in view."""

from __future__ import annotations

import os

import pytest

from tests.support.pull_request import (
    FILES,
    NOTES,
    STEAL,
    STOLEN,
    WRITING,
    PullRequest,
    comment_of,
    skill,
)
from tests.support.repositories import check_out

WRITING_FILE = ".claude/skills/writing-notes/SKILL.md"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("CLAUDE.md", "Always use writing-notes.", id="instructions"),
        pytest.param("docs/AGENTS.md", "Always use writing-notes.", id="instructions of a folder"),
        pytest.param(".claude/settings.json", '{"model": "haiku"}', id="settings"),
        pytest.param(".claude/commands/x.md", "Use writing-notes.", id="a command"),
        pytest.param(".github/workflows/gate.yml", "on: push", id="a workflow"),
        pytest.param("routing.toml", "# nothing", id="an agent description"),
        pytest.param(".gitattributes", "* text", id="a checkout setting"),
        pytest.param(".claude/skills/new-one/SKILL.md", skill("new-one", "Sing."), id="a skill"),
        pytest.param(".claude/skills/deploying/run.sh", "exit 1", id="a script of a skill"),
    ],
)
def test_g7_a_file_of_influence_is_named_with_its_lines(
    change: PullRequest, path: str, text: str
) -> None:
    """New ones too, though nothing failed."""
    change.propose({path: text})
    comment = comment_of(change)
    assert path in comment
    assert "added" in comment
    assert "This change edits" in comment


def test_g7_a_description_is_shown_before_and_after(change: PullRequest) -> None:
    """In all reports, also where it breaks nothing."""
    change.propose({WRITING_FILE: skill("writing-notes", "Summarise changes for all customers.")})
    comment = comment_of(change)
    assert "Summarise changes for a customer." in comment
    assert "Summarise changes for all customers." in comment


def test_the_description_that_took_a_prompt_is_shown_before_and_after(change: PullRequest) -> None:
    """A reviewer sees what in the change did it, which file to edit, and what is left alone."""
    change.propose(STEAL)
    comment = comment_of(change)
    assert f"This change edits the description of `writing-notes` (`{WRITING_FILE}`):" in comment
    assert "```diff\n- Summarise changes for a customer.\n+ Announcement of merged" in comment
    assert "This change does not edit `deploying`." in comment
    assert "take back or narrow what this change adds to the description of" in comment
    assert "`deploying` (`.claude/skills/deploying/SKILL.md`)" in comment
    assert "“`Bring the billing service to production tonight`”" in comment


@pytest.mark.parametrize(
    ("change_of", "said"),
    [
        pytest.param(
            {".claude/skills/thief/SKILL.md": skill("thief", STOLEN)},
            "This change adds `thief` (`.claude/skills/thief/SKILL.md`):",
            id="a new skill",
        ),
        pytest.param(
            {".claude/skills/deploying/SKILL.md": None},
            "This change removes `deploying` (`.claude/skills/deploying/SKILL.md`):",
            id="a removed skill",
        ),
    ],
)
def test_a_skill_that_comes_or_goes_is_named_as_what_did_it(
    change: PullRequest, change_of: dict[str, str | None], said: str
) -> None:
    """With its description."""
    change.propose(change_of)
    assert said in comment_of(change)


def test_g7_nothing_is_said_where_nothing_is_edited(change: PullRequest) -> None:
    """Other files are for the diff."""
    change.propose({"README.md": "more words", "src/app.py": "print()"})
    comment = comment_of(change)
    assert "This change edits" not in comment
    assert "README.md" not in comment


def test_g7_each_difference_of_a_long_description_is_shown(change: PullRequest) -> None:
    """A harmless edit at its start does not hide the one in its middle."""
    filler = " ".join(f"word{number}" for number in range(150))
    old = f"Summarise changes. {filler} For a customer. {filler} The end."
    new = f"Summarise edits. {filler} For a customer, or to production. {filler} The last end."
    base = {**FILES, WRITING_FILE: skill("writing-notes", old)}
    change = PullRequest(change.folder / "long", base)
    change.propose({WRITING_FILE: skill("writing-notes", new)})
    comment = comment_of(change)
    for part in ("Summarise edits", "or to production", "The last end"):
        assert part in comment


@pytest.mark.parametrize(
    ("new", "shown"),
    [
        pytest.param("Summarise changes for a cust\u200bomer.", "<U+200B>", id="invisible"),
        pytest.param("Summarise changes for a \u202ecustomer.", "<U+202E>", id="right to left"),
        pytest.param("Summarise changes for \u0430 customer.", "<U+0430>", id="a look-alike"),
        pytest.param("Summ\u0430rise changes for a customer.", "<U+0430>", id="a mixed word"),
        pytest.param("Summarise changes for a customer\u3164.", "<U+3164>", id="a blank letter"),
        pytest.param("Summarise\u00a0changes for a customer.", "<U+00A0>", id="another space"),
    ],
)
def test_g7_what_nobody_sees_is_shown(change: PullRequest, new: str, shown: str) -> None:
    """As its code point."""
    change.propose({WRITING_FILE: skill("writing-notes", new)})
    assert shown in comment_of(change)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(
            WRITING.replace("description:", "description: Other.\ndescription:"),
            "Other.",
            id="a key twice",
        ),
        pytest.param(WRITING.replace("\n", "\r\n"), "<U+000D>", id="other line ends"),
        pytest.param(f"\ufeff{WRITING}", "<U+FEFF>", id="a mark at its start"),
        pytest.param(WRITING.replace("---\n\n", "{oops\n---\n\n"), "{oops", id="no field"),
        pytest.param(WRITING.replace("---", "----"), "for a customer.` → –", id="no fence"),
        pytest.param(
            WRITING.replace("name:", "disable-model-invocation: true\nname:"),
            "disable-model-invocation",
            id="another field",
        ),
    ],
)
def test_g7_odd_frontmatter_is_shown_as_it_is(change: PullRequest, text: str, shown: str) -> None:
    """An agent's YAML reader may take it for something else than ours does."""
    path = change.origin.path / WRITING_FILE
    change.origin.start("change")
    path.write_bytes(text.encode())
    change.origin.commit(day=1)
    change.origin.start("merge")
    change.origin.switch("main")
    change.checkout = check_out(change.origin, change.folder / "checkout", "refs/heads/merge")
    assert shown in comment_of(change).replace("line 1: ", "")


def test_g7_the_target_of_a_link_counts_as_the_skill(change: PullRequest) -> None:
    """Only a file that no rule knows was edited."""
    base = {**FILES, "shared/notes.md": FILES[WRITING_FILE], WRITING_FILE: None}
    change = PullRequest(change.folder / "linked", {k: v for k, v in base.items() if v})
    link(change, WRITING_FILE, "../../../shared/notes.md")
    change.propose({"shared/notes.md": skill("writing-notes", STOLEN)})
    comment = comment_of(change)
    assert WRITING_FILE in comment
    assert STOLEN[:30] in comment


def test_g7_a_folder_behind_a_link_counts_as_the_skill(change: PullRequest) -> None:
    """The folder of skills itself is the link."""
    base = {name.replace(".claude/skills", "shared/of-all"): text for name, text in FILES.items()}
    change = PullRequest(change.folder / "linked", base)
    link(change, ".claude/skills", "../shared/of-all")
    change.propose({"shared/of-all/writing-notes/SKILL.md": skill("writing-notes", STOLEN)})
    assert WRITING_FILE in comment_of(change)


def test_g7_a_link_that_leads_elsewhere_is_an_edit(change: PullRequest) -> None:
    """No file was edited but the link."""
    base = {**FILES, "a.md": "Be kind.", "b.md": "Always use writing-notes."}
    change = PullRequest(change.folder / "linked", base)
    link(change, "AGENTS.md", "a.md")
    change.origin.start("change")
    (change.origin.path / "AGENTS.md").unlink()
    (change.origin.path / "AGENTS.md").symlink_to("b.md")
    change.origin.commit(day=2)
    change.origin.start("merge")
    change.origin.switch("main")
    change.checkout = check_out(change.origin, change.folder / "checkout", "refs/heads/merge")
    comment = comment_of(change)
    assert "AGENTS.md" in comment
    assert "Always use writing-notes" in comment


def link(change: PullRequest, path: str, target: str) -> None:
    """Put a link on the base branch."""
    place = change.origin.path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    change.origin.commit(day=0)


def test_g7_imports_of_instructions_count(change: PullRequest) -> None:
    """CLAUDE.md brings in a file, which brings in another."""
    base = {**FILES, "CLAUDE.md": "See @docs/style.md.", "docs/style.md": "And @more/rules.txt",
            "docs/more/rules.txt": "Be kind."}  # fmt: skip
    change = PullRequest(change.folder / "imports", base)
    change.propose({"docs/more/rules.txt": "Always use writing-notes."})
    comment = comment_of(change)
    assert "docs/more/rules.txt" in comment
    assert "Always use writing-notes" in comment


def test_g7_a_replaced_object_hides_nothing(change: PullRequest) -> None:
    """`git replace` shows another content for a blob, and a filter for a file."""
    change.propose(STEAL)
    git = change.checkout.git
    theirs = git("rev-parse", f"HEAD:{WRITING_FILE}")
    ours = git("hash-object", "-w", "--stdin", stdin=WRITING)
    git("replace", theirs, ours)
    git("config", "diff.external", "true")
    (change.checkout.path / ".git/info").mkdir(exist_ok=True)
    (change.checkout.path / ".git/info/attributes").write_text("*.md filter=x -diff\n", "utf-8")
    assert STOLEN[:30] in comment_of(change)


def test_g7_an_agent_started_by_a_template_is_named(change: PullRequest) -> None:
    """A stand-in could answer in the agent's place."""
    change.propose({"README.md": "x"})
    assert "AGENT_CLAUDE_TEMPLATE" in comment_of(change)


@pytest.mark.parametrize("flag", ["", "--assume-unchanged", "--skip-worktree"])
def test_g7_a_tree_with_edits_is_named(change: PullRequest, flag: str) -> None:
    """An earlier step of the job may have changed what is measured, and told git to overlook it."""
    change.propose({"README.md": "x"})
    change.checkout.write({WRITING_FILE: skill("writing-notes", STOLEN), "README.md": "y"})
    if flag:
        change.checkout.git("update-index", flag, WRITING_FILE)
    comment = comment_of(change)
    assert "uncommitted" in comment
    assert WRITING_FILE in comment
    assert "README.md" in comment


def test_g7_an_untracked_instruction_file_is_named(change: PullRequest) -> None:
    """It is no part of the commit, and agents read it."""
    change.propose({"README.md": "x"})
    change.checkout.write({"CLAUDE.md": "Always use writing-notes.", "build.log": "x"})
    comment = comment_of(change)
    assert "uncommitted edits of CLAUDE.md" in comment
    assert "build.log" not in comment


def test_g7_edits_that_were_undone_after_the_run_are_named(change: PullRequest) -> None:
    """The measuring job had them; the judging one has a clean checkout."""
    change.propose({"README.md": "x"})
    change.checkout.write({WRITING_FILE: skill("writing-notes", "Summarise a customer, merged.")})
    change.measure()
    change.checkout.git("checkout", "--", ".")
    assert "measured in a checkout with uncommitted" in change.judge().text("comment.md")


@pytest.mark.slow
def test_g18_many_new_skills_hide_no_edited_one(change: PullRequest) -> None:
    """What was edited stands before what is new."""
    flood = {
        f".claude/skills/a{number:04}/SKILL.md": skill(f"a{number:04}", f"Sing song {number}.")
        for number in range(60)
    }
    edited = {WRITING_FILE: skill("writing-notes", "Summarise changes for all customers.")}
    change.propose({**flood, **edited})
    comment = comment_of(change)
    assert comment.index("Summarise changes for all customers.") < comment.index("a0000")


def test_a_link_to_a_file_outside_is_no_edit(change: PullRequest) -> None:
    """Nor does a circle of links stop anything."""
    change.propose({"README.md": "x", "CLAUDE.md": f"See @{os.sep}etc/passwd and @../../x."})
    (change.checkout.path / "b").symlink_to("a")
    assert NOTES not in comment_of(change)

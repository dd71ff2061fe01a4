"""A skill is one skill under all of its names, on every agent, and no other one."""

from __future__ import annotations

import unicodedata

import pytest

from routing_action.agents.provider import ReadContext
from routing_action.corpus.baseline import Status
from routing_action.corpus.identity import KnownSkill, SkillIndex
from routing_action.evidence.verdict import Verdict
from tests.support.builders import case_of, judge_run, read
from tests.support.streams import (
    AGENTS,
    ROOTS,
    Record,
    claude_base,
    claude_call,
    claude_init,
    claude_result,
    codex_shell,
    copilot_event,
    jsonl,
    load,
    run_of,
    skill_text,
)

FOLDER, DECLARED = "pp", "Pair Programming"
TREE = ReadContext(
    skills=SkillIndex([KnownSkill(FOLDER, DECLARED), KnownSkill("release-notes", "release-notes")])
)
NONE = ReadContext()
COMPOSED = unicodedata.normalize("NFC", "menü-prüfung")
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
each_agent = pytest.mark.parametrize("agent", AGENTS)
with_a_skill_tool = pytest.mark.parametrize("agent", [one for one in AGENTS if one != "codex"])


def called(agent: str, name: str, folder: str = "") -> bytes:
    """A run that loads a skill by a name; codex reads the file of its folder."""
    if agent == "codex":
        path = f"{ROOTS[agent]}/{folder or name}/SKILL.md"
        return run_of(agent, *codex_shell(f"cat '{path}'", skill_text(name)))
    return run_of(agent, *load(agent, name))


def both_ways(agent: str, run: bytes, skill: str, context: ReadContext) -> tuple[Verdict, Verdict]:
    """The verdicts of a case that expects the skill, and of one that disallows it."""
    wanted = case_of(expected_skill=skill)
    unwanted = case_of(expected_skill="", disallowed_skills=[skill])
    return tuple(judge_run(agent, one, run, context=context) for one in (wanted, unwanted))  # type: ignore[return-value]


def is_the_skill(verdicts: tuple[Verdict, Verdict]) -> bool:
    statuses = [one.status for one in verdicts]
    if statuses == [Status.PASS, Status.FAIL]:
        return True
    assert statuses == [Status.FAIL, Status.PASS]
    return False


# ---- S5: several names


@each_agent
@pytest.mark.parametrize("name", ["pair-programming", "Pair Programming", "PAIR_PROGRAMMING"])
def test_s5_a_display_name_needs_no_tree(agent: str, name: str) -> None:
    """`Pair Programming` is `pair-programming`, whichever the case and whichever the call says."""
    for said in ("Pair Programming", "pair-programming"):
        run = called(agent, said, "pair-programming")
        assert is_the_skill(both_ways(agent, run, name, ReadContext()))


@each_agent
@pytest.mark.parametrize("name", ["pp", "PP", "Pair Programming", "pair-programming"])
def test_s5_the_staged_file_links_folder_and_declared_name(agent: str, name: str) -> None:
    """The folder `pp` declares `Pair Programming`: both are the same skill in a case."""
    run = called(agent, DECLARED, FOLDER)
    assert is_the_skill(both_ways(agent, run, name, TREE))
    assert not is_the_skill(both_ways(agent, run, "release-notes", TREE))


@each_agent
@pytest.mark.parametrize("name", ["pair", "programming", "pair-programming-2", "pp2"])
def test_s5_a_part_of_a_name_is_no_name(agent: str, name: str) -> None:
    """What only begins or ends like a skill's name is another skill."""
    assert not is_the_skill(both_ways(agent, called(agent, DECLARED, FOLDER), name, TREE))


@each_agent
def test_s5_composed_and_decomposed_characters_are_the_same(agent: str) -> None:
    """A file system that decomposes names, and a case that was typed, mean one skill."""
    for said, name in ((COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED.upper())):
        for context in (ReadContext(), ReadContext(skills=SkillIndex([KnownSkill(said)]))):
            assert is_the_skill(both_ways(agent, called(agent, said), name, context))


@with_a_skill_tool
def test_s5_an_alias_of_a_case_is_still_one(agent: str) -> None:
    """`provider_aliases` names a skill in words that no file has."""
    case = case_of(
        expected_skill=FOLDER, provider_aliases={agent: {"buddy": FOLDER}}, require_skill_file=False
    )
    assert judge_run(agent, case, called(agent, "buddy"), context=TREE).status is Status.PASS


@pytest.mark.parametrize("name", ["pp", "Pair Programming"])
def test_s5_the_catalogue_links_name_and_folder(name: str) -> None:
    """Copilot prints the path of each skill that it offers."""
    offered = {"name": DECLARED, "enabled": True, "path": f"/repo/.github/skills/{FOLDER}/SKILL.md"}
    listed = copilot_event("session.skills_loaded", skills=[offered])
    loaded = run_of("copilot", listed, *load("copilot", DECLARED))
    assert is_the_skill(both_ways("copilot", loaded, name, ReadContext()))
    unused = judge_run("copilot", case_of(expected_skill=name), run_of("copilot", listed))
    assert unused.failure_kind != "skill_unavailable"


@pytest.mark.parametrize("name", ["pp", "Pair Programming"])
def test_s5_the_base_directory_links_name_and_folder(name: str) -> None:
    """Claude prints the folder of each skill that it loads."""
    steps = [
        claude_call("t", "Skill", skill=DECLARED),
        claude_result("t", "ok"),
        claude_base(f"/repo/.claude/skills/{FOLDER}"),
    ]
    assert is_the_skill(both_ways("claude", run_of("claude", *steps), name, ReadContext()))


@pytest.mark.parametrize("name", ["pp", "Pair Programming"])
def test_s5_shown_frontmatter_links_name_and_folder(name: str) -> None:
    """Codex reads the file itself, whose first lines declare the name."""
    run = called("codex", DECLARED, FOLDER)
    assert is_the_skill(both_ways("codex", run, name, ReadContext()))


@pytest.mark.parametrize("name", ["pair-programming", "Pair Programming"])
def test_s5_a_display_name_stands_in_copilots_plain_text_too(name: str) -> None:
    """Its older releases print one line for a call, with the name in it as it is."""
    assert is_the_skill(
        both_ways("copilot", "● skill(Pair Programming)\n\nDone.\n".encode(), name, NONE)
    )
    failed = "✗ skill(Pair Programming) Skill not found\n".encode()
    assert read("copilot", failed, tokens=(name,)).tier(name) == 2


ROOTED = ReadContext(skills=SkillIndex([KnownSkill("deploy", "deploy")], ["/w/.claude/skills"]))


@pytest.mark.parametrize("base", ["/w/mk/p/skills/deploy", "/home/u/.claude/skills/deploy", ""])
def test_s6_in_a_run_of_ours_a_plugin_with_the_same_name_is_another_skill(base: str) -> None:
    """The skill under test was staged; what the plugin brings is not it."""
    steps = [claude_call("t", "Skill", skill="acme:deploy"), claude_result("t", "ok")]
    run = run_of("claude", *steps, *([claude_base(base)] if base else []))
    assert not is_the_skill(both_ways("claude", run, "deploy", ROOTED))


@pytest.mark.parametrize("base", ["/w/.claude/skills/deploy", ""])
def test_s6_in_a_run_of_ours_the_staged_skill_is_loaded_by_its_own_name(base: str) -> None:
    """With its folder told, and without."""
    steps = [claude_call("t", "Skill", skill="deploy"), claude_result("t", "ok")]
    run = run_of("claude", *steps, *([claude_base(base)] if base else []))
    assert is_the_skill(both_ways("claude", run, "deploy", ROOTED))


# ---- names that fit two skills


@pytest.mark.parametrize(
    "skills",
    [
        [KnownSkill("deploy", plugin="a"), KnownSkill("deploy", plugin="b")],
        [KnownSkill("deploy", "deploy"), KnownSkill("ship", "deploy")],
        [KnownSkill("roll-out", "Deploy"), KnownSkill("ship", "deploy")],
        [KnownSkill("DEPLOY"), KnownSkill("deploy")],
    ],
    ids=["two plugins", "folder and declared name", "two declared names", "two cases"],
)
@with_a_skill_tool
def test_a_name_that_fits_two_skills_proves_neither(agent: str, skills: list[KnownSkill]) -> None:
    """Neither its use nor its absence, and the verdict says which skills are in question."""
    context = ReadContext(skills=SkillIndex(skills))
    for verdict in both_ways(agent, called(agent, "deploy"), "deploy", context):
        assert (verdict.status, verdict.failure_kind) == (Status.FAIL, "ambiguous_skill")
        assert all(one.title in verdict.cause for one in skills)
    absent = both_ways(agent, called(agent, "release-notes"), "deploy", context)
    assert not is_the_skill(absent)


def test_an_exact_name_is_not_made_ambiguous_by_a_display_form() -> None:
    """`pair_programming` and `pair-programming` lie side by side; each name means its own."""
    skills = SkillIndex([KnownSkill("pair_programming"), KnownSkill("pair-programming")])
    run = called("claude", "pair_programming")
    context = ReadContext(skills=skills)
    assert is_the_skill(both_ways("claude", run, "pair_programming", context))
    assert not is_the_skill(both_ways("claude", run, "pair-programming", context))


def test_copies_of_a_skill_in_two_folders_are_one_skill() -> None:
    """A repository keeps its skills for two agents; no name becomes ambiguous by that."""
    copies = [
        KnownSkill("pp", DECLARED, place=f"{one}/skills/pp") for one in (".claude", ".agents")
    ]
    context = ReadContext(skills=SkillIndex(copies))
    for agent in AGENTS:
        assert is_the_skill(both_ways(agent, called(agent, DECLARED, "pp"), "pp", context))


def test_the_path_tells_skills_of_one_folder_name_apart() -> None:
    """Their declared names differ, and what was read lies in one of the two places."""
    skills = [KnownSkill("pp", name, place=f".{name}/skills/pp") for name in ("agents", "codex")]
    context = ReadContext(skills=SkillIndex(skills))
    path = "/repo/.codex/skills/pp/SKILL.md"
    run = run_of("codex", *codex_shell(f"cat {path}", skill_text("codex")))
    assert read("codex", run, context=context, tokens=("codex", "agents")).tiers() == {
        "codex": 1,
        "agents": None,
    }


# ---- S6: what lies at the base directory


A, B = "a:deploy", "b:deploy"


def plugin_run(call: str, base: str, *before: Record) -> bytes:
    steps = (claude_call("t", "Skill", skill=call), claude_result("t", "ok"), claude_base(base))
    return jsonl(*(before or (claude_init(),)), *steps)


@pytest.mark.parametrize(
    "base",
    [
        "/home/u/.claude/plugins/cache/market/b/1.2.0/skills/deploy",
        "/w/plugins/b/skills/deploy",
        r"C:\Users\u\.claude\plugins\cache\market\b\1.2.0\skills\deploy",
    ],
)
def test_s6_the_folder_outranks_the_qualified_call(base: str) -> None:
    """The call names plugin a, and the CLI loaded the skill of plugin b."""
    found = read("claude", plugin_run(A, base), tokens=(A, B, "deploy"))
    assert found.tiers() == {A: None, B: 1, "deploy": 1}
    assert found.evidence.loads == [B]


def test_s6_the_agents_own_list_of_plugins_tells_whose_folder_it_is() -> None:
    """A plugin's checkout is rarely named as the plugin is."""
    plugins = [{"name": "a", "path": "/src/one"}, {"name": "b", "path": "/src/two"}]
    for base, tiers in (
        ("/src/one/skills/deploy", (1, None)),
        ("/src/two/skills/deploy", (None, 1)),
    ):
        run = plugin_run(A, base, claude_init(plugins=plugins))
        assert tuple(read("claude", run, tokens=(A, B)).tiers().values()) == tiers


def test_s6_a_repositorys_own_skill_is_of_no_plugin() -> None:
    """A qualified call that loaded `.claude/skills/deploy` has not loaded the plugin's."""
    found = read("claude", plugin_run(A, "/w/.claude/skills/deploy"), tokens=(A, "deploy"))
    assert found.tiers() == {A: None, "deploy": 1}


def test_s6_another_skill_than_the_called_one_is_what_was_loaded() -> None:
    """Both are offered, so the folder is no other name of the called skill."""
    run = plugin_run("deploy", "/w/.claude/skills/revert", claude_init(skills=["deploy", "revert"]))
    assert read("claude", run, tokens=("deploy", "revert")).tiers() == {"deploy": None, "revert": 1}


def test_s6_parallel_calls_each_get_their_own_folder() -> None:
    """Two calls, two results, two folders in the other order."""
    steps = [
        claude_call("t1", "Skill", skill=A),
        claude_call("t2", "Skill", skill="notes"),
        claude_result("t1", "ok"),
        claude_result("t2", "ok"),
        claude_base("/w/.claude/skills/notes"),
        claude_base("/w/plugins/b/skills/deploy"),
    ]
    found = read("claude", run_of("claude", *steps), tokens=(A, B, "notes"))
    assert found.tiers() == {A: None, B: 1, "notes": 1}


def test_s6_a_load_whose_folder_is_never_told_is_the_called_one() -> None:
    """Older releases print no folder."""
    steps = [claude_call("t", "Skill", skill=A), claude_result("t", "ok")]
    assert read("claude", run_of("claude", *steps), tokens=(A, B)).tiers() == {A: 1, B: None}


@pytest.mark.parametrize("tree", [True, False])
def test_s6_the_staged_plugins_skill_answers_to_both_of_its_names(tree: bool) -> None:
    """With the skills at hand a bare call is a call of the one plugin's skill."""
    context = ReadContext(skills=SkillIndex([KnownSkill("deploy", plugin="a")] if tree else []))
    found = read(
        "claude", run_of("claude", *load("claude", "deploy")), context=context, tokens=(A,)
    )
    assert found.tier(A) == (1 if tree else None)

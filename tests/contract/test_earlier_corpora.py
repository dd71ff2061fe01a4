"""A corpus of the earlier harness loads unchanged: a proven load passes, a mention never does."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.corpus.baseline import Status
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import read_cases
from routing_action.corpus.naming import is_file_token
from tests.support.builders import judge_run
from tests.support.streams import Record, load, other_tool, run_of, say, shell, skill_path

FILES = sorted((Path(__file__).parent / "corpora").glob("earlier-*.json"))
CASES = [(file.stem, case) for file in FILES for case in read_cases(file).cases]

each_agent = pytest.mark.parametrize("agent", ["claude", "codex", "copilot"])
each_case = pytest.mark.parametrize(
    "case", [case for _, case in CASES], ids=[f"{name}-{case.case_id}" for name, case in CASES]
)


def skills_of(case: Case) -> list[str]:
    """The skills that a case of the earlier harness asks for, the expected one first."""
    legacy = [token for token in case.required_all_evidence if not is_file_token(token)]
    return list(dict.fromkeys([case.expected_skill, *legacy]))


def loads(agent: str, skills: list[str]) -> list[Record]:
    return [record for skill in skills for record in load(agent, skill)]


def test_both_corpora_are_there() -> None:
    """The two shapes of earlier corpora: activity tokens, and words of the answer."""
    assert [file.stem for file in FILES] == ["earlier-one", "earlier-two"]
    assert len(CASES) == 9


@each_agent
@each_case
def test_a_proven_load_passes(case: Case, agent: str) -> None:
    """Each skill that the case names was loaded, and the agent did some work."""
    stdout = run_of(agent, *loads(agent, skills_of(case)), say(agent, "Done."))
    verdict = judge_run(agent, case, stdout)
    assert (verdict.status, verdict.missing) == (Status.PASS, ())


@each_agent
@each_case
def test_a_mention_fails(case: Case, agent: str) -> None:
    """Every token is named in text, in a listing and in a search, and nothing was loaded."""
    names = [*case.required_all_evidence, *case.required_any_evidence]
    paths = "\n".join(skill_path(agent, skill) for skill in skills_of(case))
    stdout = run_of(
        agent,
        say(agent, f"I could use {', '.join(names)}. Launching skill: {case.expected_skill}"),
        *shell(agent, "find . -name SKILL.md", paths),
        *other_tool(agent, "Grep", {"pattern": case.expected_skill}, paths),
    )
    verdict = judge_run(agent, case, stdout)
    assert verdict.status is Status.FAIL
    assert case.expected_skill in verdict.missing


@each_agent
@each_case
def test_a_failed_call_fails(case: Case, agent: str) -> None:
    """The expected skill was asked for and did not load."""
    stdout = run_of(agent, *load(agent, case.expected_skill, ok=False), say(agent, "Sorry."))
    assert judge_run(agent, case, stdout).status is Status.FAIL


@each_agent
@each_case
def test_the_load_of_a_similar_skill_fails(case: Case, agent: str) -> None:
    """A skill whose name only begins or ends alike is another one."""
    similar = [f"{case.expected_skill}-extra", f"my-{case.expected_skill}"]
    verdict = judge_run(agent, case, run_of(agent, *loads(agent, similar), say(agent, "Done.")))
    assert verdict.status is Status.FAIL
    assert verdict.hits[case.expected_skill] is None


@each_agent
@each_case
def test_a_forbidden_load_beside_the_right_one_fails(case: Case, agent: str) -> None:
    """Where a case forbids a skill, loading it too fails; an optional one changes nothing."""
    skills = [*skills_of(case), *case.disallowed_skills, *case.optional_skills]
    verdict = judge_run(agent, case, run_of(agent, *loads(agent, skills)))
    assert verdict.disallowed_hits == case.disallowed_skills
    assert verdict.optional_hits == case.optional_skills
    assert (verdict.status is Status.FAIL) == bool(case.disallowed_skills)

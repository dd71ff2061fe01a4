"""What a changed file can do to routing, by its path."""

from __future__ import annotations

import pytest

from routing_action.corpus.influences import Influence, find_influence, find_skill_folder

NAMED = {
    "evals/cases.json": Influence.CASES,
    "evals": Influence.TEMPLATES,
    "provider-baseline.json": Influence.BASELINE,
}


@pytest.mark.parametrize(
    ("path", "influence"),
    [
        ("evals/cases.json", Influence.CASES),
        ("EVALS/Cases.json", Influence.CASES),
        ("evals/body.md.j2", Influence.TEMPLATES),
        ("provider-baseline.json", Influence.BASELINE),
        ("provider-baseline.json.txt", None),
        (".claude/skills/deploying/SKILL.md", Influence.SKILL),
        ("plugins/p/skills/deploying/scripts/run.sh", Influence.SKILL),
        ("deploying/SKILL.md", Influence.SKILL),
        ("skills", Influence.SKILL),
        (".agents/Skills/a/skill.md", Influence.SKILL),
        ("CLAUDE.md", Influence.INSTRUCTIONS),
        ("src/AGENTS.md", Influence.INSTRUCTIONS),
        (".github/copilot-instructions.md", Influence.INSTRUCTIONS),
        (".github/instructions/python.instructions.md", Influence.INSTRUCTIONS),
        (".claude/settings.json", Influence.SETTINGS),
        (".claude/commands/deploy.md", Influence.INSTRUCTIONS),
        (".codex/config.toml", Influence.SETTINGS),
        (".github/agents/reviewer.md", Influence.INSTRUCTIONS),
        (".mcp.json", Influence.SETTINGS),
        ("opencode.jsonc", Influence.SETTINGS),
        ("routing.toml", Influence.AGENTS),
        (".github/workflows/routing.yml", Influence.WORKFLOW),
        ("tools/action.yml", Influence.WORKFLOW),
        (".gitattributes", Influence.TREE),
        ("sub/.gitmodules", Influence.TREE),
        ("README.md", None),
        ("src/skill.py", None),
        (".github/dependabot.yml", None),
    ],
)
def test_a_file_is_known_by_its_path(path: str, influence: Influence | None) -> None:
    """Letter case does not matter: an agent on another system would find it all the same."""
    assert find_influence(path, NAMED) is influence


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        (".claude/skills/deploying/SKILL.md", ".claude/skills/deploying"),
        (".claude/skills/deploying/scripts/run.sh", ".claude/skills/deploying"),
        ("plugins/p/skills/a/skills/b/x.md", "plugins/p/skills/a/skills/b"),
        ("deploying/SKILL.md", "deploying"),
        ("SKILL.md", "."),
        ("skills/README.md", None),
        ("README.md", None),
    ],
)
def test_the_skill_of_a_path_is_its_folder(path: str, folder: str | None) -> None:
    """What lies in a folder of skills belongs to one of them, unless it lies beside them all."""
    assert find_skill_folder(path) == folder

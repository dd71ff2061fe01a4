"""Says of a repository's path how it can change which skill an agent takes, or how that is judged.

It decides by the path alone, for the agents that are known to read it; folders are named by their
agents' documentation. Files that bear names of their own choice (the case file, the baseline,
templates) are for the caller to name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from routing_action.corpus.naming import fold


class Influence(StrEnum):
    """What a file is, as a report names it; in the order in which a reviewer looks at edits."""

    CASES = "cases"
    BASELINE = "baseline"
    SKILL = "skill"
    INSTRUCTIONS = "instruction file"
    SETTINGS = "agent setting"
    AGENTS = "agent description"
    WORKFLOW = "workflow"
    TEMPLATES = "report template"
    TREE = "checkout setting"


MOVES_PROMPTS = frozenset(
    {
        Influence.CASES,
        Influence.SKILL,
        Influence.INSTRUCTIONS,
        Influence.SETTINGS,
        Influence.AGENTS,
        Influence.TREE,
    }
)
"""What can change a measurement; the others change only how it is judged or shown."""

# The files that agents read before any prompt: Claude Code's memory, the AGENTS.md format (codex,
# opencode, copilot, gemini), Gemini CLI's context file, Copilot's custom instructions.
_INSTRUCTIONS = re.compile(
    r"(?:claude|claude\.local|agents|agents\.override|gemini|copilot-instructions)\.md"
    r"|.+\.instructions\.md"
)
# Folders that hold an agent's settings, hooks, commands, sub-agents and plugins.
_SETTINGS_FOLDERS = frozenset(
    ".claude .claude-plugin .codex .agents .gemini .opencode .copilot .plugin".split()
)
_GITHUB_FOLDERS = frozenset("agents chatmodes copilot hooks instructions prompts".split())
_SETTINGS_FILES = frozenset(
    ".mcp.json mcp.json plugin.json marketplace.json opencode.json opencode.jsonc "
    "gemini-extension.json copilot-setup-steps.yml copilot-setup-steps.yaml".split()
)
_TREE_FILES = frozenset(".gitattributes .gitmodules .lfsconfig".split())


def find_influence(path: str, named: Mapping[str, Influence]) -> Influence | None:
    """What the file is; None where no agent and no judgement depends on it.

    `path` is relative to the repository with `/`. `named` gives the influence of files and of
    whole folders by such paths; the longest one that fits decides.
    """
    whole = fold(path)
    fitting = [place for place in named if f"{whole}/".startswith(f"{fold(place).rstrip('/')}/")]
    found = named[max(fitting, key=len)] if fitting else _find_known(whole.split("/"))
    is_read = found is Influence.SETTINGS and whole.endswith(".md")  # rules, commands, agents
    return Influence.INSTRUCTIONS if is_read else found


def _find_known(parts: list[str]) -> Influence | None:
    folders, name = parts[:-1], parts[-1]
    if name == "skill.md" or "skills" in parts:
        return Influence.SKILL
    if _INSTRUCTIONS.fullmatch(name):
        return Influence.INSTRUCTIONS
    if name == "routing.toml":
        return Influence.AGENTS
    below_github = folders[folders.index(".github") + 1 :] if ".github" in folders else []
    if name in _SETTINGS_FILES or not _SETTINGS_FOLDERS.isdisjoint(folders):
        return Influence.SETTINGS
    if below_github[:1] == ["workflows"] or name in ("action.yml", "action.yaml"):
        return Influence.WORKFLOW
    if not _GITHUB_FOLDERS.isdisjoint(below_github[:1]):
        return Influence.SETTINGS
    return Influence.TREE if name in _TREE_FILES else None


def find_skill_folder(path: str) -> str | None:
    """The folder of the skill that a path belongs to: what holds SKILL.md, or lies in `skills`.

    None where the path is of no skill: `skills/README.md` is none, `skills/a/x.md` is of
    `skills/a`. Nested folders named `skills` (plugins) count by the last of them.
    """
    parts = path.split("/")
    if fold(parts[-1]) == "skill.md":
        return "/".join(parts[:-1]) or "."
    places = [at for at, part in enumerate(parts[:-2]) if fold(part) == "skills"]
    return "/".join(parts[: places[-1] + 2]) if places else None

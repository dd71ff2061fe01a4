"""Who may give which command. Pure: GitHub's words go in, a yes or a reason comes out."""

from __future__ import annotations

from enum import IntEnum

from routing_action.bot.commands import Verb


class Role(IntEnum):
    """What somebody may do in a repository; each includes those before it."""

    NONE = 0
    READ = 1
    WRITE = 2


_ROLES = {"read": Role.READ, "triage": Role.READ, "write": Role.WRITE, "maintain": Role.WRITE,
          "admin": Role.WRITE}  # fmt: skip
_NEEDED = {Verb.RERUN: Role.WRITE, Verb.ACCEPT: Role.WRITE, Verb.CANCEL: Role.WRITE}


def find_role(permission: str, *, is_forks_author: bool) -> Role:
    """The role of whoever has a permission, by GitHub's word for it.

    The author of a fork's pull request is a reader at most: the change is theirs, and so is what
    the command would run.
    """
    role = _ROLES.get(permission.lower(), Role.NONE)
    return min(role, Role.READ) if is_forks_author else role


def find_refusal(verb: Verb, role: Role, *, is_forks_author: bool) -> str:
    """Why a command is not obeyed, in a sentence without a full stop; "" where it is."""
    needed = _NEEDED.get(verb, Role.READ)
    if role >= needed:
        return ""
    if needed is Role.READ:
        return "you cannot read this repository"
    if is_forks_author:
        return f"{verb.value} is for maintainers, not for the author of a fork's pull request"
    return f"{verb.value} needs the right to write to this repository, which you do not have"

"""Turns the 'Use when ...' part of a skill's description into requests that a user could make.

A prompt never names its skill: such a case would measure nothing about routing. Where no request
can be derived, a prompt says in plain words what is to be filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from routing_action.corpus.case import FILL_IN
from routing_action.corpus.naming import fold, names_token

_MAX_PROMPT = 400
_USE = re.compile(
    r"(?:(?:^|[.!?;:)]\s+)(?:Use|Invoke|Apply|Activate|Triggers?)"
    r"(?:\s+(?:this|it|the)(?:\s+skill)?)?(?:\s+(?:only|also|proactively))?"
    r"|\b(?:should|must|can|may)\s+be\s+used)\s+"
    r"(?:when(?:ever)?|while|if|for|to|on)\s+(?P<rest>.+?)(?=[.!?](?:\s|$)|$)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r",?\s+(?:or|and)\s+(?:when(?:ever)?|if|for|to)\s+|[,;]\s+(?:when(?:ever)?|if)\s+|;\s+",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")
_ARTICLE = r"(?:an?|the|this|that|these|those|two|several|some|any|no|there|tests?|it)"

Shape = tuple[re.Pattern[str], str]


def _shape(pattern: str, sentence: str) -> Shape:
    """A kind of clause; the sentence takes what follows the words that introduce it."""
    return re.compile(pattern, re.IGNORECASE), sentence


_WHO = r"(?:you|the user|a user|users|someone|the developer|anyone|people)(?:\s+(?:is|are))?"
_SHAPES: tuple[Shape, ...] = (
    _shape(rf"{_WHO}\s+(?:also\s+)?(?:asks?|asking|wants?|needs?|tries|try|has|have|likes?|asked"
           r"|wanting|needing|trying|planning|about)(?:\s+\w+)?\s+to\s+", "Please {}."),
    _shape(rf"{_WHO}\s+(?:asks?|asking)\s+for\s+", "I need {}."),
    _shape(rf"{_WHO}\s+(?:asks?|asking)\s+about\s+", "I have a question about {}."),
    _shape(rf"{_WHO}\s+(?:needs?|wants?)\s+", "I need {}."),
    _shape(rf"{_WHO}\s+(?:mentions?|says?|describes?|reports?)\s+", ""),
    _shape(rf"{_WHO}\s+(?=\w+ing\b)", "I am {}. Please help me with that."),
    _shape(r"(?:asked|needed|required|necessary)\s+to\s+", "Please {}."),
    _shape(r"asked\s+(?:for|about)\s+", "I have a question about {}."),
    _shape(r"(?=(?!(?:nothing|something|everything|anything|string|thing)\b)[a-z]+ing\s)",
           "I need help {}."),
    _shape(rf"(?={_ARTICLE}\s+(?:\S+\s+){{1,12}}?(?:is|are|was|were|has|have|had|must|should|can"
           r"|cannot|needs?|fails?|failed|breaks?|broke|does|do|did|seems?|looks?|changed|grew)\b)",
           "In my project, {}. Please take care of that."),
)  # fmt: skip


def derive_prompts(description: str, skills: Sequence[str]) -> list[str]:
    """Requests from a description, in its order, each once; none names one of the skills."""
    found: dict[str, None] = {}
    for clause in _clauses(description):
        prompt = _request(clause)[:_MAX_PROMPT]
        if prompt and not any(names_skill(prompt, name) for name in skills):
            found[prompt] = None
    return list(found)


def fill_in_prompt(description: str, skills: Sequence[str], but_not: str = "") -> str:
    """A prompt that says what it should lead to, and to what not; it names none of the skills.

    `but_not` is the description of the other skill.
    """
    wanted = _purpose(description, skills) or "what the expected skill is for"
    other = f", and not to: {_purpose(but_not, skills)}" if but_not else ""
    return f"{FILL_IN}: a request that should lead to: {wanted}{other}"


def _purpose(description: str, skills: Sequence[str]) -> str:
    """The first sentence of a description, without the names of skills."""
    sentence = _SPACE.sub(" ", description).strip().partition(". ")[0].rstrip(".")[:200]
    for name in skills:
        if names_skill(sentence, name):
            bare = re.escape(name.rpartition(":")[2])
            words = re.escape(_spaced(name.rpartition(":")[2]))
            sentence = re.sub(f"{bare}|{words}", "this", sentence, flags=re.IGNORECASE)
    return sentence


def names_skill(prompt: str, skill: str) -> bool:
    """True where a prompt gives a skill away: its name, or its name's words in their order.

    A name of one word is a word like others: a skill `pdf` cannot be asked for without it.
    """
    bare = skill.rpartition(":")[2]
    if "-" not in bare:
        return False
    return names_token(prompt, bare) or fold(_spaced(bare)) in fold(prompt)


def _spaced(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def _clauses(description: str) -> Iterator[str]:
    """The situations that a description names, without the words that join them."""
    flat = _SPACE.sub(" ", description).strip()
    for match in _USE.finditer(flat):
        yield from (part.strip(" ,:") for part in _NEXT.split(match["rest"]) if part.strip(" ,:"))


def _request(clause: str) -> str:
    """A clause as what a user says; "" where it has no shape that is known."""
    for pattern, sentence in _SHAPES:
        match = pattern.match(clause)
        if match:
            return sentence.format(_as_said(clause[match.end() :]))
    return ""


def _as_said(rest: str) -> str:
    """The user's own words: what is theirs becomes mine."""
    said = re.sub(r"\b(?:their|your|the user's)\b", "my", rest)
    return re.sub(r"\byou\b", "I", said).rstrip(" .,")

"""A first corpus from a folder of skills: one case a skill, one a pair of near twins, one control.

Near twins are found by the Jaccard index of two skills' words: the words of name and description,
lowered, of three letters or more, without a plural s and without the words that every description
has; the size of the common set over that of the union. From `TWIN_SIMILARITY` on, two skills count
as twins: descriptions of unrelated skills share about a twentieth of their words, those of two
skills for the same kind of file a fifth and more.

Prompts come from the 'Use when ...' part of a skill's description. A prompt never names its skill:
such a case would measure nothing about routing. Where no request can be derived, a prompt says in
plain words what is to be filled in.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from routing_action.corpus.baseline import BaselineEntry, Status
from routing_action.corpus.case import FILL_IN
from routing_action.corpus.naming import fold, names_token
from routing_action.corpus.skill_files import SkillFile

TWIN_SIMILARITY = 0.15
NEAR_TWIN = "near-twin"
"""The category of a case that tells two similar skills apart."""
CONTROL_PROMPT = "What is 17 times 23? Answer with the number alone."

_WORD = re.compile(r"[a-z0-9]+")
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9._-]+")
_COMMON = frozenset(
    "about after all and any are ask asks been before being but can does for from had has have "
    "how into its more most new not off one only other out over own should skill some such than "
    "that the their them then there these they this too two under use used user users using via "
    "wants was well were what when whenever where whether which while who will with without work "
    "working would you your".split()
)

CaseFields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seeds:
    """The cases of a first corpus, and how many of their prompts have to be filled in."""

    cases: tuple[CaseFields, ...]
    fill_ins: int


def build_seeds(skills: Sequence[SkillFile]) -> Seeds:
    """Cases in the order of the skills: each skill's own, then the twins', then the control."""
    folders = [skill.folder for skill in skills]
    names = _all_names(skills)
    prompts = {skill.folder: derive_prompts(skill.description, names) for skill in skills}
    cases = [_own_case(skill, prompts[skill.folder], names) for skill in skills]
    cases += [_twin_case(one, other, prompts, names) for one, other in find_twins(skills)]
    cases.append(
        {
            "case_id": "no-skill-needed",
            "category": "control",
            "prompt": CONTROL_PROMPT,
            "expected_skill": "",
            "disallowed_skills": folders,
        }
    )
    _make_ids_unique(cases)
    fill_ins = sum(case["prompt"].startswith(FILL_IN) for case in cases)
    return Seeds(tuple(cases), fill_ins)


def build_case(
    skill: SkillFile,
    skills: Sequence[SkillFile],
    taken: Iterable[str],
    *,
    prompt: str = "",
    negative: bool = False,
) -> CaseFields:
    """A further case for a skill, under an id that is not taken.

    Without a prompt it is the one of a first corpus. A negative one must not use the skill.
    """
    names = _all_names(skills)
    case = _own_case(skill, [prompt] if prompt else derive_prompts(skill.description, names), names)
    if negative:
        case |= {
            "case_id": f"not-{skill.folder}",
            "category": "control",
            "expected_skill": "",
            "disallowed_skills": [skill.folder],
        }
    _make_ids_unique([case], taken)
    return case


def generated_prompts(skills: Sequence[SkillFile]) -> frozenset[str]:
    """Every prompt that a case of these skills can have before a person rewrote it."""
    names = _all_names(skills)
    return frozenset(one for skill in skills for one in derive_prompts(skill.description, names))


def _all_names(skills: Sequence[SkillFile]) -> list[str]:
    return [name for skill in skills for name in dict.fromkeys((skill.folder, skill.name)) if name]


def first_baseline(
    cases: Sequence[CaseFields], agents: Sequence[str]
) -> dict[str, dict[str, BaselineEntry]]:
    """A declaration that every case passes on every agent."""
    entry = BaselineEntry(expected_status=Status.PASS)
    return {case["case_id"]: dict.fromkeys(agents, entry) for case in cases}


def find_twins(skills: Sequence[SkillFile]) -> list[tuple[SkillFile, SkillFile]]:
    """The pairs of skills whose descriptions are alike, in the order of the skills."""
    words = {skill.folder: _words(skill) for skill in skills}
    return [
        (one, other)
        for one, other in itertools.combinations(skills, 2)
        if similarity(words[one.folder], words[other.folder]) >= TWIN_SIMILARITY
    ]


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index of two sets, from 0 to 1; 0 where both are empty."""
    union = one | other
    return len(one & other) / len(union) if union else 0.0


def _words(skill: SkillFile) -> frozenset[str]:
    found = _WORD.findall(fold(f"{skill.folder} {skill.description}"))
    return frozenset(
        word.removesuffix("s") if len(word) > 3 else word
        for word in found
        if len(word) > 2 and word not in _COMMON
    )


def _own_case(skill: SkillFile, prompts: Sequence[str], names: Sequence[str]) -> CaseFields:
    prompt = prompts[0] if prompts else fill_in_prompt(skill.description, names)
    return _case(f"{skill.folder}-request", "request", prompt, skill.folder)


def _twin_case(
    one: SkillFile,
    other: SkillFile,
    prompts: Mapping[str, Sequence[str]],
    names: Sequence[str],
) -> CaseFields:
    """The skill with a request to spare is expected, so that the prompt is no repetition."""
    if len(prompts[other.folder]) > 1 and len(prompts[one.folder]) < 2:
        one, other = other, one
    spare = prompts[one.folder][1:]
    prompt = spare[0] if spare else fill_in_prompt(one.description, names, other.description)
    case = _case(f"{one.folder}-not-{other.folder}", NEAR_TWIN, prompt, one.folder)
    return {**case, "disallowed_skills": [other.folder]}


def _case(case_id: str, category: str, prompt: str, skill: str) -> CaseFields:
    return {
        "case_id": case_id,
        "category": category,
        "prompt": prompt,
        "expected_skill": skill,
    }


def _make_ids_unique(cases: Sequence[CaseFields], others: Iterable[str] = ()) -> None:
    """Give each case an id that the format allows and no other case has."""
    taken = set(map(fold, others))
    for case in cases:
        plain = _NOT_IN_ID.sub("-", case["case_id"]).strip("-._")[:110] or "case"
        case_id, number = plain, 2
        while fold(case_id) in taken:
            case_id, number = f"{plain}-{number}", number + 1
        taken.add(fold(case_id))
        case["case_id"] = case_id


# ---- prompts

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
    if "-" not in bare and " " not in bare:
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

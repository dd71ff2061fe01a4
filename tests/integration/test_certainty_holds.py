"""A repository whose rates nobody knows, over 200 pull requests: what `noise` promised, happens."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from benchmarks.certainty import AUTO, MIXED, Repository
from routing_action.evidence.chance import Record, wilson_interval
from routing_action.evidence.chance_sequence import believe
from routing_action.gate.judging.noise import KnownPair, Noise, Rule, foresee
from tests.support.command_line import ROOT, Project, loads

AGENT = ROOT / "tests" / "fakes" / "wavering_agent.py"
PULL_REQUESTS = 200


def promise(repository: Repository) -> Noise:
    """What `noise` says of it, from its history alone."""
    pairs = [KnownPair(pair, record) for pair, record in repository.records.items()]
    return foresee(Rule(sequential=AUTO.sequential), pairs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_promised_is_what_happens(seed: int) -> None:
    """False alarms, catches and extra trials: the intervals overlap."""
    repository = Repository(MIXED, seed)
    promised = promise(repository)
    found = [repository.open_pull_request() for _ in range(PULL_REQUESTS)]
    low, high = wilson_interval(Record(sum(bool(one.red) for one in found), PULL_REQUESTS))
    assert low <= promised.high
    assert promised.low <= high
    extra = sum(one.extra for one in found) / PULL_REQUESTS
    assert extra == pytest.approx(promised.extra, rel=0.35)
    typical = sorted(repository.records, key=lambda pair: believe(repository.records[pair]).rate)
    number = int(typical[len(typical) // 2][0])
    for fall, (caught, _) in promised.caught.items():
        looks = [repository.open_pull_request(changed={number: fall}) for _ in range(PULL_REQUESTS)]
        low, high = wilson_interval(Record(sum(number in one.red for one in looks), len(looks)))
        assert low - 0.02 <= caught <= high + 0.02


@pytest.mark.slow
def test_real_runs_come_to_what_their_trials_say(tmp_path: Path) -> None:
    """Executables that pass at a rate, through run and gate: no pair is red without its proof."""
    project = Project(tmp_path)
    (tmp_path / "starts").mkdir()
    words = [sys.executable, str(AGENT), str(tmp_path / "starts")]
    project.variables["AGENT_CLAUDE_TEMPLATE"] = f"{shlex.join(words)} {{prompt}}"
    rates = {"steady": 1, "strong": 0.95, "fair": 0.85, "weak": 0.7, "broken": 0.05}
    cases = (loads(name, prompt=f"{name} rate:{rate}:8") for name, rate in rates.items())
    project.write_cases(*cases)
    entries = {name: {"claude": {"expected_status": "pass"}} for name in rates}
    (tmp_path / "provider-baseline.json").write_text(json.dumps(entries), encoding="utf-8")
    red: dict[str, int] = dict.fromkeys(rates, 0)
    for _ in range(6):
        assert project.run("--confirm", "auto").code in (0, 1)
        delta = json.loads(project.call("compare", "--format", "json").stdout)
        for row in delta["rows"]:
            red[row["case_id"]] += row["gates"]
            if row["gates"]:
                assert (row["chance"]["finding"], row["passed"]) == ("worse", 0)
    assert red["broken"] >= 4
    assert [red[name] for name in ("steady", "strong", "fair", "weak")] == [0, 0, 0, 0]

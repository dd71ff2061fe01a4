"""What holds for every test: a slow machine is no reason to fail; real runs end in a table."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("gate", deadline=None)
settings.load_profile("gate")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print every run of a real agent that the live tests recorded, one a line."""
    reports = [one for listed in terminalreporter.stats.values() for one in listed]
    told = [
        (name, value)
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if getattr(report, "when", "") == "call"
    ]
    runs = sorted(tuple(value) for name, value in told if name == "live run")
    if runs:
        terminalreporter.section("real runs: provider, version, scene, verdict, seconds")
        for run in runs:
            terminalreporter.write_line("  ".join(map(str, run)))
    for name, value in told:
        if name == "live note":
            terminalreporter.write_line(str(value))

"""What holds for every test: a slow machine is no reason to fail; real runs end in a table."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("gate", deadline=None)
settings.load_profile("gate")


SHARE_A_WORKER = ("tests/live/test_live_agents.py", "tests/browser/test_html_report.py")
"""Modules whose fixture takes a minute: spread over workers, all of these would wait for it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep such a module together where tests are dealt out by group (`--dist loadgroup`)."""
    for item in items:
        module = item.nodeid.partition("::")[0]
        if module in SHARE_A_WORKER:
            item.add_marker(pytest.mark.xdist_group(module))


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

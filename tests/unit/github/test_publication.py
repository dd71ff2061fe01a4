"""Links to a workflow run, a commit and a file."""

from __future__ import annotations

from routing_action.github.publication import RunLinks

KNOWN = RunLinks("https://github.example", "octo/demo", "a" * 40, run_id="7")


def test_known_places_have_addresses() -> None:
    """Run, commit and line are one click away."""
    assert KNOWN.run_url == "https://github.example/octo/demo/actions/runs/7/attempts/1"
    assert KNOWN.commit_url("b" * 40) == f"https://github.example/octo/demo/commit/{'b' * 40}"
    assert KNOWN.file_url("a dir/cases.json", 12) == (
        f"https://github.example/octo/demo/blob/{'a' * 40}/a%20dir/cases.json#L12"
    )
    assert KNOWN.file_url("cases.json").endswith("/cases.json")


def test_a_run_on_a_desk_has_no_addresses() -> None:
    """What is unknown gives no link, and neither does a path outside the repository."""
    desk = RunLinks()
    assert (desk.run_url, desk.commit_url("b"), desk.file_url("cases.json", 1)) == ("", "", "")
    assert KNOWN.commit_url("") == KNOWN.file_url("") == KNOWN.file_url("/etc/passwd") == ""

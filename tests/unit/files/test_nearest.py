"""A misspelt name is answered with the known name that is most like it."""

import pytest

from routing_action.files.nearest import find_nearest, suggest

KNOWN = ("claude", "codex", "Copilot", "feature/new-skills")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("cluade", "claude"),
        ("CODEXX", "codex"),
        ("copliot", "Copilot"),
        ("feature/new-skill", "feature/new-skills"),
        ("zzz", ""),
        ("", ""),
        (7, ""),
        ("c" * 100_000, ""),
    ],
)
def test_the_nearest_known_name_is_offered(name: object, nearest: str) -> None:
    """Case does not matter; a name that is like none gets none, however long it is."""
    assert find_nearest(name, KNOWN) == nearest
    assert suggest(name, KNOWN, "see the list") == (
        f"did you mean {nearest}?" if nearest else "see the list"
    )

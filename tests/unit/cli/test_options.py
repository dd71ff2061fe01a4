"""Names on the command line: as they are spelled where they are known."""

from __future__ import annotations

import pytest

from routing_action.cli.options import spell_names
from routing_action.errors import UsageError

KNOWN = ("first-case", "second-case")


def test_names_are_taken_in_any_case() -> None:
    """And given as they are known."""
    assert spell_names(("FIRST-case",), KNOWN, "no case", "known") == {"first-case"}


@pytest.mark.parametrize(
    ("names", "cause", "remedy"),
    [
        (("frist-case",), "no case 'frist-case'", "did you mean first-case?"),
        (
            ("first-case", "frist-case", "secnd-case"),
            "no case 'frist-case', 'secnd-case'",
            "did you mean first-case? did you mean second-case?",
        ),
        (("zzz",), "no case 'zzz'", "known: first-case, second-case"),
    ],
)
def test_a_strange_name_is_offered_the_one_that_was_meant(
    names: tuple[str, ...], cause: str, remedy: str
) -> None:
    """Where none is like it, all are listed."""
    with pytest.raises(UsageError) as raised:
        spell_names(names, KNOWN, "no case", "known")
    assert (raised.value.cause, raised.value.remedy) == (cause, remedy)

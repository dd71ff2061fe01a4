"""The options of `--confirm auto`, which `run` and the gate share."""

from __future__ import annotations

import click

from routing_action.cli.options import Command, history_option
from routing_action.errors import UsageError
from routing_action.evidence.chance_sequence import (
    DEFAULT_DETECT,
    DEFAULT_FALSE_ALARM,
    DEFAULT_MAX_CONFIRM,
    Sequential,
)

AUTO = "auto"
MOST_CONFIRM = 20


class Confirm(click.ParamType[int | str]):
    """A number of trials, or `auto`."""

    name = "number"

    def convert(
        self, value: int | str, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """The number, or `auto`; an error of use where it is neither."""
        text = str(value).strip().lower()
        if text == AUTO:
            return AUTO
        if not (text.isdecimal() and len(text) < 3 and int(text) <= MOST_CONFIRM):
            self.fail(f"{value!r} is neither {AUTO} nor a number from 0 to {MOST_CONFIRM}.")
        return int(text)


class Share(click.ParamType[float]):
    """A number between 0 and 1, without both."""

    name = "share"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; UsageError where it is none."""
        try:
            share = float(value)
        except ValueError:
            share = 0.0
        if not 0 < share < 1:
            name, usual = (param.opts[0], param.default) if param else ("", 0.01)
            raise UsageError(
                f"{name} {value!r}: must be between 0 and 1", remedy=f"such as {usual}"
            )
        return share


def sequential_options(command: Command) -> Command:
    """`--detect`, `--false-alarm`, `--max-confirm` and `--history`."""
    for option in (
        history_option,
        click.option("--max-confirm", metavar="N", type=click.IntRange(1, MOST_CONFIRM),
                     default=DEFAULT_MAX_CONFIRM, show_default=True,
                     help="--confirm auto: at most N more trials of a pair."),
        click.option("--false-alarm", metavar="X", type=Share(), default=DEFAULT_FALSE_ALARM,
                     show_default=True,
                     help="--confirm auto: share of runs that may be red by chance alone."),
        click.option("--detect", metavar="X", type=Share(), default=DEFAULT_DETECT,
                     show_default=True,
                     help="--confirm auto: find a pair that fell to X times its own rate."),
    ):  # fmt: skip
        command = option(command)
    return command


def read_sequential(
    is_auto: bool, detect: float, false_alarm: float, max_confirm: int
) -> Sequential | None:
    """The test that was asked for; None where the majority decides."""
    return Sequential(detect, false_alarm, max_confirm) if is_auto else None

"""The action's stage `answer`: obeys the commands of the comment that started the workflow."""

from __future__ import annotations

from pydantic import ValidationError

from routing_action.action.inputs import DEFAULT_KEY
from routing_action.action.post import open_github
from routing_action.action.step import Step
from routing_action.bot.handle import handle_comment
from routing_action.bot.payload import CommentEvent
from routing_action.bot.work import DEFAULT_WORKFLOW, Settings
from routing_action.errors import ExitCode, UsageError


def answer_comment(step: Step) -> ExitCode:
    """Answer each command once; a refusal is an answer, and no failure of the job."""
    context = step.context
    if context.event_name != "issue_comment":
        raise UsageError(
            f"the event {context.event_name or 'of this run'} is no comment",
            remedy="start `command: command` by `on: issue_comment`, with types `[created]`",
        )
    try:
        event = CommentEvent.model_validate(context.event)
    except ValidationError as error:
        raise UsageError(
            f"the event's payload is not that of a comment: {error.errors()[0]['loc']}",
            remedy="leave GITHUB_EVENT_PATH as the runner sets it",
        ) from None
    settings = Settings(
        key=step.inputs.text("key") or DEFAULT_KEY,
        workflow=step.inputs.text("workflow") or DEFAULT_WORKFLOW,
    )
    repository = open_github(context, step.inputs.text("token"))
    outcomes = handle_comment(event, repository, settings, context)
    for outcome in outcomes:
        done = "done" if outcome.ok else "not done; the reply says why"
        step.quote(f"line {outcome.line}: {outcome.what}: {done}\n")
    if not outcomes:
        step.quote("this comment holds no new command of a person on a pull request\n")
    return ExitCode.PASSED

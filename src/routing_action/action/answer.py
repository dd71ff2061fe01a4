"""The action's stage `answer`: obeys the comment that started the workflow, or follows a run."""

from __future__ import annotations

from pydantic import ValidationError

from routing_action.action.inputs import DEFAULT_KEY
from routing_action.action.post import open_github
from routing_action.action.step import Step
from routing_action.bot.follow import follow_run
from routing_action.bot.handle import handle_comment
from routing_action.bot.payload import CommentEvent, RunEvent
from routing_action.bot.work import DEFAULT_WORKFLOW, Settings
from routing_action.errors import ExitCode, UsageError
from routing_action.files.documents import Model
from routing_action.github.people import name_authors


def answer(step: Step) -> ExitCode:
    """Answer each command once; a refusal is an answer, and no failure of the job.

    At the end of a run that a command has started, say below the reply what it came to.
    """
    name = step.context.event_name
    settings = Settings(
        key=step.inputs.text("key") or DEFAULT_KEY,
        workflow=step.inputs.text("workflow") or DEFAULT_WORKFLOW,
        authors=name_authors(step.inputs.text("app-slug")),
    )
    if name == "issue_comment":
        _answer_comment(step, settings)
    elif name == "workflow_run":
        _follow_run(step, settings)
    else:
        raise UsageError(
            f"the event {name or 'of this run'} is neither a comment nor the end of a run",
            remedy="start `command: command` as .github/workflows/routing-command.yml does",
        )
    return ExitCode.PASSED


def _answer_comment(step: Step, settings: Settings) -> None:
    context = step.context
    event = _parse(CommentEvent, step)
    repository = open_github(context, step.inputs.text("token"))
    # A job that is run again belongs to the same run, and goes on with what it had begun.
    worker = f"run-{context.run_id}"
    outcomes = handle_comment(event, repository, settings, context, worker=worker)
    for outcome in outcomes:
        done = "done" if outcome.ok else "not done; the reply says why"
        step.quote(f"line {outcome.line}: {outcome.what}: {done}\n")
    if not outcomes:
        step.quote("this comment holds no new command of a person on a pull request\n")


def _follow_run(step: Step, settings: Settings) -> None:
    event = _parse(RunEvent, step)
    repository = open_github(step.context, step.inputs.text("token"))
    is_ours = follow_run(repository, event.workflow_run.id, settings)
    done = "is told below its command" if is_ours else "was started by no command"
    step.quote(f"run {event.workflow_run.id} {done}\n")


def _parse(model: type[Model], step: Step) -> Model:
    try:
        return model.model_validate(step.context.event)
    except ValidationError as error:
        raise UsageError(
            f"the event's payload has another form: {error.errors()[0]['loc']}",
            remedy="leave GITHUB_EVENT_PATH as the runner sets it",
        ) from None

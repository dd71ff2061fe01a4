"""Kilo: opencode's stream and its skill tool, with variables, folders and errors of its own."""

from __future__ import annotations

from routing_action.agents.opencode import OpencodeReader
from routing_action.agents.provider import Provider

PROVIDER = Provider(
    name="kilo",
    title="Kilo CLI",
    command=("kilo", "run", "--format", "json", "--auto", "{prompt}"),
    model_arguments=("--model", "{model}"),
    reports_cost="during",
    record_flags=("--format json",),
    memory_mb=960,
    tested_versions=("7.7.7", "7.7.7"),
    reader=OpencodeReader,
    credential_variables=(
        *("KILO_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"),
    ),
    pass_variables=("KILO_CONFIG_CONTENT",),
    set_variables={"KILO_DISABLE_AUTOUPDATE": "true", "KILO_DISABLE_SESSION_INGEST": "true"},
    credential_files=(".local/share/kilo/auth.json",),
    skill_folders=(".kilo/skills", ".kilocode/skills", ".claude/skills", ".agents/skills"),
    has_unseen_login=True,  # some of its models need no key
    npm_package="@kilocode/cli",
    state=(
        "It needs ripgrep (rg) on PATH. What its sub-agents load does not show in its stream. "
        "After 429 and 5xx it tries again for more than a minute and prints nothing: such a run "
        "can end as a timeout."
    ),
    documentation="Loads skills with its skill tool; the state `completed` proves the load.",
)

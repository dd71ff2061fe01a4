"""The one table of what the agent CLIs and their services call a failure, with where each is from.

docs/reference/failure-wordings.md is written from it. Only the CLI's own error fields are searched
for these words, never agent prose or tool output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from routing_action.evidence.transcript import ApiFailure

ALL = ("claude", "codex", "copilot", "gemini", "opencode")
_CLAUDE, _CODEX, _COPILOT, _GEMINI, _OPENCODE = ((name,) for name in ALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """Words or codes of a failure, one `example`, and its source.

    `pattern` is searched without regard to case. A `firm` quota is one whatever pause is named
    beside it; any other limit that lifts within LONGEST_PAUSE seconds is a rate limit.
    """

    pattern: re.Pattern[str]
    failure: ApiFailure
    agents: tuple[str, ...]
    example: str
    source: str
    firm: bool = False


def _say(
    failure: ApiFailure,
    agents: tuple[str, ...],
    pattern: str,
    example: str,
    source: str,
    *,
    firm: bool = False,
) -> Wording:
    return Wording(re.compile(pattern, re.IGNORECASE), failure, agents, example, source, firm)


_RECORDED = "recorded run"
_CLAUDE_ISSUE = "github.com/anthropics/claude-code issue"
_CODEX_SOURCE = "github.com/openai/codex codex-rs/protocol/src/error.rs"
_GEMINI_SOURCE = "github.com/google-gemini/gemini-cli packages/core/src/utils/googleQuotaErrors.ts"
_OPENCODE_ERROR = "github.com/anomalyco/opencode packages/opencode/src/provider/error.ts"
_OPENCODE_RETRY = "github.com/anomalyco/opencode packages/opencode/src/session/retry.ts"
_COPILOT_ISSUE = "github.com/github/copilot-cli issue"
_F = ApiFailure

WORDINGS: tuple[Wording, ...] = (
    # ---- a required MCP server
    _say(
        _F.MCP_SERVER,
        _CODEX,
        r"required MCP servers? failed",
        "required MCP servers failed to initialize: dbx: handshaking with MCP server failed",
        "github.com/openai/codex pull request 10902",
    ),
    _say(
        _F.MCP_SERVER,
        _CLAUDE,
        r"invalid MCP config|MCP config(?:uration)? (?:file )?(?:is invalid|not found|error)",
        "Error: Invalid MCP configuration: MCP config file not found: mcp.json",
        "Claude Code 2.1, --mcp-config",
    ),
    # ---- the prompt does not fit
    _say(
        _F.CONTEXT,
        ("claude", "opencode"),
        r"(?:prompt|input) is too long|request[_ ](?:entity[_ ])?too[_ ]large",
        "Prompt is too long",
        f"{_CLAUDE_ISSUE} 57296; {_OPENCODE_ERROR}",
    ),
    _say(
        _F.CONTEXT,
        ("codex", "opencode"),
        r"context[ _]?(?:length|window|limit)[ _]?(?:is )?exceed|context_?overflow|context_limit\b"
        r"|room in the model's context|exceeds the (?:available )?context"
        r"|context window exceeds",
        "Codex ran out of room in the model's context window",
        f"{_CODEX_SOURCE}; {_OPENCODE_ERROR}",
    ),
    _say(
        _F.CONTEXT,
        ("gemini", "copilot"),
        r"(?:prompt|input) token count\b.{0,80}exceeds",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)",
        f"{_OPENCODE_ERROR}; github.com/anomalyco/opencode issue 2464",
    ),
    _say(
        _F.CONTEXT,
        _OPENCODE,
        r"maximum (?:context|prompt) length is \d|reduce the length of the messages"
        r"|exceeded model token limit|greater than the context length"
        r"|input length\b.{0,60}exceeds",
        "This model's maximum context length is 128000 tokens",
        _OPENCODE_ERROR,
    ),
    # ---- a limit that lifts late, or by a person
    _say(
        _F.QUOTA,
        ALL,
        r"credit balance|billing_error|insufficient[_ ](?:quota|credits?|funds|balance)"
        r"|payment required|out of (?:extra )?(?:credits|usage)|CreditsError",
        "Your credit balance is too low to access the Anthropic API.",
        _RECORDED,
        firm=True,
    ),
    _say(
        _F.QUOTA,
        ALL,
        r"spend(?:ing)? (?:cap|limit)|budget (?:has been )?exceeded|monthly\w*limit",
        "You hit your spend cap set in your workspace.",
        _CODEX_SOURCE,
        firm=True,
    ),
    _say(
        _F.QUOTA,
        ALL,
        r"\b(?:daily|weekly|monthly)\b.{0,40}\b(?:limit|quota|allowance)"
        r"|(?:limit|quota|requests|tokens)\b.{0,60}\bper (?:day|week|month)\b|PerDay|seven_day",
        "Weekly limit reached · resets 10am (Asia/Seoul)",
        f"{_CLAUDE_ISSUE} 12789; {_COPILOT_ISSUE} 2828; {_GEMINI_SOURCE}",
        firm=True,
    ),
    _say(
        _F.QUOTA,
        _CLAUDE,
        r"(?:hit|reached) your (?:[\w'’-]+ ){0,4}limit|extra usage",
        "You've hit your session limit · resets 3:30am (America/New_York)",
        f"{_CLAUDE_ISSUE} 81975",
    ),
    _say(
        _F.QUOTA,
        _CLAUDE,
        r"(?:session|hour|opus|sonnet|haiku|fable|model|plan) limit (?:was |is |has been )?"
        r"(?:reached|exceeded|hit)",
        "5-hour limit reached ∙ resets 2am",
        f"{_CLAUDE_ISSUE} 7157",
    ),
    _say(
        _F.QUOTA,
        ("codex", "claude", "opencode"),
        r"usage[ _]limit|UsageLimit|usage_not_included|upgrade to (?:plus|pro)\b",
        "You've hit your usage limit. Try again at 8:36 PM.",
        f"{_CODEX_SOURCE}; {_OPENCODE_ERROR}",
    ),
    _say(
        _F.QUOTA,
        ALL,
        r"quota[ _]exceeded|exceeded your (?:[\w'’-]+ ){0,4}(?:quota|allowance)|have no quota"
        r"|quota (?:is|was|has been) (?:exceeded|exhausted|reached)|\bbilling\b",
        "You exceeded your current quota, please check your plan and billing details",
        "github.com/google-gemini/gemini-cli issue 8414; " + _CODEX_SOURCE,
    ),
    _say(
        _F.QUOTA,
        _COPILOT,
        r"premium request|user_(?:global|model|session)\w*rate_limited",
        "You have exceeded your premium request allowance.",
        f"{_COPILOT_ISSUE} 3431; github.com/earendil-works/pi issue 3643",
    ),
    _say(
        _F.QUOTA,
        _COPILOT,
        r"user_(?:weekly|monthly)_rate_limited",
        "user_weekly_rate_limited",
        f"{_COPILOT_ISSUE} 2741, 2769",
        firm=True,
    ),
    _say(
        _F.QUOTA,
        _GEMINI,
        r"TerminalQuotaError|QUOTA_EXHAUSTED|INSUFFICIENT_G1_CREDITS",
        "TerminalQuotaError: You have exhausted your daily quota on this model.",
        f"{_GEMINI_SOURCE}; github.com/google-gemini/gemini-cli issue 18050",
        firm=True,
    ),
    _say(
        _F.QUOTA,
        _GEMINI,
        r"exhausted your (?:[\w'’-]+ ){0,3}(?:quota|capacity)",
        "You have exhausted your capacity on this model. Your quota will reset after 2h36m24s.",
        _GEMINI_SOURCE,
    ),
    _say(
        _F.QUOTA,
        _OPENCODE,
        r"free usage exceeded",
        "Free usage exceeded, add credits",
        f"{_OPENCODE_RETRY}; github.com/anomalyco/opencode issue 50079",
        firm=True,
    ),
    # ---- a limit that lifts soon
    _say(
        _F.RATE_LIMIT,
        ALL,
        r"rate[ _-]?limit|too[ _]many[ _]requests|throttl|temporarily limiting",
        "Server is temporarily limiting requests (not your usage limit) · Rate limited",
        f"{_CLAUDE_ISSUE} 64030; {_RECORDED}",
    ),
    _say(
        _F.RATE_LIMIT,
        _GEMINI,
        r"resource[_ ]exhausted|RetryableQuotaError|PerMinute|per minute|no capacity available",
        "RESOURCE_EXHAUSTED",
        _GEMINI_SOURCE,
    ),
    # ---- who one is
    _say(
        _F.AUTH,
        ALL,
        r"authenticat|unauthorized|unauthorised|authorization|api[ _-]?key|not logged in|/login"
        r"|login required|permission[_ ](?:error|denied)|forbidden|invalid[ _]token"
        r"|token (?:has )?(?:been )?(?:expired|revoked)|refresh token"
        r"|missing environment variable|oauth|credentials|ProviderAuth",
        "unexpected status 401 Unauthorized: invalid x-api-key",
        _RECORDED,
    ),
    # ---- the service
    _say(
        _F.SERVER_ERROR,
        ALL,
        r"overloaded|server[_ ]error|internal[_ ]?(?:server[_ ]?)?error|bad gateway"
        r"|gateway time-?out|unavailable|high demand|at capacity|try again later",
        "We're currently experiencing high demand, which may cause temporary errors.",
        f"{_CODEX_SOURCE}; {_RECORDED}",
    ),
)

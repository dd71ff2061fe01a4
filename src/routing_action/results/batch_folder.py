"""The batch folder `<artifacts-root>/<batch_run_id>/`: every write is atomic, none is lost."""

from __future__ import annotations

from pathlib import Path

from routing_action.files.atomic import unwritable, write_atomically
from routing_action.results.model import Results, UnitResult

RESULTS_FILE = "results.json"
PROOF_FILE = "tool-use-proof.log"
TRANSCRIPTS = "transcripts"
DEFAULT_ARTIFACTS_ROOT = Path("tests/agent-routing/artifacts")
_ANOTHER = "name another folder with --artifacts-root DIR"


class BatchFolder:
    """One batch's folder, made new; two batches never share one."""

    def __init__(self, root: Path, batch_run_id: str) -> None:
        """Create the folder and its transcripts folder under `root`."""
        self.path = (root / batch_run_id).absolute()
        self.transcripts = self.path / TRANSCRIPTS
        try:
            if not root.exists():
                root.mkdir(parents=True)
                (root / ".gitignore").write_text("*\n", encoding="utf-8")
            self.path.mkdir(parents=True)
            self.transcripts.mkdir()
        except OSError as error:
            raise unwritable(self.path, error, _ANOTHER) from None

    @classmethod
    def existing(cls, path: Path) -> BatchFolder:
        """The folder of an earlier batch; what somebody removed from it is made again."""
        folder = cls.__new__(cls)
        folder.path = path.absolute()
        folder.transcripts = folder.path / TRANSCRIPTS
        try:
            folder.transcripts.mkdir(exist_ok=True)
        except OSError as error:
            raise unwritable(folder.path, error, _ANOTHER) from None
        return folder

    @property
    def results_file(self) -> Path:
        """Where results.json stands."""
        return self.path / RESULTS_FILE

    def transcript_files(self, unit_run_id: str) -> tuple[str, str]:
        """The transcripts of a unit's standard output and standard error."""
        place = f"{self.transcripts}/{unit_run_id}"
        return f"{place}.stdout", f"{place}.stderr"

    def write_results(self, results: Results, *copies: Path) -> None:
        """Write results.json, and the same text to each further path."""
        text = render_results(results)
        for path in (self.results_file, *copies):
            write_atomically(path, text)

    def write_proof_log(self, results: Results, *copies: Path) -> None:
        """Write the proof log, and the same text to each further path."""
        text = render_proof_log(results)
        for path in (self.path / PROOF_FILE, *copies):
            write_atomically(path, text)


def render_results(results: Results) -> str:
    """The text of results.json: two-space indent, keys in the model's order."""
    return results.model_dump_json(indent=2, by_alias=True) + "\n"


def render_proof_log(results: Results) -> str:
    """The proof log: for each unit one header line, then each token with tier and proof."""
    blocks = [f"batch {results.batch_run_id} generated {results.generated_at_utc}\n"]
    blocks += [_proof_block(row) for row in results.results]
    return "\n".join(blocks)


def _proof_block(row: UnitResult) -> str:
    reason = f" kind={row.failure_kind}" if row.failure_kind else ""
    head = (
        f"[unit:{row.unit_run_id}] {row.agent}:{row.case_id} trial={row.trial} "
        f"status={row.status.value} outcome={row.outcome.value}{reason}"
    )
    lines = [head]
    for token, hit in row.token_hits.items():
        if hit is None:
            lines.append(f"  {token}: no hit")
        else:
            place = f"tier {hit.tier} score {hit.best_score} {hit.source_kind.value}"
            lines.append(f"  {token}: {place} ({hit.source_detail})")
            lines.append(f"    {one_line(hit.proof_line)}")
    return "\n".join(lines) + "\n"


def one_line(text: str) -> str:
    """Text with its control characters escaped, so that it stays on one line of a log."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

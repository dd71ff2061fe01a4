"""The pure rules: cases, evidence, verdicts and results; no I/O, clock or environment."""

"""Run prompts against agent CLIs and prove which skill each of them loaded."""

__version__ = "0.1.0"

"""What holds for every test: a slow machine is no reason to fail."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("gate", deadline=None)
settings.load_profile("gate")

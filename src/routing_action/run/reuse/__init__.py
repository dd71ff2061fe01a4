"""Pairs that need no run, since the default branch measured the same."""

"""Recordings in place of agents."""

"""Agents described as data: ours, one TOML file each, and those of a user's routing.toml."""

"""Keeps deliveries on disk until they are handled: in a file, or in a shared database."""

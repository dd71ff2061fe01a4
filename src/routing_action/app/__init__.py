"""Use cases, one a file: what is to be done, decided from plain arguments."""

"""The folder and the home that a unit sees."""

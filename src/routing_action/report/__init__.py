"""Views of results for people and for machines; a view never changes a verdict."""

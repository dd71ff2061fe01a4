"""A stand-in for GitHub's REST API with state, held to GitHub's own description both ways."""

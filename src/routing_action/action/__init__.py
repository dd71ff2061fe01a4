"""The stages of the composite action."""

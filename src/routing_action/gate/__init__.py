"""The gate: baselines, comparison, verdict."""

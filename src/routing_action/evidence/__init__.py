"""What counts as proof: transcripts, tiers, evidence, verdicts; pure."""

"""Files: strict JSON with places, atomic writes, redaction, removal."""

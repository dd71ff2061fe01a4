"""The reporting bot: commands in comments, who may give them, and what they do."""

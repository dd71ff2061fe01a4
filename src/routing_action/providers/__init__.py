"""The agent CLIs: one file a provider, each a record of data and a reader of its output."""

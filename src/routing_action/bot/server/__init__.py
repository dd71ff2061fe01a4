"""The bot as a service: takes deliveries of webhooks, keeps them, and handles each."""

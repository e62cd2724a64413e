"""The transcript: a conversation as a page that stays instant at any length."""

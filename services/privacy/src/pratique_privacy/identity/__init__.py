"""Identity: callers whom an identity provider names, by the tokens that it signs."""

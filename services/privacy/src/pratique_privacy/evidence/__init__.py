"""Evidence: what shows to others that a release is what was measured."""

"""The report of a release for people: one page that loads nothing."""

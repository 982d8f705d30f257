"""The REST API: one router a resource, one table of permissions, one shape of refusal."""

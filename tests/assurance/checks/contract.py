"""Contract: requests made up from the OpenAPI document, and every answer held against it."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx

from tests.assurance.figures import Figure, Profile, none, some
from tests.conformance.made_up import SCHEMA, SEED, STATUS, made_up
from tests.conformance.served import served

PHASES = {Profile.CI: "examples,fuzzing", Profile.FULL: "examples,coverage,fuzzing,stateful"}
EXAMPLES = {Profile.CI: 3, Profile.FULL: 25}  # of an operation and phase; CONTRACT=n for another number
TIMEOUT = 3500


def contract(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Run the contract tester over the furnished service, in `full` all of its phases."""
    examples = os.environ.get("CONTRACT", EXAMPLES[profile])
    with served(folder) as service:
        document = httpx.get(f"{service.url}/openapi.json", trust_env=False, timeout=60).json()
        operations = sum(len(methods) for methods in document["paths"].values())
        arguments = (
            f"--phases={PHASES[profile]}",
            f"--max-examples={examples}",
            f"--seed={SEED}",
            "--generation-database=none",
        )
        found = made_up(service, folder, *arguments, timeout=TIMEOUT)
        answered = list(service.answered)
    if found.code:
        print(found.said[-20_000:], flush=True)
    yield some("operations tested", found.tested, operations)
    yield some("requests made up", found.cases, operations)
    yield some("answers", len(answered), operations)
    yield none("answers of 5xx", sum(status >= 500 for status in answered))
    yield none("answers of an undocumented status", found.failures(*STATUS))
    yield none("answers against their schema", found.failures(*SCHEMA))
    yield none("failures of any kind", found.failures())
    yield none("exit code of the tester", found.code)

"""The ingest worker: `python -m pratique_ingest`."""

import asyncio

from pratique_ingest.jobs import CHILD, Ingest
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.queues import serve
from pratique_shared.runtime.settings import Settings, read_environment
from pratique_shared.runtime.telemetry import log_as_json


class IngestSettings(Settings):
    """What the ingest worker reads: the captures room and its key, and how many captures it takes at once."""

    ingest_processes: int = 1


async def work(settings: IngestSettings) -> None:
    """Serve the ingest queue until SIGTERM."""
    room = settings.room("captures")
    children = Children("pratique_ingest.capture_child:profile_in_child", CHILD, settings.ingest_processes)
    try:
        await children.ready()
        await serve(
            settings.redis_url,
            "ingest",
            lambda bell: Ingest(room, children, bell).handle,
            jobs=settings.ingest_processes,
        )
    finally:
        children.close()


def main() -> None:
    """Read the environment and serve."""
    settings = read_environment(IngestSettings)
    log_as_json(settings.log_level)
    asyncio.run(work(settings))

"""The ingest worker: `python -m pratique_ingest`."""

import asyncio
from importlib.metadata import version
from pathlib import Path

from pratique_ingest.jobs import CHILD, Ingest
from pratique_ingest.plan import LARGEST, NO_PLAN, BadPlan, Plan, read_plan
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.meters import BUILD, serve_meters
from pratique_shared.runtime.queues import serve
from pratique_shared.runtime.settings import Settings, read_environment
from pratique_shared.runtime.telemetry import log_as_json
from pratique_shared.runtime.traces import traced


class IngestSettings(Settings):
    """What the ingest worker reads: the captures room and its key, how many captures it takes at once, and the plan."""

    ingest_processes: int = 1
    network_plan: str = ""

    def plan(self) -> Plan:
        """Read the network plan; a bad one stops the worker, which would profile captures wrongly without it."""
        if not self.network_plan:
            return NO_PLAN
        told = f"PRATIQUE_NETWORK_PLAN={self.network_plan}"
        try:
            with Path(self.network_plan).open(encoding="utf-8") as file:
                return read_plan(file.read(LARGEST + 1))
        except OSError as error:
            raise SystemExit(f"{told}: the file cannot be read ({error.strerror}): name one, or unset it") from None
        except UnicodeDecodeError:
            raise SystemExit(f"{told}: the file is not UTF-8 text") from None
        except BadPlan as bad:
            raise SystemExit(f"{told}: {bad.advice}") from None


async def work(settings: IngestSettings) -> None:
    """Serve the ingest queue until SIGTERM."""
    room, plan = settings.room("captures"), settings.plan()
    children = Children("pratique_ingest.capture_child:profile_in_child", CHILD, settings.ingest_processes)
    try:
        await children.ready()
        await serve(
            settings.redis_url,
            "ingest",
            lambda bell: Ingest(room, children, bell, plan).handle,
            jobs=settings.ingest_processes,
            alive=settings.alive_file,
        )
    finally:
        children.close()


def main() -> None:
    """Read the environment and serve."""
    settings = read_environment(IngestSettings)
    log_as_json(settings.log_level)
    BUILD.info({"service": "ingest", "version": version("pratique-ingest")})
    serve_meters(settings.metrics_host, settings.metrics_port)
    with traced("pratique-ingest", version("pratique-ingest")):
        asyncio.run(work(settings))

"""The attack worker: `python -m pratique_attack_sim`."""

import asyncio
from importlib.metadata import version

from pratique_attack_sim.jobs import CHILD, AttackSim
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.meters import BUILD, serve_meters
from pratique_shared.runtime.queues import serve
from pratique_shared.runtime.settings import Settings, read_environment
from pratique_shared.runtime.telemetry import log_as_json
from pratique_shared.runtime.traces import traced


class AttackSettings(Settings):
    """What an attack worker reads: two rooms with their keys, and how many shards it runs at once."""

    attack_processes: int = 1


async def work(settings: AttackSettings) -> None:
    """Serve the attack queue until SIGTERM."""
    matrices, scores = settings.room("matrices"), settings.room("scores")
    children = Children("pratique_attack_sim.shard_child:score_in_child", CHILD, settings.attack_processes)
    try:
        await children.ready()
        await serve(
            settings.redis_url,
            "attack",
            lambda bell: AttackSim(matrices, scores, children, bell).handle,
            jobs=settings.attack_processes,
            alive=settings.alive_file,
        )
    finally:
        children.close()


def main() -> None:
    """Read the environment and serve."""
    settings = read_environment(AttackSettings)
    log_as_json(settings.log_level)
    BUILD.info({"service": "attack-sim", "version": version("pratique-attack-sim")})
    serve_meters(settings.metrics_host, settings.metrics_port)
    with traced("pratique-attack-sim", version("pratique-attack-sim")):
        asyncio.run(work(settings))

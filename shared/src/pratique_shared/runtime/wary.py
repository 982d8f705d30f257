"""A wary worker: drops what stands in its queue and is no message of ours, before arq makes anything of it.

Whoever may write to a queue could otherwise end its worker, again and again: arq trusts the shape of what it reads.
"""

import json
import logging
import re
from typing import Any, Final

from arq.constants import in_progress_key_prefix, job_key_prefix, retry_key_prefix
from arq.worker import Worker
from redis.exceptions import ResponseError

from pratique_shared.runtime.meters import DROPPED

MOST_BYTES: Final = 4096  # of a job; a message of ours has less than a quarter of that
_JOB_ID: Final = re.compile(rb"[0-9a-f]{24}")
_MOST_MOMENT: Final = 1 << 43  # milliseconds since 1970, in the year 2248

_log = logging.getLogger("pratique.queues")


def read_job(raw: bytes) -> dict[str, Any]:
    """Read a job as `Doorbell` writes it: the function `work` and one JSON object. Raises ValueError for others."""
    if len(raw) > MOST_BYTES:
        raise ValueError("is too long")
    job: dict[str, Any] = json.loads(raw)
    match job:
        case {"f": "work", "a": [dict()], "k": {} as named, "t": None, "et": int() as moment} if (
            not named and not isinstance(moment, bool) and 0 < moment < _MOST_MOMENT
        ):
            return job
        case _:
            raise ValueError("is no job of ours")


class WaryWorker(Worker):
    """An arq worker that outlives whatever stands in its queue."""

    async def start_jobs(self, job_ids: list[bytes]) -> None:
        """Start jobs; entries that are none of ours leave the queue."""
        strange = [job for job in job_ids if not _JOB_ID.fullmatch(job)]
        if strange:
            await self.pool.zrem(self.queue_name, *strange)
            self.dropped(len(strange))
        await super().start_jobs([job for job in job_ids if _JOB_ID.fullmatch(job)])

    async def run_job(self, job_id: str, score: int) -> None:
        """Run a job whose text is ours; drop any other."""
        try:
            raw = await self.pool.get(job_key_prefix + job_id)
            if raw is not None:  # gone: arq takes it out of the queue itself
                read_job(raw)
            await super().run_job(job_id, score)
        except (ValueError, RecursionError):
            await self._drop(job_id)
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            await self._drop(job_id)

    async def _drop(self, job_id: str) -> None:
        keys = [prefix + job_id for prefix in (job_key_prefix, in_progress_key_prefix, retry_key_prefix)]
        await self.pool.zrem(self.queue_name, job_id)
        await self.pool.delete(*keys)
        self.dropped(1)

    def dropped(self, count: int) -> None:
        """Count what was dropped, and say so without a word of it."""
        DROPPED.labels(self.queue_name.rpartition(":")[2]).inc(count)
        _log.warning("a message that is none of ours was dropped")

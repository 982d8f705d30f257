"""A fake Information Coordinator Service: what its OpenAPI document and its behaviour say, in memory and without Java.

Types and jobs outlive a restart, producers do not. A job is posted to its producers before it is kept, and again when
a producer registers or is well again. A DELETE is sent once, whatever becomes of it. Three failed supervisions in a row
deregister a producer.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import jsonschema_rs
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

Json = dict[str, Any]
STRIKES = 3


def refusal(status: int, detail: str) -> Response:
    body = {"status": status, "title": "No", "detail": detail}
    return JSONResponse(body, status, media_type="application/problem+json")


@dataclass
class FakeIcs:
    """The coordinator. `out` reaches the producers; `doubled` posts every job twice, `lossy` loses every DELETE."""

    out: httpx.AsyncClient
    token: str | None = None
    doubled: bool = False
    lossy: bool = False
    types: dict[str, Json] = field(default_factory=dict)
    producers: dict[str, Json] = field(default_factory=dict)
    jobs: dict[str, Json] = field(default_factory=dict)
    strikes: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    app: FastAPI = field(default_factory=FastAPI)

    def __post_init__(self) -> None:
        producer, consumer = "/data-producer/v1", "/data-consumer/v1"
        add = self.app.add_api_route
        add(producer + "/info-types/{kind}", self.put_type, methods=["PUT"], response_model=None)
        add(producer + "/info-types/{kind}", self.delete_type, methods=["DELETE"], response_model=None)
        add(producer + "/info-producers/{name}", self.put_producer, methods=["PUT"], response_model=None)
        add(producer + "/info-producers/{name}", self.get_producer, methods=["GET"], response_model=None)
        add(producer + "/info-producers/{name}", self.delete_producer, methods=["DELETE"], response_model=None)
        add(producer + "/info-producers/{name}/status", self.get_status, methods=["GET"], response_model=None)
        add(producer + "/info-producers/{name}/info-jobs", self.get_jobs, methods=["GET"], response_model=None)
        add(consumer + "/info-types/{kind}", self.get_type, methods=["GET"], response_model=None)
        add(consumer + "/info-jobs/{job}", self.put_job, methods=["PUT"], response_model=None)
        add(consumer + "/info-jobs/{job}", self.delete_job, methods=["DELETE"], response_model=None)

    def transport(self) -> httpx.AsyncBaseTransport:
        return httpx.ASGITransport(self.app)

    def restart(self) -> None:
        """Producers are kept in memory only."""
        self.producers.clear()
        self.strikes.clear()

    async def supervise(self) -> None:
        """One round of supervision, which the real one holds every five minutes."""
        for name, producer in list(self.producers.items()):
            well = await self._call("GET", producer["info_producer_supervision_callback_url"])
            if not well:
                self.strikes[name] = self.strikes.get(name, 0) + 1
                if self.strikes[name] >= STRIKES:
                    del self.producers[name], self.strikes[name]
            elif self.strikes.pop(name, 0):
                await self._post_all(producer)

    # The producer's side

    async def put_type(self, kind: str, request: Request) -> Response:
        self.asked.append(f"PUT type {kind}")
        body = await request.json()
        if not isinstance(body.get("info_job_data_schema"), dict):
            return refusal(400, "no schema")
        jsonschema_rs.meta.validate(body["info_job_data_schema"])
        known = kind in self.types
        self.types[kind] = body
        return Response(status_code=200 if known else 201)

    async def delete_type(self, kind: str) -> Response:
        if any(kind in producer["supported_info_types"] for producer in self.producers.values()):
            return refusal(409, "the type has a producer")
        self.types.pop(kind, None)
        self.jobs = {name: job for name, job in self.jobs.items() if job["info_type_identity"] != kind}
        return Response(status_code=204)

    async def put_producer(self, name: str, request: Request) -> Response:
        self.asked.append(f"PUT producer {name}")
        body = await request.json()
        urls = [body.get("info_job_callback_url", ""), body.get("info_producer_supervision_callback_url", "")]
        if not all(urlsplit(url).scheme and urlsplit(url).netloc for url in urls):
            return refusal(400, "a callback is no absolute URL")
        if not set(body["supported_info_types"]) <= set(self.types):
            return refusal(404, "a type is unknown")
        known = name in self.producers
        self.producers[name] = body
        await self._post_all(body)
        return Response(status_code=200 if known else 201)

    async def get_producer(self, name: str) -> Response:
        found = self.producers.get(name)
        return refusal(404, "no such producer") if found is None else JSONResponse(found)

    async def delete_producer(self, name: str) -> Response:
        return Response(status_code=204) if self.producers.pop(name, None) else refusal(404, "no such producer")

    async def get_status(self, name: str) -> Response:
        if name not in self.producers:
            return refusal(404, "no such producer")
        return JSONResponse({"operational_state": "DISABLED" if self.strikes.get(name) else "ENABLED"})

    async def get_jobs(self, name: str) -> Response:
        producer = self.producers.get(name)
        if producer is None:
            return refusal(404, "no such producer")
        kinds = producer["supported_info_types"]
        return JSONResponse([job for job in self.jobs.values() if job["info_type_identity"] in kinds])

    # The consumer's side

    async def get_type(self, kind: str) -> Response:
        found = self.types.get(kind)
        if found is None:
            return refusal(404, "no such type")
        producers = [one for one in self.producers.values() if kind in one["supported_info_types"]]
        body = {"job_data_schema": found["info_job_data_schema"], "no_of_producers": len(producers)}
        return JSONResponse({**body, "type_status": "ENABLED" if producers else "DISABLED"})

    async def put_job(self, job: str, request: Request) -> Response:
        body = await request.json()
        kind = self.types.get(body["info_type_id"])
        if kind is None:
            return refusal(404, "no such type")
        schema = kind["info_job_data_schema"]
        if not jsonschema_rs.Draft7Validator(schema).is_valid(body["job_definition"]):
            return refusal(400, "the definition is not as the schema says")
        posted = {
            "info_job_identity": job,
            "info_type_identity": body["info_type_id"],
            "info_job_data": body["job_definition"],
            "target_uri": body["job_result_uri"],
            "owner": body["job_owner"],
            "last_updated": "2026-05-04T12:00:00Z",
        }
        for producer in self._of(posted):
            await self._post(producer, posted)
        known = job in self.jobs
        self.jobs[job] = posted  # only now: while a producer is called, the job is not listed
        if status_url := body.get("status_notification_uri"):
            await self._call("POST", status_url, {"eiJobStatus": "ENABLED" if self._of(posted) else "DISABLED"})
        return Response(status_code=200 if known else 201)

    async def delete_job(self, job: str) -> Response:
        found = self.jobs.pop(job, None)
        if found is None:
            return refusal(404, "no such job")
        for producer in [] if self.lossy else self._of(found):
            await self._call("DELETE", f"{producer['info_job_callback_url']}/{quote(job, safe='')}")
        return Response(status_code=204)

    def _of(self, job: Json) -> list[Json]:
        return [one for one in self.producers.values() if job["info_type_identity"] in one["supported_info_types"]]

    async def _post_all(self, producer: Json) -> None:
        for job in self.jobs.values():
            if job["info_type_identity"] in producer["supported_info_types"]:
                await self._post(producer, job)

    async def _post(self, producer: Json, job: Json) -> None:
        for _ in range(2 if self.doubled else 1):
            await self._call("POST", producer["info_job_callback_url"], job)

    async def _call(self, method: str, url: str, body: Json | None = None) -> bool:
        """Call out once; whether it was answered with success."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            return (await self.out.request(method, url, json=body, headers=headers, timeout=30)).is_success
        except httpx.HTTPError:
            return False


@contextmanager
def coordinator(token: str | None = None) -> Iterator[tuple[FakeIcs, str]]:
    """Serve a fake coordinator on a free port of loopback until the block ends."""
    # Its client lives in the loop of the server's thread and is never closed: it keeps no connection.
    out = httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
    ics = FakeIcs(out, token)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(ics.app, log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield ics, f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)

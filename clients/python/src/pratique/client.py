"""The client: Pratique's public API as Python calls."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from pratique.access import find_access
from pratique.download import MEDIA_TYPES, Download, keep
from pratique.errors import GateFailed, LocalFault, StillRunning, Unreachable
from pratique.transport import Ask, Json, Params, Retry, Transport, json_content
from pratique.upload import Progress, measure
from pratique.waiting import Patience, ended, wait

# A `Prefer: wait` may hold an answer back for 30 s, and a large upload is made durable before it is answered.
TIMEOUTS = httpx.Timeout(connect=5.0, read=75.0, write=75.0, pool=5.0)
PAGE = 500
DATASET_TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".ndjson": "application/x-ndjson",
    ".jsonl": "application/x-ndjson",
}
EVIDENCE = ("certificate", "bundle", "report")
Notice = Callable[[Json], None]


class Client:
    """One tenant's view of a Pratique service.

    Address and key are found as `pratique.access.find_access` says. Each call raises a PratiqueError and nothing else,
    except OSError for files of this machine. Requests that met a busy or restarting service are sent again, with the
    same Idempotency-Key where they create something, so that nothing is made twice.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        key_file: str | Path | None = None,
        retry: Retry | None = None,
        transport: httpx.BaseTransport | None = None,
        environ: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        access = find_access(url, key, key_file, environ)
        self.url = access.url
        self._http = httpx.Client(
            base_url=access.url,
            headers={
                "Authorization": f"Bearer {access.key}",
                "Accept": "application/json",
                "User-Agent": f"pratique-python/{version('pratique')}",
            },
            timeout=TIMEOUTS,
            transport=transport,
            # What is meant for this machine, the key above all, is not handed to a proxy of the environment.
            trust_env=not access.loopback,
        )
        self._sleep = sleep
        self._transport = Transport(self._http, retry or Retry(), sleep)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # Captures and datasets

    def push_capture(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        pilot: str | None = None,
        open_to: str | list[str] | None = None,
        max_packets: int | None = None,
        progress: Progress | None = None,
    ) -> Json:
        """Send a pcap or pcapng file (gzip and zstd too) and return `{id, sha256, bytes, status}`.

        The same bytes, pilot and `max_packets` (frames that are profiled, from the first on) give the same id again.
        `open_to` names the recipients who may ask for releases of it.
        """
        said = {"name": name, "pilot": pilot, "open_to": open_to, "max_packets": max_packets}
        return self._push("/captures", path, "application/octet-stream", said, progress)

    def push_dataset(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        pilot: str | None = None,
        open_to: str | list[str] | None = None,
        progress: Progress | None = None,
    ) -> Json:
        """Send a table, whose kind is told by the name's ending, and return `{id, rows, columns}`.

        `.csv`, `.ndjson`, `.jsonl`, or `.json` with `{"rows": [..]}`; any other: LocalFault.
        """
        ending = Path(path).suffix.lower()
        if ending not in DATASET_TYPES:
            raise LocalFault("unknown-table", f"{path} ends in none of {', '.join(DATASET_TYPES)}.")
        said = {"name": name, "pilot": pilot, "open_to": open_to}
        return self._push("/datasets", path, DATASET_TYPES[ending], said, progress)

    def capture(self, capture: str) -> Json:
        """Return the state of a capture."""
        return self._get(f"/captures/{segment(capture)}")

    def captures(self) -> Iterator[Json]:
        """All captures, newest first."""
        return self._pages("/captures")

    def wait_capture(self, capture: str, timeout: float = 600.0, notice: Notice | None = None) -> Json:
        """Return a capture once it is ready; `notice` gets each state seen. Raises RunFailed, StillRunning."""
        return self._wait(lambda: self.capture(capture), timeout, notice)

    def records(self, capture: str, unit: str = "host") -> Iterator[Json]:
        """The records of a capture, of hosts or sessions (operator): raw values, identifiers included."""
        return self._pages(f"/captures/{segment(capture)}/records", {"unit": unit})

    def identifiers(self, capture: str) -> Json:
        """The subscriber identifiers seen in a capture, `{imsi: [{value, packets, hosts}], ..}` (operator)."""
        return self._get(f"/captures/{segment(capture)}/identifiers")

    def dataset(self, dataset: str) -> Json:
        """Return the state of a dataset."""
        return self._get(f"/datasets/{segment(dataset)}")

    def datasets(self) -> Iterator[Json]:
        """All datasets, newest first."""
        return self._pages("/datasets")

    def wait_dataset(self, dataset: str, timeout: float = 600.0, notice: Notice | None = None) -> Json:
        """Return a dataset once it is ready. Raises RunFailed, StillRunning."""
        return self._wait(lambda: self.dataset(dataset), timeout, notice)

    def classify(self, body: Json) -> Json:
        """Suggest a class per column of `{source}`, with the reason."""
        return self._post("/classify", body)

    # Releases

    def create_release(self, body: Json, idempotency_key: str | None = None) -> Json:
        """Ask for a release and return its state at once, queued.

        Without a key of your own each call is a release of its own; with one, asking again gives the same release.
        """
        return self._create("/releases", body, idempotency_key)

    def release(self, release: str) -> Json:
        """Return the state of a release."""
        return self._get(f"/releases/{segment(release)}")

    def releases(self) -> Iterator[Json]:
        """All releases, newest first."""
        return self._pages("/releases")

    def wait_release(self, release: str, timeout: float = 600.0, notice: Notice | None = None) -> Json:
        """Return a release once it is completed, whatever its verdict. Raises RunFailed, StillRunning."""
        return self._wait(lambda: self.release(release), timeout, notice)

    def posture(self, release: str) -> Json:
        """Return the posture; of a running release, what is measured so far."""
        return self._get(f"/releases/{segment(release)}/posture")

    def gate(self, release: str) -> Json:
        """Return `{verdict, checks: [{metric, op, bound, value, status}]}`."""
        return self._get(f"/releases/{segment(release)}/gate")

    def require(self, release: str) -> Json:
        """Return the posture of a release that is completed and passes its gate.

        Raises GateFailed for any other verdict, an undecided one included, and StillRunning or RunFailed without one.
        """
        posture = self.posture(release)
        if ended({"id": release, **posture}).get("status") != "completed":
            raise StillRunning("still-running", f"{release} is not finished: its gate is not decided yet.")
        if posture.get("verdict") != "pass":
            verdict = posture.get("verdict") or "indeterminate"
            raise GateFailed(release, verdict, (posture.get("gate") or {}).get("checks") or [])
        return posture

    def download_records(
        self,
        release: str,
        path: str | Path,
        format: str = "parquet",  # noqa: A002 - the API's own word for it
        progress: Progress | None = None,
    ) -> Download:
        """Write the released records to `path`: parquet, arrow, csv or ndjson.

        The file appears only when it is whole and has the announced SHA-256. Raises Refused with the code
        `gate-failed` when the release did not pass, DigestMismatch when the bytes are not those announced.
        """
        if format not in MEDIA_TYPES:
            raise LocalFault("unknown-format", f"{format} is none of {', '.join(MEDIA_TYPES)}.")
        # The announced digest is that of the bytes as they travel (RFC 9530): they must travel uncompressed.
        headers = {"Accept": MEDIA_TYPES[format], "Accept-Encoding": "identity"}
        ask = Ask("GET", f"/releases/{segment(release)}/records", {"format": format}, headers)
        return self._transport.perform(ask, lambda response: keep(response, Path(path), progress))

    def download_evidence(
        self, release: str, path: str | Path, part: str = "certificate", progress: Progress | None = None
    ) -> Download:
        """Write the `certificate`, the `bundle` (zip) or the `report` (HTML) of a release to `path`, as its records."""
        if part not in EVIDENCE:
            raise LocalFault("unknown-part", f"{part} is none of {', '.join(EVIDENCE)}.")
        headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
        ask = Ask("GET", f"/releases/{segment(release)}/{part}", {}, headers)
        return self._transport.perform(ask, lambda response: keep(response, Path(path), progress))

    def public_keys(self) -> Json:
        """Return the public keys that certificates are verified with, as a JWKS (RFC 7517)."""
        return self._get("/keys/jwks.json")

    def suggestions(self, release: str) -> list[Json]:
        """Return the changes of policy that would help, `[{rule, reason, patch, predicted}]`."""
        return self._transport.values(Ask("GET", f"/releases/{segment(release)}/suggestions"))

    def cancel(self, release: str) -> Json:
        """Stop a release that is not finished; without effect on one that is."""
        return self._transport.json(Ask("POST", f"/releases/{segment(release)}/cancel"))

    def withdraw(self, release: str) -> None:
        """Take a release back: its records and posture are gone for everybody from then on."""
        self._transport.nothing(Ask("DELETE", f"/releases/{segment(release)}"))

    def preview(self, body: Json) -> Json:
        """Apply source, attributes and policy to at most 10,000 rows; nothing is stored (operator)."""
        return self._post("/preview", body)

    # Studies

    def create_attack(self, release: str, body: Json, idempotency_key: str | None = None) -> Json:
        """Try adversaries with other parameters on a release; they never alter its posture, gate or files."""
        return self._create(f"/releases/{segment(release)}/attacks", body, idempotency_key)

    def wait_attack(self, release: str, attack: str, timeout: float = 600.0, notice: Notice | None = None) -> Json:
        """Return further adversaries with `attacks` as in a posture. Raises RunFailed, StillRunning."""
        path = f"/releases/{segment(release)}/attacks/{segment(attack)}"
        return self._wait(lambda: self._get(path), timeout, notice)

    def create_sweep(self, body: Json, idempotency_key: str | None = None) -> Json:
        """Measure `{sources, configurations}`: every source under every configuration; nothing is published."""
        return self._create("/sweeps", body, idempotency_key)

    def sweep(self, sweep: str) -> Json:
        """Return a sweep: its state, and once completed its averages, correlations, findings and releases."""
        return self._get(f"/sweeps/{segment(sweep)}")

    def sweeps(self) -> Iterator[Json]:
        """All sweeps, newest first, without their answers."""
        return self._pages("/sweeps")

    def wait_sweep(self, sweep: str, timeout: float = 3600.0, notice: Notice | None = None) -> Json:
        """Return a sweep once it is completed. Raises RunFailed, StillRunning."""
        return self._wait(lambda: self.sweep(sweep), timeout, notice)

    def cancel_sweep(self, sweep: str) -> Json:
        """Stop a sweep and its releases."""
        return self._transport.json(Ask("POST", f"/sweeps/{segment(sweep)}/cancel"))

    def create_utility(self, body: Json, idempotency_key: str | None = None) -> Json:
        """Measure what a classifier of `{sources, label, features}` still learns after suppression."""
        return self._create("/utility", body, idempotency_key)

    def utility(self, utility: str) -> Json:
        """Return a utility study: its state, and once completed its `rows`, one a threshold."""
        return self._get(f"/utility/{segment(utility)}")

    def wait_utility(self, utility: str, timeout: float = 3600.0, notice: Notice | None = None) -> Json:
        """Return a utility study once it is completed. Raises RunFailed, StillRunning."""
        return self._wait(lambda: self.utility(utility), timeout, notice)

    def create_recommendation(self, body: Json, idempotency_key: str | None = None) -> Json:
        """Ask which policy passes the gate of `{source, attributes, gate}` at the least loss."""
        return self._create("/recommendations", body, idempotency_key)

    def recommendation(self, recommendation: str) -> Json:
        """Return a recommendation: its state, and once completed `recommended` and the `front`."""
        return self._get(f"/recommendations/{segment(recommendation)}")

    def wait_recommendation(self, recommendation: str, timeout: float = 1800.0, notice: Notice | None = None) -> Json:
        """Return a recommendation once it is completed. Raises RunFailed, StillRunning."""
        return self._wait(lambda: self.recommendation(recommendation), timeout, notice)

    # Policies

    def generalise(self, body: Json) -> list[Json]:
        """Return profiles generalised optimally, in the order profile, gamma."""
        found: list[Json] = self._post("/profiles/generalise", body)["results"]
        return found

    def policies(self) -> Iterator[Json]:
        """All policies, the built-in ones included."""
        return self._pages("/policies")

    def policy(self, name: str) -> Json:
        """Return a policy by its name."""
        return self._get(f"/policies/{segment(name)}")

    def put_policy(self, name: str, body: Json) -> Json:
        """Store `{steps, attributes?, gate?, attacks?, ppi?}` as the next version of a policy."""
        headers = {"Content-Type": "application/json"}
        return self._transport.json(Ask("PUT", f"/policies/{segment(name)}", {}, headers, json_content(body)))

    # Webhooks

    def create_webhook(self, body: Json, idempotency_key: str | None = None) -> Json:
        """Let `{url, events?, recipient?, name?}` hear of what happens; `secret` in the answer is shown this once."""
        return self._create("/webhooks", body, idempotency_key)

    def webhooks(self) -> Iterator[Json]:
        """All webhooks, newest first."""
        return self._pages("/webhooks")

    def delete_webhook(self, webhook: str) -> None:
        """Delete a webhook; what is still owed to it is dropped."""
        self._transport.nothing(Ask("DELETE", f"/webhooks/{segment(webhook)}"))

    def deliveries(self, webhook: str) -> Iterator[Json]:
        """What a webhook was sent, newest first, with every try."""
        return self._pages(f"/webhooks/{segment(webhook)}/deliveries")

    def redeliver(self, webhook: str, delivery: str) -> Json:
        """Send a delivery once more, at once."""
        return self._transport.json(
            Ask("POST", f"/webhooks/{segment(webhook)}/deliveries/{segment(delivery)}/redeliver")
        )

    def _get(self, path: str) -> Json:
        return self._transport.json(Ask("GET", path))

    def _post(self, path: str, body: Json, headers: Mapping[str, str] | None = None) -> Json:
        sent = {"Content-Type": "application/json", **(headers or {})}
        return self._transport.json(Ask("POST", path, {}, sent, json_content(body)))

    def _create(self, path: str, body: Json, idempotency_key: str | None) -> Json:
        return self._post(path, body, {"Idempotency-Key": idempotency_key or uuid.uuid4().hex})

    def _pages(self, path: str, params: Params | None = None) -> Iterator[Json]:
        after: str | None = None
        seen: set[str] = set()
        while True:
            page = self._transport.json(Ask("GET", path, {**(params or {}), "limit": PAGE, "after": after}))
            yield from page.get("data", [])
            after = page.get("next")
            if not after:
                return
            if after in seen:
                raise Unreachable("not-pratique", "The pages of a list go round in a circle.")
            seen.add(after)

    def _push(
        self,
        path: str,
        file: str | Path,
        media_type: str,
        params: dict[str, Any],
        progress: Progress | None,
    ) -> Json:
        upload = measure(file)
        headers = {"Content-Type": media_type, "Idempotency-Key": uuid.uuid4().hex, **upload.headers}
        return self._transport.json(Ask("POST", path, params, headers, lambda: upload.pieces(progress)))

    def _wait(self, look: Callable[[], Json], timeout: float, notice: Notice | None) -> Json:
        return wait(look, Patience(seconds=timeout), notice, self._sleep)


def segment(value: str) -> str:
    """Quote an id or a name as one step of a path; raises LocalFault for one that would lead elsewhere."""
    if not value or set(value) <= {"."}:
        raise LocalFault("bad-id", "An id or a name is empty or consists of dots.")
    return quote(value, safe="")

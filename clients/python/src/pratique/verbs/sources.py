"""Captures and datasets: what is sent to be released."""

from pathlib import Path

from pratique.errors import LocalFault
from pratique.exchange import Json, Params
from pratique.plan import Plan
from pratique.upload import Progress
from pratique.verb import Listing, Verb
from pratique.verbs.requests import delete, get, post, push, segment
from pratique.waiting import Notice, Patience, wait

DATASET_TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".ndjson": "application/x-ndjson",
    ".jsonl": "application/x-ndjson",
}


class Sources:
    """The verbs of captures and datasets."""

    @Verb
    def push_capture(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        pilot: str | None = None,
        open_to: str | list[str] | None = None,
        max_packets: int | None = None,
        progress: Progress | None = None,
    ) -> Plan[Json]:
        """Send a pcap or pcapng file (gzip and zstd too) and return `{id, sha256, bytes, status}`.

        The same bytes, pilot and `max_packets` (frames that are profiled, from the first on) give the same id again.
        `open_to` names the recipients who may ask for releases of it.
        """
        said = {"name": name, "pilot": pilot, "open_to": open_to, "max_packets": max_packets}
        return push("/captures", path, "application/octet-stream", said, progress)

    @Verb
    def push_dataset(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        pilot: str | None = None,
        open_to: str | list[str] | None = None,
        progress: Progress | None = None,
    ) -> Plan[Json]:
        """Send a table, whose kind is told by the name's ending, and return `{id, rows, columns}`.

        `.csv`, `.ndjson`, `.jsonl`, or `.json` with `{"rows": [..]}`; any other: LocalFault.
        """
        ending = Path(path).suffix.lower()
        if ending not in DATASET_TYPES:
            raise LocalFault("unknown-table", f"{path} ends in none of {', '.join(DATASET_TYPES)}.")
        said = {"name": name, "pilot": pilot, "open_to": open_to}
        return push("/datasets", path, DATASET_TYPES[ending], said, progress)

    @Verb
    def capture(self, capture: str) -> Plan[Json]:
        """Return the state of a capture."""
        return get(f"/captures/{segment(capture)}")

    @Listing
    def captures(self) -> tuple[str, Params]:
        """All captures, newest first."""
        return "/captures", {}

    @Verb
    def wait_capture(self, capture: str, timeout: float = 600.0, notice: Notice | None = None) -> Plan[Json]:
        """Return a capture once it is ready; `notice` gets each state seen. Raises RunFailed, StillRunning."""
        return wait(lambda: get(f"/captures/{segment(capture)}"), Patience(timeout), notice)

    @Listing
    def records(self, capture: str, unit: str = "host") -> tuple[str, Params]:
        """The records of a capture, of hosts or sessions (operator): raw values, identifiers included."""
        return f"/captures/{segment(capture)}/records", {"unit": unit}

    @Verb
    def identifiers(self, capture: str) -> Plan[Json]:
        """The subscriber identifiers seen in a capture, `{imsi: [{value, packets, hosts}], ..}` (operator)."""
        return get(f"/captures/{segment(capture)}/identifiers")

    @Verb
    def delete_capture(self, capture: str) -> Plan[None]:
        """Delete the raw bytes and records of a capture; releases made of it stay."""
        return delete(f"/captures/{segment(capture)}")

    @Verb
    def dataset(self, dataset: str) -> Plan[Json]:
        """Return the state of a dataset."""
        return get(f"/datasets/{segment(dataset)}")

    @Listing
    def datasets(self) -> tuple[str, Params]:
        """All datasets, newest first."""
        return "/datasets", {}

    @Verb
    def wait_dataset(self, dataset: str, timeout: float = 600.0, notice: Notice | None = None) -> Plan[Json]:
        """Return a dataset once it is ready. Raises RunFailed, StillRunning."""
        return wait(lambda: get(f"/datasets/{segment(dataset)}"), Patience(timeout), notice)

    @Verb
    def delete_dataset(self, dataset: str) -> Plan[None]:
        """Delete a dataset; releases made of it stay."""
        return delete(f"/datasets/{segment(dataset)}")

    @Verb
    def classify(self, body: Json) -> Plan[Json]:
        """Suggest a class per column of `{source}`, with the reason."""
        return post("/classify", body)

    @Verb
    def preview(self, body: Json) -> Plan[Json]:
        """Apply source, attributes and policy to at most 10,000 rows; nothing is stored (operator)."""
        return post("/preview", body)

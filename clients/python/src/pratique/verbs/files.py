"""Files of a release: records and evidence, held against their digests, received once and kept by digest."""

from pathlib import Path
from typing import Protocol

from pratique.cache import Cache, cache_folder, cached
from pratique.download import MEDIA_TYPES, Download, Receiving
from pratique.errors import LocalFault
from pratique.exchange import Ask, Json
from pratique.plan import Plan, call
from pratique.upload import Progress
from pratique.verb import Verb
from pratique.verbs.requests import get, segment

EVIDENCE = ("certificate", "bundle", "report")


class Placed(Protocol):
    """A client that knows where the service is."""

    url: str


class Files:
    """The verbs of released files."""

    @Verb
    def download_records(
        self,
        release: str,
        path: str | Path,
        format: str = "parquet",  # noqa: A002 - the API's own word for it
        progress: Progress | None = None,
        expect: str | None = None,
    ) -> Plan[Download]:
        """Write the released records to `path`: parquet, arrow, csv or ndjson.

        The file appears only when it is whole and has the announced SHA-256, which is to be `expect` where that is
        given (such as `Clearance.files["csv"]`). Raises Refused with the code `gate-failed` when the release did not
        pass, DigestMismatch when the bytes are not those announced.
        """
        return received(Receiving(records_ask(release, format), Path(path), progress, expect=expect))

    @Verb
    def cached_records(
        self: Placed,
        release: str,
        format: str = "parquet",  # noqa: A002 - the API's own word for it
        *,
        folder: str | Path | None = None,
        progress: Progress | None = None,
        expect: str | None = None,
    ) -> Plan[Download]:
        """Return the released records in the cache, received only where they are not there yet.

        Every call asks the service whether this key may have them and whether they are still the ones; a copy whose
        bytes were altered is received anew, one that was withdrawn is removed. The file is named by its digest, in
        `folder` (`PRATIQUE_CACHE`, else the platform's folder for caches): read it, and do not write to it.
        """
        cache = Cache(Path(folder) if folder is not None else cache_folder())
        return cached(cache, self.url, records_ask(release, format), progress, expect)

    @Verb
    def download_evidence(
        self, release: str, path: str | Path, part: str = "certificate", progress: Progress | None = None
    ) -> Plan[Download]:
        """Write the `certificate`, the `bundle` (zip) or the `report` (HTML) of a release to `path`, as its records."""
        if part not in EVIDENCE:
            raise LocalFault("unknown-part", f"{part} is none of {', '.join(EVIDENCE)}.")
        ask = Ask("GET", f"/releases/{segment(release)}/{part}", {}, {"Accept": "*/*"})
        return received(Receiving(ask, Path(path), progress))

    @Verb
    def public_keys(self) -> Plan[Json]:
        """Return the public keys that certificates are verified with, as a JWKS (RFC 7517)."""
        return get("/keys/jwks.json")


def records_ask(release: str, form: str) -> Ask:
    """Return the request for a file of records; raises LocalFault for a format that there is not."""
    if form not in MEDIA_TYPES:
        raise LocalFault("unknown-format", f"{form} is none of {', '.join(MEDIA_TYPES)}.")
    return Ask("GET", f"/releases/{segment(release)}/records", {"format": form}, {"Accept": MEDIA_TYPES[form]})


def received(receiving: Receiving) -> Plan[Download]:
    """Receive a file of which there is no copy."""
    download = yield from call(receiving)
    assert download is not None  # nothing was named as known
    return download

"""The complaint: what the shell prints when something went wrong, and what to do about it."""

import json

from pratique.columns import plain
from pratique.errors import PratiqueError, Refused
from pratique.exchange import Json

# What to do, by code first and by status where the code has no entry. A 422 says it itself, field by field.
ADVICE = {
    "no-key": "set PRATIQUE_KEY_FILE or give --key-file; `make run` writes ./.data/admin.key for this machine",
    "bad-key": "take the key as it was shown when it was made, alone in the file",
    "bad-url": "set PRATIQUE_URL or give --url, such as http://127.0.0.1:8080",
    "no-connection": "start the service (`make run`), or name its address with --url or PRATIQUE_URL",
    "timed-out": "try again; a request that was taken is not done twice",
    "cut-off": "try again; a request that was taken is not done twice",
    "not-pratique": "check --url or PRATIQUE_URL: something else answers there",
    "redirected": "give the final address, https included, with --url or PRATIQUE_URL",
    "still-running": "the work goes on: ask again later, or give a longer --timeout",
    "gate-failed": "see `pratique gate ID` for the checks and `pratique suggestions ID` for what would help",
    "digest-mismatch": "download again; if it happens twice, something between here and the service alters the bytes",
    "digest-missing": "download without the proxy in between; it has dropped the Repr-Digest header",
    "no-verifier": "install `cryptography`, or openssl 3.0 or newer",
    "other-key": "get the operator's keys anew (`pratique cert keys`), by a way that you trust",
    "signature-wrong": "do not use it; get the certificate again, and ask the operator if that one fails too",
    "other-file": "do not use the file; download the records of this release again",
    "expired": "ask for a new release; --at holds the certificate against an earlier moment",
    "bad-secret": "take the secret as it was shown when the webhook was made, alone in the file",
    "address-not-allowed": "give an https address, or let the operator open this one with PRATIQUE_WEBHOOK_ALLOW",
    "webhook-disabled": "its receiver answered 410: make a new one with `pratique webhook add`",
    "metric-unknown": "name the figures as a gate does, such as k, t or linkage",
    "profile-empty": "give it a bound, such as `k = 5`",
    "bound-wrong": "write `k = 5`, or a table with min or max under the name of the figure",
    "profile-unreadable": "write TOML or JSON, such as `k = 5`",
    "unknown-table": "convert it to CSV, NDJSON or JSON, and let the name end so",
    "bad-id": "take the id as a list shows it",
    "file-changed": "send the file once nothing writes to it any more",
}
ADVICE_BY_STATUS = {
    401: "the key is unknown, expired or revoked: take another with --key-file or PRATIQUE_KEY_FILE",
    403: "the role of this key may not do that: ask for one with the role that the message names",
    404: "check the id; what belongs to another tenant or recipient looks as if it were not there",
    409: "see the state first: `pratique release show ID`",
    410: "it was withdrawn or deleted; send it again, or ask for a new release",
    413: "send less at once: several captures can be pooled in one release",
    415: "send a pcap or pcapng file, or a table with the right ending",
    429: "wait a little; the client has already waited as long as it may",
    503: "wait until the service is ready: GET /readyz names what is missing",
    507: "free space in the store, or delete captures that are no longer needed",
}


def advice(error: PratiqueError) -> str:
    """Return what to do about an error; empty where the error says it itself."""
    status = error.status if isinstance(error, Refused) else 0
    return ADVICE.get(error.code) or ADVICE_BY_STATUS.get(status, "")


def complaint(error: PratiqueError) -> str:
    """Return an error as text: what happened, where in the body, its code, what to do."""
    lines = [f"pratique: {plain(error.detail)}"]
    facts = [f"code {plain(error.code)}"]
    if isinstance(error, Refused):
        lines += [f"  {plain(each.pointer) or '/'}: {plain(each.detail)}" for each in error.errors]
        facts += [f"status {error.status}", *([f"request {plain(error.request_id)}"] if error.request_id else [])]
    lines.append(f"  ({', '.join(facts)})")
    if what := advice(error):
        lines.append(f"  What to do: {what}.")
    return "\n".join(lines)


def complaint_document(error: PratiqueError) -> str:
    """Return an error as one line of JSON, for --json."""
    document: Json = {"code": error.code, "detail": error.detail}
    if isinstance(error, Refused):
        faults = [{"pointer": each.pointer, "detail": each.detail} for each in error.errors]
        document |= {"status": error.status, "errors": faults, "request_id": error.request_id}
    return json.dumps({"error": document}, ensure_ascii=False)

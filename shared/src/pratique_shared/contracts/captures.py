"""Host and session records: what ingest writes of a capture, column by column."""

from typing import Literal

ColumnKind = Literal["text", "integer", "number", "boolean", "list"]
RecordUnit = Literal["host", "session"]

HOST_COLUMNS: dict[str, ColumnKind] = {
    "ip": "text",
    "role": "text",
    "role_evidence": "text",
    "roles": "list",
    "protocols": "list",
    "protocol_count": "integer",
    "protocol_packets": "text",  # an object of counts, as canonical JSON text once it stands in a table
    "packets": "integer",
    "bytes": "integer",
    "peer_count": "integer",
    "first_seen": "text",
    "last_seen": "text",
    "pilot": "text",
    "inner_addresses": "list",
    "imsi": "list",
    "suci": "list",
    "guti": "list",
    "msisdn": "list",
    "imei": "list",
}

SESSION_COLUMNS: dict[str, ColumnKind] = {
    "subscriber": "text",
    "gnb": "text",
    "amf": "text",
    "sst": "integer",
    "sd": "text",
    "region": "text",
    "window": "text",
    "role": "text",
    "packets": "integer",
    "bytes": "integer",
    "pilot": "text",
}

# What stands for a subscriber in a capture: scanned for in every released file, whatever the policy says.
SUBSCRIBER_COLUMNS = frozenset({"imsi", "suci", "guti", "msisdn", "imei", "subscriber"})

"""Times cut to a minute, an hour, a day, or to the hour of the day."""

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias, assert_never

from pratique_privacy.policy.cells import Reading, Scalar, number_of

TimeUnit: TypeAlias = Literal["minute", "5_minutes", "15_minutes", "hour", "day", "hour_of_day"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"([T ](?P<clock>[0-9]{2}:[0-9]{2}(:[0-9]{2})?)([.,][0-9]{1,9})?(?P<zone>[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def time_reading(unit: TimeUnit) -> Reading:
    """Read a time as ISO 8601 text cut at `unit`, or as its hour of the day, `00` to `23`, with the date dropped.

    ISO text, and seconds since 1970 (a number or its text). A time with an offset is cut in UTC and ends in `Z`; one
    without keeps its own clock. A date alone has no hour: only `day` reads it.
    """

    def reading(value: Scalar) -> str | None:
        try:
            moment = _moment(value, date_alone=unit == "day")
        except (ValueError, OverflowError):
            return None  # the 31st of February, the year 12,000
        return None if moment is None else _label(moment, unit)

    return reading


def _moment(value: Scalar, *, date_alone: bool) -> datetime | None:
    seconds = number_of(value)
    if seconds is not None:
        return _EPOCH + timedelta(seconds=math.floor(seconds))
    found = _ISO.fullmatch(value) if isinstance(value, str) else None
    if found is None or not (found["clock"] or date_alone):
        return None
    moment = datetime.fromisoformat(f"{found['date']}T{found['clock'] or '00:00'}{(found['zone'] or '').upper()}")
    return moment.astimezone(UTC) if moment.tzinfo else moment


def _label(moment: datetime, unit: TimeUnit) -> str:
    match unit:
        case "minute":
            return _text(moment, "minutes")
        case "5_minutes":
            return _text(moment.replace(minute=moment.minute // 5 * 5), "minutes")
        case "15_minutes":
            return _text(moment.replace(minute=moment.minute // 15 * 15), "minutes")
        case "hour":
            return _text(moment, "hours")
        case "day":
            return moment.date().isoformat()
        case "hour_of_day":
            return f"{moment.hour:02}"
        case _:
            assert_never(unit)


def _text(moment: datetime, precision: Literal["minutes", "hours"]) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec=precision) + ("Z" if moment.tzinfo else "")

"""Lanes: where the records of a large buffer begin, found from many places of it at once.

A record says only where the next one begins, so a plain walk costs a Python step a record. Here the buffer is cut into
stretches; in each a plausible record is guessed, and all lanes advance in lock-step, one numpy gather for every lane's
next step. The first lane begins at a true record. A lane that lands exactly where the next one began proves that one
true as well; where it does not, the true walk goes on one record at a time until it meets a guess. So the result never
depends on a guess: bytes made to look like records cost time and nothing else.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
# Where the next record begins, for records that begin at the given places; the same place where none can be.
Step = Callable[[Places], Places]
# Places of plausible records in the first SEARCHED bytes of stretches: the first one's begin, their size, their number.
Guess = Callable[[int, int, int], Places]

# A stretch has some hundred records, so that a lane's guess, which costs as much as a dozen steps, pays.
STRETCH, MAX_LANES = 1 << 14, 1024
# Records of Ethernet begin at least this often; a stretch without a guess is the lane's before it.
SEARCHED = 2048
FEW = 4


def searched(buffer: Bytes, low: int, size: int, count: int) -> npt.NDArray[np.uint8]:
    """Return the bytes at the begin of each stretch, one row each; nothing is copied."""
    return np.ndarray((count, SEARCHED), np.uint8, buffer, low, (size, 1))


def _starts(first: int, end: int, guess: Guess, step: Step) -> Places:
    """Return where lanes begin: the true place, and in each stretch the first guess that leads to another two."""
    size = max(STRETCH, (end - first) // MAX_LANES)
    count = (end - SEARCHED - first - 1) // size
    if count < 1:
        return np.array([first])
    places = guess(first + size, size, count)
    stretch = (places - first) // size
    # The few first guesses of each stretch: those behind them would only be asked by a file made for it.
    turn = np.arange(len(places)) - np.searchsorted(stretch, stretch)
    places, stretch = places[turn < FEW], stretch[turn < FEW]
    following = step(places)
    good = (following > places) & (step(following) > following)
    _, chosen = np.unique(stretch[good], return_index=True)
    return np.concatenate((np.array([first]), places[good][chosen]))


def _advance(starts: Places, end: int, step: Step) -> tuple[list[Places], Places]:
    """Walk all lanes to the begin of the next one or beyond; return the places of each, and where each landed."""
    count = len(starts)
    goals = np.append(starts[1:], end)
    active, at = np.arange(count, dtype=np.uint16), starts
    landed = starts.copy()
    lanes: list[npt.NDArray[np.uint16]] = []
    places: list[Places] = []
    while len(active):
        following = step(at)
        moved = following > at
        lanes.append(active[moved])
        places.append(at[moved])
        landed[active] = following
        going = moved & (following < goals[active])
        active, at = active[going], following[going]
    lane = np.concatenate(lanes)
    order = np.argsort(lane, kind="stable")  # a radix sort, for 16 bits
    borders = np.searchsorted(lane[order], np.arange(1, count, dtype=np.uint16))
    return np.split(np.concatenate(places)[order], borders), landed


def records(first: int, end: int, step: Step, guess: Guess) -> tuple[Places, int]:
    """Return the places of all records from the true one at `first` on, and where the last of them ends.

    The walk ends where `step` stands still: at `end`, or at bytes that only the exact reader can judge.
    """
    if int(step(np.array([first]))[0]) == first:
        return np.empty(0, dtype=np.int64), first
    starts = _starts(first, end, guess, step)
    walked, landed = _advance(starts, end, step)
    lane_at = {int(start): lane for lane, start in enumerate(starts)}
    parts: list[Places] = []
    lane = 0
    while True:
        parts.append(walked[lane])
        at = int(landed[lane])
        if lane + 1 == len(starts) or at < starts[lane + 1]:
            break
        singly: list[int] = []
        while at not in lane_at and (following := int(step(np.array([at]))[0])) > at:
            singly.append(at)
            at = following
        parts.append(np.array(singly, dtype=np.int64))
        if at not in lane_at:
            break
        lane = lane_at[at]
    return np.concatenate(parts), at

"""Mutated captures: damage by a seeded stream, and a limited child that must answer every one of them.

`python -m tests.assurance.mutations --count 100000` prints what was found; `--first N --count 1` repeats one.
"""

import argparse
import asyncio
import io
import os
import signal
import struct
import sys
import time
from collections import Counter
from collections.abc import AsyncIterable, Iterator
from dataclasses import dataclass, field
from types import FrameType

import numpy as np

from pratique_ingest.capture.containers import NotACapture, open_capture
from pratique_ingest.jobs import CHILD
from pratique_ingest.profile import PACE, Pace, Profile, profile_capture
from pratique_shared.runtime.child_process import Call, Reply
from pratique_shared.runtime.children import Child, ChildDied, these
from tests.assurance.corpus import CONTAINERS, LINKS, classic, conversations
from tests.assurance.processes import most_resident

A_CHILD = 1000  # mutations that one child takes
HANG = 2.0  # seconds of the processor for one capture on one path
EXPANDED = 1 << 26
# Values that a length, a count or a flag is most likely to be misread at.
LIES = (0, 1, 2, 3, 4, 7, 8, 0x7F, 0x80, 0xFE, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
SMALL = Pace(700, 1500, 7, 1)  # borders of windows and batches fall everywhere
GNB, UPF = bytes([10, 9, 0, 1]), bytes([10, 9, 0, 2])
Chance = np.random.Generator


class Hang(BaseException):
    """A capture took too long; no decoder may take it for one of its own exceptions."""


def flip(data: bytes, chance: Chance) -> bytes:
    """Turn one to eight bits."""
    changed = bytearray(data)
    for place in chance.integers(len(data) * 8, size=chance.integers(1, 9)).tolist() if data else ():
        changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def cut(data: bytes, chance: Chance) -> bytes:
    """Keep a beginning."""
    return data[: int(chance.integers(len(data) + 1))]


def lie(data: bytes, chance: Chance) -> bytes:
    """Overwrite one to three fields of one, two or four bytes with values at the edge of something."""
    changed = bytearray(data)
    for _ in range(chance.integers(1, 4)):
        size, value = (1, 2, 4)[chance.integers(3)], LIES[chance.integers(len(LIES))]
        place = int(chance.integers(max(1, len(data) - size)))
        written = (value & (1 << 8 * size) - 1).to_bytes(size, "big" if chance.integers(2) else "little")
        changed[place : place + size] = written
    return bytes(changed)


def repeat(data: bytes, chance: Chance) -> bytes:
    """Say a stretch many times over, as nested or listed elements would stand."""
    first, last = sorted(chance.integers(len(data) + 1, size=2).tolist())
    piece = data[first : min(last, first + 64)]
    return data[:first] + piece * int(chance.integers(2, 200)) + data[first:]


def splice(data: bytes, chance: Chance) -> bytes:
    """Put bytes by chance into the middle."""
    place = int(chance.integers(len(data) + 1))
    return data[:place] + chance.bytes(int(chance.integers(1, 64))) + data[place:]


def nest(frame: bytes, chance: Chance) -> bytes:
    """Put headers around the packet of an Ethernet frame: tags, tunnels, extension headers, up to 200 of them."""
    packet, head = frame[14:], frame[:14]
    kind = int(chance.integers(6))
    for _ in range(int(chance.integers(1, 200))):
        if len(packet) > 60_000:
            break
        match kind:
            case 0:  # IP in IP
                packet = _ip(4 if packet[:1] < b"\x60" else 41, packet)
            case 1:  # GTP-U
                packet = _udp(2152, struct.pack(">BBHI", 0x30, 255, len(packet), 1) + packet)
            case 2:  # GRE
                packet = _ip(47, b"\0\0\x08\0" + packet)
            case 3:  # VXLAN
                packet = _udp(4789, bytes(8) + head + packet)
            case 4:  # a tag
                packet, head = head[12:14] + packet, head[:12] + b"\x81\0"
                packet = b"\0\1" + packet
            case _:  # IPv6 destination options
                packet = b"\x60\0\0\0" + struct.pack(">H", len(packet) + 8) + b"\x3c\x40" + bytes(32) + packet
                packet = packet[:40] + b"\x29" + bytes(7) + packet[40:]
                head = head[:12] + b"\x86\xdd"
    return head + packet


def _ip(protocol: int, payload: bytes) -> bytes:
    total = min(20 + len(payload), 65_535)
    return struct.pack(">BBHHHBBH", 0x45, 0, total, 1, 0, 64, protocol, 0) + GNB + UPF + payload


def _udp(port: int, payload: bytes) -> bytes:
    return _ip(17, struct.pack(">HHHH", port, port, min(8 + len(payload), 65_535), 0) + payload)


OF_A_FRAME = (flip, flip, cut, lie, lie, lie, repeat, splice, nest)
OF_A_FILE = (flip, cut, lie, splice)


def mutated(corpus: list[list[bytes]], seed: int, number: int) -> bytes:
    """Return the capture of this number: the same seed and number give the same bytes."""
    chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    frames = list(corpus[chance.integers(len(corpus))])
    for _ in range(chance.integers(1, 5)):
        place = int(chance.integers(len(frames)))
        frames[place] = OF_A_FRAME[chance.integers(len(OF_A_FRAME))](frames[place], chance)
    names = list(CONTAINERS)
    link = LINKS[chance.integers(len(LINKS))] if chance.integers(3) == 0 else 1
    file = CONTAINERS[names[chance.integers(len(names))]](frames, link)
    return OF_A_FILE[chance.integers(len(OF_A_FILE))](file, chance) if chance.integers(3) == 0 else file


def paths(file: bytes) -> Iterator[Profile | None]:
    """Read a capture by the exact path and by the columnar one at two paces; None where it is no capture."""
    signal.signal(signal.SIGPROF, _too_long)
    for pace in (None, PACE, SMALL):
        signal.setitimer(signal.ITIMER_PROF, HANG)
        try:
            yield profile_capture(io.BytesIO(file), pilot="lab", expanded_limit=EXPANDED, pace=pace)
        except NotACapture:
            yield None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def fault(file: bytes) -> tuple[str | None, Profile | None]:
    """Return what is wrong with the answers to a capture, and the exact one."""
    answers: list[Profile | None] = []
    try:
        answers.extend(paths(file))
    except Hang:
        return "hang", None
    except Exception as error:  # noqa: BLE001 - the finding is that there was one
        return f"{type(error).__name__} in {_where(error)}", None
    return ("the paths differ" if any(one != answers[0] for one in answers) else None), answers[0]


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}"


def _too_long(_: int, __: FrameType | None) -> None:
    raise Hang


def take(call: Call) -> Reply:
    """Answer mutated captures. Runs in the child."""
    corpus = [[frame.data for frame in open_capture(io.BytesIO(blob))[1]] for blob in call.blobs()]
    faults: list[tuple[int, str]] = []
    warned: Counter[str] = Counter()
    packets, slowest = 0, 0.0
    for number in range(call.body["first"], call.body["first"] + call.body["count"]):
        file = mutated(corpus, call.body["seed"], number)
        begun = time.process_time()
        wrong, profile = fault(file)
        slowest = max(slowest, (time.process_time() - begun) / 3)
        if wrong:
            faults.append((number, wrong))
        if profile is not None:
            packets += profile.packets
            warned.update(warning.code for warning in profile.warnings)
            broken = [warning for warning in profile.warnings if warning.code == "packet-not-decoded"]
            faults += [(number, f"a decoder broke: {warning.detail.rpartition(': ')[2]}") for warning in broken]
    memory = int(most_resident(os.getpid()))  # `ru_maxrss` would be that of its parent at the start
    return Reply({"faults": faults, "warned": warned, "packets": packets, "slowest": slowest, "memory": memory}, ())


@dataclass
class Findings:
    """What became of all of them: faults by number, seconds of the slowest capture, MiB of the largest child."""

    taken: int = 0
    packets: int = 0
    slowest: float = 0.0
    memory: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)
    warned: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        lines = [f"captures {self.taken}, packets read {self.packets}, faults {len(self.faults)}"]
        lines.append(f"slowest {self.slowest:.3f} s of the processor a path, largest child {self.memory} MiB")
        lines += [f"warned {code}: {count} captures" for code, count in sorted(self.warned.items())]
        lines += [f"fault in {number}: {text}" for number, text in self.faults[:50]]
        return "\n".join(lines)


async def run(first: int, count: int, seed: int, processes: int) -> Findings:
    """Put mutated captures to children with the limits of the product, a thousand each."""
    corpus = [classic(list(one.frames), 1, "<", 0xA1B2C3D4) for one in conversations()]
    starts, findings = iter(range(first, first + count, A_CHILD)), Findings()

    async def worker() -> None:
        for start in starts:
            share = min(A_CHILD, first + count - start)
            await _share(findings, {"first": start, "count": share, "seed": seed}, these(*corpus))

    await asyncio.gather(*(worker() for _ in range(processes)))
    return findings


async def _share(findings: Findings, body: dict[str, int], corpus: AsyncIterable[bytes]) -> None:
    child = Child("tests.assurance.mutations:take", CHILD)
    try:
        told = (await child.call(body, corpus, lambda _: None)).body
    except ChildDied:
        findings.faults.append((body["first"], "the child died"))
        return
    finally:
        child.kill()
    findings.taken += body["count"]
    findings.packets += told["packets"]
    findings.slowest, findings.memory = max(findings.slowest, told["slowest"]), max(findings.memory, told["memory"])
    findings.faults += [(number, text) for number, text in told["faults"]]
    findings.warned.update(told["warned"])


def main() -> int:
    """Run as many as were asked for; 1 where there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("first", 0), ("count", 1000), ("seed", 1), ("processes", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    findings = asyncio.run(run(asked.first, asked.count, asked.seed, asked.processes))
    sys.stdout.write(f"{findings}\n")
    return 1 if findings.faults else 0


if __name__ == "__main__":
    sys.exit(main())

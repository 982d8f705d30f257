"""Captures into host records: our CPU time against a dpkt loop, tshark and other readers, in the same run.

    python benchmarks/bench_ingest.py [--quick] [--packets N] [--control SHARE] [--keep FILE]

The capture is generated: user plane over N3 (GTP-U with PDU session containers, TCP with TLS and QUIC inside) and N6,
DNS, and a share of control plane (4 % unless said: NGAP, F1AP, E2AP, PFCP, SBI; frames of the sample generator, whose
identities change from sample to sample), 207 bytes a frame and 2,100 hosts. Peers are measured on their first
`PEER_PACKETS` frames, since their cost is linear and they take minutes; whichever is not installed is skipped, and
said so. Times are CPU seconds of whole processes.
"""

import argparse
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from pratique_local.sample import write_sample

PEER_PACKETS = 200_000
HOSTS, UES, GNBS, UPFS = 2_100, 2_000, 60, 4
MEAN_FRAME, CONTROL = 207, 0.04
SAMPLES = 9  # of 240 subscribers each: as many as have a user plane
SEGMENT = 100_000  # frames between which all flows end and new ones begin
START = 1_767_225_600
GOAL_DPKT, GOAL_TSHARK, GOAL_NDPI, GOAL_MEMORY = 40, 60, 10, 300
OURS = """
import sys, json
from pratique_ingest.profile import profile_capture
with open(sys.argv[1], "rb") as source:
    profile = profile_capture(source, pilot="bench")
print(profile.packets, len(profile.hosts), sum(host.packets for host in profile.hosts))
"""
DPKT = """
import sys, dpkt
from dpkt.ip import IP
from dpkt.ip6 import IP6
hosts, first = {}, int(sys.argv[2])
with open(sys.argv[1], "rb") as source:
    for number, (time, data) in enumerate(dpkt.pcap.Reader(source)):
        if number >= first:
            break
        packet = dpkt.ethernet.Ethernet(data).data
        if not isinstance(packet, (IP, IP6)):
            continue
        ports = (packet.data.sport, packet.data.dport) if hasattr(packet.data, "sport") else ()
        for host, peer in ((packet.src, packet.dst), (packet.dst, packet.src)):
            entry = hosts.setdefault(host, [0, 0, set(), {}, time, time])
            entry[0] += 1
            entry[1] += len(data)
            entry[2].add(peer)
            for port in ports:
                entry[3][port] = entry[3].get(port, 0) + 1
            entry[5] = time
print(len(hosts))
"""
TSHARK_FIELDS = ("frame.time_epoch", "frame.len", "ip.src", "ip.dst", "_ws.col.Protocol")


def _ipv4(source: bytes, destination: bytes, protocol: int, payload: bytes) -> bytes:
    return (
        struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0x4000, 64, protocol, 0)
        + source
        + destination
        + payload
    )


def _ethernet(packet: bytes) -> bytes:
    return b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0" + packet


def _tcp(ports: tuple[int, int], flags: int, payload: bytes) -> bytes:
    return struct.pack(">HHIIBBHHH", *ports, 1, 1, 0x50, flags, 1024, 0, 0) + payload


def _udp(ports: tuple[int, int], payload: bytes) -> bytes:
    return struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload


def _tunnelled(gnb: bytes, upf: bytes, packet: bytes, *, uplink: bool) -> bytes:
    """A G-PDU with a PDU session container (TS 29.281, TS 38.415)."""
    body = struct.pack(">HBBBBBB", 0, 0, 0x85, 1, 0x10 if uplink else 0, 1, 0) + packet
    message = struct.pack(">BBHI", 0x34, 255, len(body), 7) + body
    ends = (gnb, upf) if uplink else (upf, gnb)
    return _ipv4(*ends, 17, _udp((2152, 2152), message))


class Traffic:
    """Frames of one segment after the other; every segment has new flows."""

    def __init__(self, seed: int, control: float, directory: Path) -> None:
        self.chance, self.control = Random(seed), control
        self.noise = self.chance.randbytes(1 << 16)
        self.samples, self.seeds = directory / "sample.pcap", 0
        self.signalling: list[bytes] = []
        self.next = 0

    def segment(self, count: int) -> list[bytes]:
        """Return so many frames in the order of their times."""
        timed: list[tuple[float, bytes]] = []
        user = round(count * (1 - self.control))
        while len(timed) < user:
            begin = self.chance.random()
            timed += ((begin + number * 0.0004, frame) for number, frame in enumerate(self._flow()))
        del timed[user:]
        for number in range(count - user):
            timed.append((number / max(count - user, 1), self._signal()))
        timed.sort(key=lambda one: one[0])
        return [frame for _, frame in timed]

    def _signal(self) -> bytes:
        """Return the next frame of control plane: of another sample when one is at its end, SAMPLES of them in turn.

        Their temporary identities, concealed ones, tunnels, keys and streams differ, so that nothing is gained by
        keeping what a payload has said.
        """
        if self.next == len(self.signalling) and self.seeds < SAMPLES:
            self.seeds += 1
            write_sample(self.samples, seed=self.seeds, subscribers=240)
            self.signalling += [frame for frame in _frames(self.samples.read_bytes()) if _is_control(frame)]
        self.next %= len(self.signalling)
        self.next += 1
        return self.signalling[self.next - 1]

    def _payload(self, begin: bytes, size: int) -> bytes:
        at = self.chance.randrange(len(self.noise) - 1500)
        return begin + self.noise[at : at + size]

    def _flow(self) -> Iterator[bytes]:
        """One conversation, of a UE over N3, or of the UPF's addresses on N6."""
        chance = self.chance
        ue, servers = chance.randrange(UES), HOSTS - GNBS - UPFS - 30
        server = chance.randrange(servers) if chance.random() < 0.5 else int(chance.paretovariate(0.6)) % servers
        gnb, upf = bytes((10, 20, 0, ue % GNBS)), bytes((10, 30, 0, ue % UPFS))
        mobile, far = bytes((10, 45, ue >> 8, ue & 255)), bytes((203, server >> 8, 113, server & 255))
        tunnel = chance.random() < 0.66
        near = mobile if tunnel else bytes((192, 0, 2, ue % 8))
        for outgoing, protocol, body in self._conversation():
            packet = _ipv4(near, far, protocol, body) if outgoing else _ipv4(far, near, protocol, body)
            yield _ethernet(_tunnelled(gnb, upf, packet, uplink=outgoing) if tunnel else packet)

    def _conversation(self) -> Iterator[tuple[bool, int, bytes]]:
        chance, port = self.chance, self.chance.randrange(20_000, 65_000)
        kind, turns = chance.random(), min(int(chance.expovariate(1 / 14)) + 1, 200)
        if kind < 0.25:
            yield True, 17, _udp((port, 53), b"\0\1\1\0\0\1\0\0\0\0\0\0" + self._payload(b"", 24))
            yield False, 17, _udp((53, port), b"\0\1\x81\x80\0\1\0\1\0\0\0\0" + self._payload(b"", 60))
        elif kind < 0.5:
            for _ in range(turns):
                yield True, 17, _udp((port, 443), self._payload(b"\x40", 32))
                yield False, 17, _udp((443, port), self._payload(b"\x40", chance.choice((200, 200, 500))))
        else:
            yield True, 6, _tcp((port, 443), 2, b"")
            yield False, 6, _tcp((443, port), 18, b"")
            yield True, 6, _tcp((port, 443), 24, self._payload(b"\x16\3\1", 250))
            for number in range(turns):
                begin = b"\x17\3\3" if number % 3 == 0 else b""
                yield False, 6, _tcp((443, port), 24, self._payload(begin, chance.choice((90, 210, 500))))
                yield True, 6, _tcp((port, 443), 16, b"")


def _frames(file: bytes) -> Iterator[bytes]:
    at = 24
    while at < len(file):
        size = int.from_bytes(file[at + 8 : at + 12], "little")
        yield file[at + 16 : at + 16 + size]
        at += 16 + size


def _is_control(frame: bytes) -> bool:
    """SCTP, PFCP and SBI frames of the sample."""
    if frame[12:14] != b"\x08\0":
        return False
    ports = {int.from_bytes(frame[34:36], "big"), int.from_bytes(frame[36:38], "big")}
    return frame[23] == 132 or (frame[23] == 17 and 8805 in ports) or (frame[23] == 6 and 7777 in ports)


def write_capture(path: Path, packets: int, control: float) -> float:
    """Write the capture and return the mean size of its frames."""
    traffic, octets, written = Traffic(173, control, path.parent), 0, 0
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        while written < packets:
            parts: list[bytes] = []
            for number, frame in enumerate(traffic.segment(min(SEGMENT, packets - written)), written):
                parts += (
                    struct.pack("<IIII", START + number // 100_000, number % 100_000 * 10, len(frame), len(frame)),
                    frame,
                )
                octets += len(frame)
            file.write(b"".join(parts))
            written += len(parts) // 2
    return octets / packets


def measured(command: list[str], output: int | None = subprocess.DEVNULL) -> tuple[float, float, str]:
    """Run a process; return its CPU seconds, its largest resident size in MB, and what it printed."""
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
    said = process.stdout.read().decode() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, said


def ours(path: Path) -> tuple[float, float, str]:
    return measured([sys.executable, "-c", OURS, str(path)], subprocess.PIPE)


def peers(path: Path, first: int) -> Iterator[tuple[str, float | None, int | None]]:
    """Yield each peer's name, its CPU seconds on the first frames (None: not installed), and the goal."""
    yield "dpkt loop", measured([sys.executable, "-c", DPKT, str(path), str(first)])[0], GOAL_DPKT
    fields = [part for field in TSHARK_FIELDS for part in ("-e", field)]
    commands: tuple[tuple[str, list[str], int | None], ...] = (
        ("tshark", ["-n", "-r", str(path), "-c", str(first), "-T", "fields", *fields], GOAL_TSHARK),
        ("ndpiReader", ["-q", "-i", str(path)], GOAL_NDPI),
        ("tcpdump", ["-nnr", str(path), "-c", str(first)], None),
    )
    for name, arguments, goal in commands:
        program = shutil.which(name)
        yield name, measured([program, *arguments])[0] if program else None, goal


def report(path: Path, packets: int, control: float) -> bool:
    """Measure one capture and print what came out; True when all goals were reached."""
    mean = write_capture(path, packets, control)
    print(f"\n{packets:,} packets of {mean:.0f} bytes, {control:.0%} control plane")
    seconds, memory, said = ours(path)
    speed = packets / seconds
    print(f"  ours         {speed:>10,.0f} packets/CPU s   {seconds:.2f} s, {memory:.0f} MB, said {said.strip()}")
    reached = memory <= GOAL_MEMORY
    first = min(packets, PEER_PACKETS)
    # A peer without a count of packets reads a file of its own, so that no start-up cost is hidden.
    short = path.with_name("first.pcap")
    cut(path, short, first)
    for name, cost, goal in peers(short, first):
        if cost is None:
            print(f"  {name:<12} not installed: skipped")
            continue
        ratio = speed * cost / first
        verdict = "" if goal is None else f"   goal x{goal}: {'reached' if ratio >= goal else 'missed'}"
        print(f"  {name:<12} {first / cost:>10,.0f} packets/CPU s   x{ratio:.1f}{verdict}")
        reached &= goal is None or ratio >= goal
    return reached


def cut(path: Path, short: Path, count: int) -> None:
    """Copy the first frames of a capture."""
    with path.open("rb") as source, short.open("wb") as target:
        target.write(source.read(24))
        for _ in range(count):
            head = source.read(16)
            target.write(head + source.read(int.from_bytes(head[8:12], "little")))


def linearity(path: Path, packets: int) -> None:
    """Print how cost and memory grow from a tenth of the capture to the whole."""
    short = path.with_name("tenth.pcap")
    cut(path, short, packets // 10)
    (small, little, _), (large, much, _) = ours(short), ours(path)
    print(f"  ten times the packets: x{large / small:.1f} CPU, {little:.0f} -> {much:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200,000 packets")
    parser.add_argument("--packets", type=int, default=1_000_000)
    parser.add_argument("--control", type=float, help="share of control plane (default: 0.04, then 0.3)")
    options = parser.parse_args()
    packets = 200_000 if options.quick else options.packets
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "capture.pcap"
        for control in (CONTROL, 0.3) if options.control is None else (options.control,):
            report(path, packets, control)
            linearity(path, packets)


if __name__ == "__main__":
    main()

"""Sends malformed packets through a router from inside its namespace, then asks for an answer.

    sojourn router --rate 1gbit --server "packets.py answer" -- packets.py SEED PACKETS

Packets are made by a grammar: a whole packet of IPv4 or IPv6 with TCP, UDP, ICMP or none of them,
of which a few fields are wrong: lengths, checksums, versions, fragments, options, addresses; some
are cut off, have a tail, come in a frame of Ethernet, or are any bytes. Prints a line of JSON: how
many were sent, how many of them the kernel dropped before the router, and whether an answer came.
"""

from __future__ import annotations

import errno
import json
import os
import random
import socket
import struct
import sys
import time
from pathlib import Path

DEVICE = "sojourn"
PORT = 4711
_IP = 0x0800
_ENOUGH_S = 60
_PROTOCOLS = (6, 17, 1, 58, 0, 4, 41, 47, 50, 132, 255)
_NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 19, 20, 21, 39, 40, 59, 60, 127, 128, 255)


def _checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data[: len(data) // 2 * 2]))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def _options(rng: random.Random, words: int, kinds: tuple[int, ...]) -> bytes:
    return bytes(rng.choice(kinds) for _ in range(4 * words))


def _transport(rng: random.Random, protocol: int) -> bytes:
    ports = struct.pack("!HH", rng.choice((0, 9, 80, PORT, 65535)), rng.randrange(65536))
    payload = rng.randbytes(rng.choice((0, 0, 1, 7, 40, 1200)))
    if protocol == 6:
        offset = rng.choice((5, 5, 5, 6, 15, 0, 1, 4))
        options = _options(rng, max(0, offset - 5), (0, 1, 2, 3, 4, 5, 8, 255))
        flags = rng.randrange(256)
        head = struct.pack("!IIBBHHH", rng.getrandbits(32), rng.getrandbits(32), offset << 4,
                           flags, rng.randrange(65536), rng.randrange(65536), 0)  # fmt: skip
        return ports + head + options + payload
    if protocol == 17:
        length = rng.choice((8 + len(payload), 8 + len(payload), 0, 7, 65535))
        return ports + struct.pack("!HH", length, rng.choice((0, 0xFFFF, 1))) + payload
    return rng.randbytes(rng.choice((0, 4, 8, 64)))


def _version4(rng: random.Random, source: bytes, destination: bytes) -> bytearray:
    protocol = rng.choice(_PROTOCOLS[:3] * 4 + _PROTOCOLS)
    words = rng.choice((5, 5, 5, 5, 6, 10, 15))
    options = _options(rng, words - 5, (0, 1, 7, 68, 131, 137, 148, 255, *_NUMBERS))
    inner = _transport(rng, protocol)
    fragment = rng.choice((0, 0, 0, 0x4000, 0x2000, 0x2001, 5, 0x1FFF, 0x3FFF))
    packet = bytearray(
        struct.pack("!BBHHHBBH4s4s", 64 | words, rng.randrange(256), 4 * words + len(inner),
                    rng.randrange(65536), fragment, rng.choice((0, 1, 64, 255)), protocol, 0,
                    source, destination)
        + options
    )  # fmt: skip
    packet[10:12] = _checksum(bytes(packet)).to_bytes(2)
    return packet + inner


def _version6(rng: random.Random, source: bytes, destination: bytes) -> bytearray:
    chain, kind = b"", rng.choice((6, 17, 58, 59))
    inner = _transport(rng, kind)
    for _ in range(rng.choice((0, 0, 1, 2, 9))):
        # Hop by hop, routing, destination, fragment: each says what follows.
        chain = bytes([kind, rng.choice((0, 0, 1, 255))]) + rng.randbytes(6) + chain
        kind = rng.choice((0, 43, 60, 44))
    first = 6 << 28 | rng.getrandbits(28)
    body = chain + inner
    head = struct.pack("!IHBB", first, len(body), kind, rng.choice((0, 1, 64)))
    mapped = b"\xfe\x80" + bytes(10)
    return bytearray(head + mapped + source + mapped + destination + body)


def packet(rng: random.Random, here: bytes, there: bytes) -> bytes:
    """A packet with something wrong, or nothing."""
    source = rng.choice((here, here, here, there, bytes(4), b"\xff" * 4, rng.randbytes(4)))
    target = rng.choice((there, there, there, here, b"\xe0\0\0\1", b"\x7f\0\0\1", rng.randbytes(4)))
    made = (_version4 if rng.random() < 0.7 else _version6)(rng, source, target)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
        at = rng.randrange(min(len(made), 60))
        made[at] = rng.choice((made[at] ^ 1 << rng.randrange(8), *_NUMBERS))
    kind = rng.random()
    if kind < 0.1:
        made = made[: rng.randrange(1, len(made) + 1)]
    elif kind < 0.15:
        made += rng.randbytes(rng.choice((1, 3, 64)))
    elif kind < 0.2:
        made = bytearray(rng.randbytes(12) + rng.choice((b"\x08\0", b"\x86\xdd", b"\x81\0"))) + made
    elif kind < 0.25:
        made = bytearray(rng.randbytes(rng.randrange(1, 1500)))
    return bytes(made[:1500])


def _counters() -> tuple[int, int]:
    """How many packets the device has handed to the router, and how many were dropped before."""
    for line in Path("/proc/net/dev").read_text(encoding="ascii").splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == DEVICE:
            values = [int(each) for each in numbers.split()]
            return values[9], values[11]
    raise SystemExit(f"there is no device {DEVICE}")


def _attack(seed: int, number: int) -> dict[str, object]:
    rng = random.Random(seed)
    left, right = os.environ["SOJOURN_LEFT"], os.environ["SOJOURN_RIGHT"]
    here, there = socket.inet_aton(left), socket.inet_aton(right)
    sent = 0
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_IP)) as raw:
        raw.bind((DEVICE, _IP))
        while sent < number:
            made = packet(rng, here, there)
            while True:
                try:
                    raw.send(made)
                    break
                except OSError as error:
                    # The device's queue is full: the router is behind.
                    if error.errno != errno.ENOBUFS:
                        raise
                    time.sleep(0.001)
            sent += 1
    return {"sent": sent, "answered": _answered(right)}


def _answered(address: str) -> bool:
    """Whether a packet that is as it should be still goes there and back."""
    end = time.monotonic() + _ENOUGH_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(0.2)
        while time.monotonic() < end:
            asking.sendto(b"still there?", (address, PORT))
            try:
                if asking.recv(100) == b"still there?":
                    return True
            except (TimeoutError, ConnectionError):
                continue
    return False


def _answer() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("", PORT))
        while True:
            try:
                text, asking = listening.recvfrom(2000)
                if text == b"still there?":
                    listening.sendto(text, asking)
            except OSError:
                continue


if __name__ == "__main__":
    if sys.argv[1:] == ["answer"]:
        _answer()
    told = _attack(int(sys.argv[1]), int(sys.argv[2]))
    passed, dropped = _counters()
    print(json.dumps(told | {"passed": passed, "dropped": dropped}), file=sys.stderr)

"""Somebody in the same network without the key, as long as chaos goes on: floods, half handshakes, garbage, false beacons.

    attacker.py SEED ADDRESS...

Started by chaos.py in a namespace of its own, from which only the lab's hosts can be reached; it ends by SIGTERM. At most
RATE connections and BEACONS datagrams a second, because it shares the processor with those whom it attacks.
"""

import collections
import random
import socket
import ssl
import struct
import sys
import threading
import time

PORT, HTTP_PORT, BEACON_PORT = 7420, 7422, 7421
GROUP = "239.255.83.75"
RATE = 60
BEACONS = 100
HELD = 300

chance = random.Random(int(sys.argv[1]))
targets = sys.argv[2:]
held: collections.deque[socket.socket] = collections.deque()
heard: collections.deque[bytes] = collections.deque(maxlen=200)


def hello() -> bytes:
    """What a TLS client says first, with our protocol's name."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["skynet/2"])
    outgoing = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), outgoing).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def stranger(target: str) -> None:
    """A whole handshake as far as one gets without a certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["skynet/2"])
    with socket.create_connection((target, PORT), timeout=1) as plain, context.wrap_socket(plain) as secure:
        secure.sendall(frame())
        secure.recv(100)


def frame() -> bytes:
    """The head of a frame, of any kind and length, and some body."""
    body = chance.randbytes(chance.randint(0, 300))
    length = chance.choice([len(body) + 10, 0, 10, 65536, 2**31, 2**32 - 1])
    return struct.pack(">IBBQ", length, chance.randint(0, 20), chance.randint(0, 255), chance.getrandbits(64)) + body


def request() -> bytes:
    """Something that HTTP is to answer, to refuse, or to wait for in vain."""
    name = chance.choice(["/v1/jobs", "/v1/nodes", "/healthz", "/metrics", "/" + "x" * chance.randint(1, 20_000)])
    method = chance.choice(["GET", "POST", "DELETE", "BREW"])
    head = f"{method} {name} HTTP/1.1\r\nHost: {chance.choice(targets)}\r\n"
    head += f"Authorization: Bearer {chance.getrandbits(128):x}\r\n"
    body = chance.randbytes(chance.randint(0, 2000))
    head += f"Content-Length: {chance.choice([len(body), 2**40, -1])}\r\n\r\n"
    whole = head.encode() + body
    return whole[: chance.randint(1, len(whole))] if chance.random() < 0.5 else whole


def connect() -> None:
    """One connection of any sort. What is not closed at once stays open until too many are."""
    target, sort = chance.choice(targets), chance.randint(0, 5)
    if sort == 0:
        stranger(target)
        return
    link = socket.create_connection((target, HTTP_PORT if sort in (3, 4) else PORT), timeout=1)
    try:
        if sort == 1:
            whole = hello()
            link.sendall(whole[: chance.randint(1, len(whole))])
        elif sort == 2:
            link.sendall(frame() if chance.random() < 0.5 else chance.randbytes(chance.randint(1, 4000)))
        elif sort == 3:
            link.sendall(request())
    finally:
        if chance.random() < 0.3:
            link.close()
        else:
            held.append(link)
    while len(held) > HELD:
        held.popleft().close()


def listen() -> None:
    """Keeps true beacons, to send them again and changed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear:
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ear.bind(("", BEACON_PORT))
        ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + socket.inet_aton("0.0.0.0"))
        while True:
            heard.append(ear.recv(2000))


def beacon() -> bytes:
    """A beacon with made-up marks, one that was heard, one that was changed, or noise."""
    sort = chance.randint(0, 3)
    if sort == 0:
        return chance.randbytes(chance.randint(0, 600))
    if sort == 1 or not heard:
        name = b"stranger"
        return (
            b"SKYB" + struct.pack(">BB", 2, chance.randint(0, 4))
            + struct.pack(">QQQQQ", *(chance.getrandbits(64) for _ in range(4)), int(time.time() * 1000))
            + struct.pack(">HHBB", 30, chance.randint(0, 65535), 0, len(name)) + name + b"\0" + chance.randbytes(32)
        )  # fmt: skip
    whole = bytearray(chance.choice(list(heard)))
    if sort == 3 and whole:
        # The marks among them: cluster, key and node.
        for _ in range(chance.randint(1, 8)):
            whole[chance.randrange(len(whole))] = chance.randint(0, 255)
    return bytes(whole)


def beacons() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth:
        while True:
            time.sleep(1 / BEACONS)
            try:
                mouth.sendto(beacon(), (chance.choice([GROUP, *targets]), BEACON_PORT))
            except OSError:
                pass


def main() -> None:
    for work in (listen, beacons):
        threading.Thread(target=work, daemon=True).start()
    while True:
        time.sleep(1 / RATE)
        try:
            connect()
        except OSError:
            # Refused, reset, a host that is cut off: all the same to us.
            pass


if __name__ == "__main__":
    main()

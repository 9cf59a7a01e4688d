"""The hosts of a run: Tests/Trials/lab/lab.sh in the namespaces of this process, with what chaos needs beside it: a disk and a clock
of each host's own, commands that run on a host, and a console that asks the nodes by HTTP."""

import http.client
import json
import os
import shutil
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DISK = 160 << 20
PORT = 7420
HTTP_PORT = 7422
# On the bridge itself: neither a node nor the attacker.
CONSOLE = "10.83.0.254"
STRANGER = "10.83.0.200"
# For how long a node may say to ask again.
AGAIN = 20


class LabError(Exception):
    """What the lab could not do."""


class Hosts:
    """`count` hosts h1, h2, ... with a node on each, which is given the further `options` of serve. Only h1 sees what is in
    `private`."""

    def __init__(self, program: Path, folder: Path, count: int, slots: int, options: Sequence[object] = ()) -> None:
        self.program = program
        self.folder = folder
        self.names = [f"h{number}" for number in range(1, count + 1)]
        self.private = folder / "private"
        self.private.mkdir()
        self.token = os.urandom(16).hex()
        self.lock = threading.Lock()
        self._clocks_and_disks()
        token_file = folder / "http.token"
        token_file.touch(mode=0o600)
        token_file.write_text(self.token + "\n")
        self.lab = subprocess.Popen(
            [ROOT / "Tests/Trials/lab/lab.sh", "--inside", folder, "--hosts", str(count), "--slots", str(slots)]
            + ["--program", self._wrapper(), "--files", self.private, "--"]
            + ["--http", f"0.0.0.0:{HTTP_PORT}", "--http-token", token_file, "--cache-size", "16M", "--log-level", "info"]
            + list(map(str, options)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C is for this process, which takes the lab down in order.
            start_new_session=True,
        )
        if not self.lab.stdout.readline().startswith("ready"):
            raise LabError("no lab can be made here (see Tests/Trials/lab/lab.sh)")
        self._outsiders()

    def _clocks_and_disks(self) -> None:
        subprocess.run(
            ["clang", "-shared", "-fPIC", "-O2", "-o", self.folder / "clock.so", Path(__file__).with_name("clock.c")], check=True
        )
        for name in self.names:
            (self.folder / name).mkdir(mode=0o700)
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "tmpfs", self.folder / name], check=True)
            self.clock(name).write_bytes(struct.pack("=q", 0))

    def _wrapper(self) -> Path:
        """What the lab starts as the program: it gives `serve --name HOST ...` that host's clock."""
        path = self.folder / "skynode"
        path.write_text(
            "#!/bin/sh\n"
            f'[ "$1" != serve ] || export LD_PRELOAD={self.folder}/clock.so CHAOS_CLOCK={self.folder}/$3.clock\n'
            f'exec {self.program} "$@"\n'
        )
        path.chmod(0o755)
        return path

    def _outsiders(self) -> None:
        """The console's address, and a host without a node and without the key, which reaches the lab's hosts only."""
        for line in (
            f"addr add {CONSOLE}/24 dev lab",
            "netns add stranger",
            "link add vx type veth peer name eth0 netns stranger",
            "link set vx master lab up",
            f"-n stranger addr add {STRANGER}/24 dev eth0",
            "-n stranger link set lo up",
            "-n stranger link set eth0 up",
            "-n stranger route add 224.0.0.0/4 dev eth0",
        ):
            subprocess.run(["ip", *line.split()], check=True)

    # The lab's commands.

    def tell(self, line: str) -> list[str]:
        """Gives the lab a command, and returns what it printed."""
        with self.lock:
            self.lab.stdin.write(line + "\n")
            self.lab.stdin.flush()
            answer = []
            while text := self.lab.stdout.readline():
                if text.startswith("error: "):
                    raise LabError(f"{line}: {text.strip()}")
                if text.startswith("ok "):
                    return answer
                answer.append(text.rstrip())
        raise LabError("the lab has ended")

    def daemons(self) -> dict[str, int]:
        """The process of each host's node; a node that has ended is not among them."""
        lines = (line.split() for line in self.tell("hosts"))
        return {name: int(process) for name, _, process in lines if process != "-"}

    def end(self) -> None:
        self.lab.stdin.close()
        self.lab.wait()

    # One host.

    def address(self, name: str) -> str:
        return "10.83.0." + name[1:]

    def clock(self, name: str) -> Path:
        return self.folder / f"{name}.clock"

    def set_clock(self, name: str, ahead: int) -> None:
        # In place: the daemon has this very file in its memory.
        with self.clock(name).open("r+b") as file:
            file.write(struct.pack("=q", ahead))

    def fill_disk(self, name: str) -> None:
        with (self.folder / name / "filler").open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
            except OSError:
                pass
            try:
                while True:
                    file.write(bytes(512))
            except OSError:
                pass

    def free_disk(self, name: str) -> None:
        (self.folder / name / "filler").unlink(missing_ok=True)

    def copies(self, name: str) -> list[Path]:
        """The journals of others that the host's node keeps copies of."""
        return sorted((self.folder / name).glob("copies/*/journal.sqlite"))

    def wipe_disk(self, name: str) -> None:
        """What the host's node has stored is gone. The node was killed; what belonged to it may still be about to end."""
        while paths := list((self.folder / name).iterdir()):
            for path in paths:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def on(self, name: str, *command: object) -> list[str]:
        """The words that run a command on a host."""
        return ["ip", "netns", "exec", name, *map(str, command)]

    def start(self, name: str, *words: object, output: Path) -> subprocess.Popen:
        """Starts a command of skynode on a host; what it prints goes to `output`, and to .err beside it."""
        with output.open("wb") as out, output.with_suffix(".err").open("ab") as errors:
            return subprocess.Popen(
                self.on(name, self.program, *words, "--cluster-key", self.folder / "cluster.key"),
                stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True,
            )  # fmt: skip

    def ask(self, name: str, path: str) -> dict | None:
        """What the host's node answers the console by HTTP; nothing where it does not."""
        status, body = self.answer(name, path)
        return body if status == 200 else None

    def answer(self, name: str, path: str) -> tuple[int, dict | None]:
        """The status and what is with it; 0 where there is no answer."""
        status, body = self._request(name, "GET", path)
        return status, json.loads(body) if status == 200 else None

    def figure(self, name: str, metric: str) -> int | None:
        """The sum of a metric's series at the host's node; nothing where it does not answer."""
        status, body = self._request(name, "GET", "/metrics")
        if status != 200:
            return None
        lines = [line.rsplit(" ", 1) for line in body.decode().splitlines() if line.startswith((metric + " ", metric + "{"))]
        return round(sum(float(value) for _, value in lines))

    def delete(self, name: str, path: str) -> bool:
        """Whether it is deleted. A node that was frozen may find out just then that another one goes on with its jobs, and says to
        ask again."""
        deadline = time.monotonic() + AGAIN
        while (status := self._request(name, "DELETE", path)[0]) == 503 and time.monotonic() < deadline:
            time.sleep(0.5)
        return status == 204

    def _request(self, name: str, method: str, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.address(name), HTTP_PORT, timeout=10)
        try:
            connection.request(method, path, headers={"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")


def kill(process: int, number: int = signal.SIGKILL) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass

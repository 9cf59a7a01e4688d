"""Debian machines on this machine, with SkyNet's package: installed, run, killed, stopped, frozen, rebooted, upgraded, purged.

    Tests/Trials/machines/machines.sh [--machines 3] [--suites bookworm,trixie] [--package FILE] [--keep]        make machines

The machines are of these releases of Debian in turn. Each is a systemd-nspawn container with systemd as its first process and an address on a bridge that only they share, in a network
namespace of its own. Needs root. The first run fetches Debian (some minutes); everything stays below .build/machines and nothing is
left running, also after Ctrl-C. --keep leaves the machines up for a look around until Return is pressed.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HOME = ROOT / ".build/machines"
SPACE = f"skymachines{os.getpid()}"
# Control groups of version 2, as Debian has them by itself; this machine may have version 1 at the usual place.
GROUPS = HOME / "groups"
MIRROR = "http://deb.debian.org/debian"
# What a bare Debian has not, but a machine on a network with systemd has.
PACKAGES = "systemd,systemd-sysv,dbus,iproute2,procps,ca-certificates,libpam-systemd"


def sh(*words: str | Path, check: bool = True, timeout: float = 120, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, check=False, **options)
    if check and done.returncode:
        raise Failure(f"{' '.join(str(word) for word in words)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
    return done


class Failure(Exception):
    """Something that had to be so is not."""


def say(text: str) -> None:
    print(text, flush=True)


def until(wanted: str, holds: Callable[[], object], limit: float) -> float:
    """How long it took; asks every tenth of a second."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > limit:
            raise Failure(f"{wanted}: not within {limit:g} s")
        time.sleep(0.1)
    return time.monotonic() - began


def base(suite: str, package: Path) -> Path:
    """A bare Debian with what the package depends on in apt's cache, but not installed."""
    root, fetched, mark = (HOME / f"{suite}{ending}" for ending in ("", ".fetched", ".done"))
    HOME.mkdir(parents=True, exist_ok=True)
    if not fetched.exists() or fetched.read_text() != PACKAGES:
        say(f"fetching Debian's {suite} (once)")
        for old in (fetched, mark):
            old.unlink(missing_ok=True)
        shutil.rmtree(root, ignore_errors=True)
        sh("debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, root, MIRROR, timeout=1800)
        fetched.write_text(PACKAGES)
    stamp = sh("dpkg-deb", "-f", package, "Depends").stdout
    if mark.exists() and mark.read_text() == stamp:
        return root
    mark.unlink(missing_ok=True)
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc" / name)
    shutil.copytree("/etc/apt/apt.conf.d", root / "etc/apt/apt.conf.d", dirs_exist_ok=True)
    for name in (root / "etc/apt/apt.conf.d").glob("docker-*"):
        name.unlink()
    shutil.copy(package, root / "root/skynode.deb")
    sh("chroot", root, "apt-get", "update", timeout=300)
    sh("chroot", root, "apt-get", "install", "-y", "--no-install-recommends", "--download-only", "/root/skynode.deb", timeout=600)
    (root / "root/skynode.deb").unlink()
    (root / "etc/hostname").unlink(missing_ok=True)
    mark.write_text(stamp)
    return root


class Machine:
    """A container."""

    def __init__(self, number: int, suite: str, package: Path) -> None:
        self.name, self.number, self.suite = f"m{number}", number, suite
        self.address = f"10.77.0.{number}"
        self.place = HOME / self.name
        # Of its own: containers that begin in one group have each other's services in theirs.
        self.group = GROUPS / f"{SPACE}-{self.name}"
        self.root = self.place / "root"
        self.process: subprocess.Popen[bytes] | None = None
        self.leader = 0
        for folder in ("upper", "work", "root"):
            (self.place / folder).mkdir(parents=True, exist_ok=True)
        sh("mount", "-t", "overlay", "overlay", "-o",
           f"lowerdir={base(suite, package)},upperdir={self.place / 'upper'},workdir={self.place / 'work'}", self.root)
        (self.root / "etc/hostname").write_text(self.name + "\n")
        (self.root / "etc/machine-id").write_text("")
        network = self.root / "etc/systemd/network/10-host0.network"
        network.parent.mkdir(parents=True, exist_ok=True)
        network.write_text(f"[Match]\nName=host0\n[Network]\nAddress={self.address}/24\nLinkLocalAddressing=ipv6\n")
        for unit in ("systemd-networkd.service", "systemd-networkd.socket"):
            wants = self.root / "etc/systemd/system/multi-user.target.wants" / unit
            wants.parent.mkdir(parents=True, exist_ok=True)
            if not wants.is_symlink():
                wants.symlink_to(f"/lib/systemd/system/{unit}")
        shutil.copy(package, self.root / "root/skynode.deb")

    def boot(self) -> None:
        log = (self.place / "console.log").open("ab")
        self.group.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            # Not by ip netns exec, which hides the control groups.
            ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(self.group),
             "nsenter", f"--net=/run/netns/{SPACE}", "setpriv", "--pdeathsig", "KILL", "--",
             "systemd-nspawn", f"--directory={self.root}", f"--machine={SPACE}-{self.name}", "--boot", "--register=no",
             "--keep-unit", "--network-bridge=sky0", "--console=pipe", "--quiet"],
            env=os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(f"{self.name} has a first process", self.find, 20)
        until(f"{self.name} is up", self.is_up, 60)

    def find(self) -> bool:
        """The container's first process is a grandchild whose parent is nspawn, in namespaces of its own."""
        assert self.process
        if self.process.poll() is not None:
            raise Failure(f"{self.name} does not boot; see {self.place / 'console.log'}")
        ours = os.readlink("/proc/self/ns/pid")
        for child in descendants(self.process.pid):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{child}/ns/pid") != ours and Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                    self.leader = child
                    return True
        return False

    def is_up(self) -> bool:
        state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded") and self.address in self.run("ip", "-4", "addr", check=False).stdout

    def run(self, *words: str, check: bool = True, timeout: float = 120, **options: object) -> subprocess.CompletedProcess[str]:
        # A folder for temporary files of this machine is none of that one's.
        return sh("nsenter", "-t", str(self.leader), "-a", "--", "env", "-u", "TMPDIR", *words, check=check, timeout=timeout, **options)

    def main_process(self, unit: str = "skynode") -> int:
        return int(self.run("systemctl", "show", "-P", "MainPID", unit).stdout)

    def nodes(self) -> list[dict[str, object]]:
        done = self.run("skynode", "nodes", "--cluster-key", "/etc/skynode/cluster.key", "--format", "json", check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def kill_and_boot(self) -> None:
        """A reboot: nspawn ends with its first process, and is started again."""
        assert self.process
        self.run("systemctl", "reboot", check=False)
        self.process.wait(60)
        self.boot()

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            with contextlib.suppress(Failure, subprocess.TimeoutExpired):
                if self.leader:
                    os.kill(self.leader, 38)  # SIGRTMIN+4: power off (systemd(1))
                self.process.wait(10)
            if self.process.poll() is None:
                for child in [*descendants(self.process.pid), self.process.pid]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(child, 9)
                self.process.wait(10)
        sh("umount", "-l", self.root, check=False)
        shutil.rmtree(self.place, ignore_errors=True)
        # The deepest first; the files in them are the kernel's.
        for group in sorted((place for place in [self.group, *self.group.rglob("*")] if place.is_dir()), reverse=True):
            with contextlib.suppress(OSError):
                group.rmdir()


def descendants(process: int) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, path.read_text().split()):
                found += [child, *descendants(child)]
    return found


@contextlib.contextmanager
def cluster(suites: list[str], package: Path, key: Path) -> Iterator[list[Machine]]:
    """Bare machines with the key in its place."""
    machines: list[Machine] = []
    sh("ip", "netns", "add", SPACE)
    try:
        GROUPS.mkdir(parents=True, exist_ok=True)
        sh("mount", "-t", "cgroup2", "none", GROUPS)
        for words in ("link set lo up", "link add sky0 type bridge mcast_snooping 0", "addr add 10.77.0.254/24 dev sky0", "link set sky0 up"):
            sh("ip", "-n", SPACE, *words.split())
        for number, suite in enumerate(suites, 1):
            machines.append(Machine(number, suite, package))
            folder = machines[-1].root / "etc/skynode"
            folder.mkdir(mode=0o755, parents=True)
            shutil.copy(key, folder / "cluster.key")
            (folder / "cluster.key").chmod(0o600)
        for machine in machines:
            machine.boot()
        yield machines
    finally:
        for machine in machines:
            machine.kill()
        sh("umount", "-l", GROUPS, check=False)
        sh("ip", "netns", "del", SPACE, check=False)


def install(machine: Machine, *options: str) -> float:
    began = time.monotonic()
    machine.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", *options,
                "--no-install-recommends", "/root/skynode.deb", timeout=300)
    return time.monotonic() - began


def settle(machines: list[Machine], among: list[Machine], limit: float = 30) -> float:
    """Every one of `among` lists all of `machines`."""
    def all_listed() -> bool:
        return all(sorted(node["state"] == "alive" for node in one.nodes()) == [True] * len(machines) for one in among)

    return until(f"all list {len(machines)} nodes", all_listed, limit)


KEY = ["--cluster-key", "/etc/skynode/cluster.key"]
PARAMETERS = ["--no-cache", "--no-picture", "--sector", "256"]
SCAN = ["skynode", "scan", *KEY, *PARAMETERS, "--format-catalogue", "csv"]


def scan(machine: Machine, name: str) -> str:
    machine.run(*SCAN, "/srv/frame.fits", "-o", f"/srv/{name}", timeout=300)
    return (machine.root / f"srv/{name}/frame.csv").read_text()


def rows(catalogue: str) -> list[str]:
    return [line for line in catalogue.splitlines() if not line.startswith("#")]


def whole(machine: Machine, name: str, where: list[str]) -> tuple[dict[str, bytes], dict[str, int]]:
    """The catalogues of a scan, text and table, and which node scanned how many sectors."""
    done = machine.run("skynode", "scan", *where, *PARAMETERS, "--format-catalogue", "csv,fits", "--format", "json", "/srv/frame.fits",
                       "-o", f"/srv/{name}", timeout=300)
    files = {path.name: path.read_bytes() for path in (machine.root / f"srv/{name}").iterdir()}
    ends = [event for event in map(json.loads, done.stdout.splitlines()) if event.get("nodes")]
    return files, ends[-1]["nodes"] if ends else {}


def alike(machines: list[Machine]) -> None:
    """One package measures alike on every release of Debian."""
    arithmetics = {machine.name: json.loads(machine.run("skynode", "version", "--format", "json").stdout)["arithmetic"] for machine in machines}
    say(f"arithmetic: {arithmetics[machines[0].name]}")
    if len(set(arithmetics.values())) != 1:
        raise Failure(f"machines of one package measure otherwise: {arithmetics}")
    for machine in machines:
        maps = Path(f"/proc/{find_process(machine, machine.main_process())}/maps").read_text()
        loaded = set(re.findall(r"(/\S*)/lib(sep|wcs|erfa|cfitsio)\.so", maps))
        if {name for _, name in loaded} != {"sep", "wcs", "erfa", "cfitsio"} or {place for place, _ in loaded} != {"/usr/lib/skynode"}:
            raise Failure(f"{machine.name} has loaded other libraries than the package's: {sorted(loaded)}")
        if machine is not machines[0]:
            shutil.copy(machines[0].root / "srv/frame.fits", machine.root / "srv/frame.fits")
    together, nodes = whole(machines[0], "together", KEY)
    if set(nodes) != {machine.name for machine in machines}:
        raise Failure(f"only {nodes} had a part of the scan")
    for machine in machines:
        alone, _ = whole(machine, "alone", ["--alone"])
        if alone != together:
            raise Failure(f"{machine.name} alone ({machine.suite}) has other bytes than all together")
    sizes = ", ".join(f"{name} {len(content)} bytes" for name, content in sorted(together.items()))
    say(f"a scan over {', '.join(f'{machine.name} ({machine.suite})' for machine in machines)}: byte-identical to one of each alone ({sizes})")


def otherwise(machine: Machine, first: Machine, machines: list[Machine]) -> None:
    """A node that measures otherwise gets no part of a scan, and the job says so."""
    if " fma " not in Path("/proc/cpuinfo").read_text():
        say("not tried: a node that measures otherwise; this processor has no second form of the mathematical functions")
        return
    drop_in = machine.root / "etc/systemd/system/skynode.service.d/otherwise.conf"
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text("[Service]\nEnvironment=GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4\n")
    for words in (["daemon-reload"], ["restart", "skynode"]):
        machine.run("systemctl", *words)
    settle(machines, machines)
    job = first.run(*SCAN, "--detach", "--use-node", machine.name, "/srv/frame.fits").stdout.splitlines()[0]
    why = first.run("skynode", "jobs", "why", job, *KEY).stdout.splitlines()
    said = next((line for line in why if f"{machine.name}: measures otherwise (libm" in line), None)
    if not said:
        raise Failure(f"jobs why does not say that {machine.name} measures otherwise: {why}")
    first.run("skynode", "jobs", "cancel", job, *KEY)
    _, nodes = whole(first, "unlike", KEY)
    if set(nodes) != {other.name for other in machines if other is not machine}:
        raise Failure(f"{machine.name} measures otherwise, and the scan was done by {nodes}")
    say(f"{machine.name} without fused multiply-add: no part of a scan; jobs why: {said.strip()}")
    drop_in.unlink()
    for words in (["daemon-reload"], ["restart", "skynode"]):
        machine.run("systemctl", *words)
    settle(machines, machines)


def purge(machine: Machine) -> None:
    machine.run("apt-get", "purge", "-y", "skynode")
    if alive := machine.run("pgrep", "-l", "skynode", check=False).stdout.split("\n")[0]:
        raise Failure(f"the purge leaves a process: {alive}")
    places = ("/etc/skynode", "/var/lib/skynode", "/usr/bin/skynode", "/usr/lib/skynode", "/usr/share/doc/skynode")
    left = [place for place in places if (machine.root / place[1:]).exists()]
    if left or "skynode" in machine.run("getent", "passwd").stdout:
        raise Failure(f"purge leaves {left or 'the user'}")
    say(f"{machine.name} ({machine.suite}), purge: nothing left")


def trial(machines: list[Machine]) -> None:
    first, second, third = machines[:3]
    began = time.monotonic()
    for machine in machines[:-1]:
        seconds = install(machine)
        say(f"{machine.name} ({machine.suite}): apt install {seconds:.1f} s")
    # A job that waits for slots: whoever comes gets its tasks.
    others = machines[:-1]
    settle(others, others)
    job = subprocess.Popen(
        ["nsenter", "-t", str(first.leader), "-a", "--", "skynode", "simulate", "--cluster-key", "/etc/skynode/cluster.key",
         "--tasks", "400", "--duration", "200ms", "--format", "json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = threading.Event()
    lines: list[str] = []

    def read() -> None:
        assert job.stdout
        for line in job.stdout:
            lines.append(line)
            if f'"node":"{machines[-1].name}"' in line and '"event":"completed"' in line:
                seen.set()

    reader = threading.Thread(target=read)
    reader.start()
    until("the job runs", lambda: len(lines) > 20, 20)
    began = time.monotonic()
    seconds = install(machines[-1])
    if not seen.wait(30):
        raise Failure("the last machine got no task")
    total = time.monotonic() - began
    say(f"{machines[-1].name} ({machines[-1].suite}): apt install {seconds:.1f} s, first finished task of a running job {total:.1f} s after its begin (wanted: 10)")
    if total > 10:
        raise Failure("too slow from apt install to the first task")
    if job.wait(120):
        raise Failure(f"the job ended with {job.returncode}: {job.stderr.read()[-400:] if job.stderr else ''}")
    reader.join()
    settle(machines, machines)
    say(f"all {len(machines)} list each other")

    first.run("skynode", "synthesize", "/srv/frame.fits", "--width", "3000", "--height", "3000", "--stars", "30000", "--seed", "5")
    first.run("chmod", "644", "/srv/frame.fits")
    wanted = rows(scan(first, "whole"))
    say(f"a scan from {first.name}: {len(wanted) - 1} sources")
    alike(machines)
    otherwise(second, first, machines)
    groups = first.run("find", "/sys/fs/cgroup/system.slice/skynode.service", "-mindepth", "1", "-type", "d", "-printf", "%f\n")
    names = sorted(groups.stdout.split())
    say(f"control groups below the service's: {', '.join(names)}")
    if "daemon" not in names or not any(name.startswith("worker-") for name in names):
        raise Failure("daemon and workers have no control groups of their own")

    say(f"a scan while {second.name} is killed (SIGKILL) and {third.name} is stopped")
    running = subprocess.Popen(
        ["nsenter", "-t", str(first.leader), "-a", "--", *SCAN, "/srv/frame.fits", "-o", "/srv/hurt"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(0.4)
    # In a container it may find the workers gone already, and say so.
    second.run("systemctl", "kill", "-s", "KILL", "skynode", check=False)
    began = time.monotonic()
    third.run("systemctl", "stop", "skynode")
    stop = time.monotonic() - began
    if running.wait(300):
        raise Failure(f"the scan ended with {running.returncode}: {running.stderr.read()[-400:] if running.stderr else ''}")
    if rows((first.root / "srv/hurt/frame.csv").read_text()) != wanted:
        raise Failure("another catalogue than without the kill")
    say(f"the same catalogue; systemctl stop took {stop:.1f} s (grace 10 s)")
    if stop > 12:
        raise Failure("the stop took longer than its grace")
    released = third.run("systemctl", "show", "-P", "ExecStopPost", "skynode").stdout
    if "code=exited ; status=0" not in released:
        raise Failure(f"the service's group is not given back at its end: {released}")
    third.run("systemctl", "start", "skynode")
    took = settle(machines, machines)
    say(f"{second.name} was restarted by systemd, {third.name} by hand; all listed {took:.1f} s later")

    say(f"{second.name} is frozen (SIGSTOP)")
    second.run("mkdir", "-p", "/etc/systemd/system/skynode.service.d")
    (second.root / "etc/systemd/system/skynode.service.d/lab.conf").write_text("[Service]\nWatchdogSec=3s\n")
    second.run("systemctl", "daemon-reload")
    second.run("systemctl", "restart", "skynode")
    before = second.main_process()
    os.kill(find_process(second, before), 19)
    took = until("the watchdog restarts it", lambda: second.main_process() not in (0, before), 40)
    settle(machines, [first])
    say(f"the watchdog (3 s here, 30 s in the package) had it restarted after {took:.1f} s")
    # Not beyond this: a watchdog of 3 s wants a sign of life every 1.5 s.
    (second.root / "etc/systemd/system/skynode.service.d/lab.conf").unlink()
    second.run("systemctl", "daemon-reload")
    second.run("systemctl", "restart", "skynode")

    say(f"{third.name} reboots")
    third.kill_and_boot()
    took = settle(machines, machines, 60)
    say(f"up and listed again; the same catalogue as before: {rows(scan(first, 'again')) == wanted}")

    idle(machines)

    first.run("skynode", "simulate", "--cluster-key", "/etc/skynode/cluster.key", "--tasks", "50", "--duration", "10ms")
    before_jobs = first.run("skynode", "jobs", "list", "--cluster-key", "/etc/skynode/cluster.key").stdout.count("\n")
    (first.root / "etc/skynode/skynode.yaml").write_text((first.root / "etc/skynode/skynode.yaml").read_text() + "slots: 1\n")
    for machine in machines[:2]:
        install(machine, "--reinstall")
    settle(machines, machines)
    after_jobs = first.run("skynode", "jobs", "list", "--cluster-key", "/etc/skynode/cluster.key").stdout.count("\n")
    if after_jobs != before_jobs or "slots: 1" not in (first.root / "etc/skynode/skynode.yaml").read_text():
        raise Failure("the upgrade lost jobs or configuration")
    say("upgrade: configuration and jobs kept")
    for machine in machines[:2]:
        units = [f"/lib/systemd/system/{name}.service" for name in ("skynode", "skynode@dome")]
        (machine.root / "usr" / units[1][1:]).symlink_to("skynode@.service")
        verified = machine.run("systemd-analyze", "verify", "--man=no", *units)
        complaints = (verified.stdout + verified.stderr).strip()
        say(f"systemd-analyze verify ({machine.suite}): {complaints or 'nothing to say'}")
        if complaints:
            raise Failure("units with faults")
    instance(third, machines)
    for machine in (third, second):
        purge(machine)
    level = re.search(r"([\d.]+) \w+", first.run("systemd-analyze", "security", "skynode", "--no-pager").stdout.splitlines()[-1])
    exposure = float(level.group(1)) if level else 10
    say(f"systemd-analyze security: {exposure} (wanted: 2.0)")
    if exposure > 2.0:
        raise Failure("more exposed than wanted")


def instance(machine: Machine, machines: list[Machine]) -> None:
    """A second node of a machine, by the template; an upgrade has to find it."""
    unit = "skynode@dome"
    (machine.root / "etc/skynode/dome.yaml").write_text("listen: 0.0.0.0:7430\ncluster-key: /etc/skynode/cluster.key\nslots: 1\n")
    machine.run("systemctl", "start", unit)
    settle([*machines, machine], [machines[0]])
    before = machine.main_process(unit)
    install(machine, "--reinstall")
    settle([*machines, machine], [machines[0]])
    if machine.main_process(unit) in (0, before):
        raise Failure(f"the upgrade has not started {unit} anew")
    if not (machine.root / "var/lib/skynode/dome/dome/journal.sqlite").exists():
        raise Failure(f"{unit} has its jobs elsewhere")
    say(f"{unit}: listed beside {machine.name}, and again after an upgrade")


def find_process(machine: Machine, inside: int) -> int:
    """A process of a container as this machine numbers it."""
    for child in descendants(machine.leader):
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{child}/status").read_text()
            numbers = re.search(r"^NSpid:\s+(.*)$", status, re.M)
            if numbers and numbers.group(1).split()[-1] == str(inside):
                return child
    raise Failure(f"{machine.name} has no process {inside}")


def idle(machines: list[Machine]) -> None:
    """What idle nodes take in a minute, once they have given back what they held for the next task."""
    time.sleep(90)
    places = [Path(f"/proc/{find_process(machine, machine.main_process())}") for machine in machines]

    def reading(place: Path) -> tuple[float, int]:
        # clock_getcpuclockid(3): nanoseconds of all its threads, where /proc/PID/stat counts hundredths of a second.
        seconds = time.clock_gettime((~int(place.name) << 3) | 2)
        written = re.search(r"^write_bytes: (\d+)", place.joinpath("io").read_text(), re.M)
        return seconds, int(written.group(1)) if written else 0

    def lines(machine: Machine) -> list[str]:
        return machine.run("journalctl", "-u", "skynode", "-q", "--no-pager", "-o", "cat").stdout.splitlines()

    before, said = [reading(place) for place in places], [len(lines(machine)) for machine in machines]
    time.sleep(60)
    for machine, place, old, count in zip(machines, places, before, said, strict=True):
        new, status, fresh = reading(place), place.joinpath("status").read_text(), lines(machine)[count:]
        resident, own = (re.search(rf"^{name}:\s+(\d+)", status, re.M) for name in ("VmRSS", "RssAnon"))
        if not resident or not own:
            raise Failure(f"{machine.name} has ended")
        say(
            f"{machine.name} idle for a minute: {int(resident.group(1)) / 1024:.1f} MB resident, "
            f"{int(own.group(1)) / 1024:.1f} MB of it its own, {(new[0] - old[0]) / 60 * 100:.3f} % of a core, "
            f"{new[1] - old[1]} bytes and {len(fresh)} lines of log written (wanted: 30 MB, 0.1 %, 0 bytes)"
        )
        for line in fresh:
            say(f"    {line}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="machines", allow_abbrev=False)
    parser.add_argument("--machines", type=int, default=3)
    parser.add_argument("--suites", default="bookworm,trixie", help="releases of Debian, with commas in between; the machines are of these in turn")
    parser.add_argument("--package", type=Path, help="default: the newest in dist")
    parser.add_argument("--keep", action="store_true", help="wait for Return before they go")
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("machines: needs root, for containers and their network")
    if options.machines < 3:
        sys.exit("machines: three at least")
    package = options.package or max((ROOT / "dist").glob("skynode_*.deb"), key=os.path.getmtime, default=None)
    if not package:
        sys.exit("machines: no package in dist; make deb makes one")
    began = time.monotonic()
    names = [name for name in options.suites.split(",") if name]
    if not names:
        sys.exit("machines: --suites names none")
    suites = [names[number % len(names)] for number in range(options.machines)]
    for suite in dict.fromkeys(suites):
        base(suite, package)
    with tempfile.TemporaryDirectory() as folder:
        sh("dpkg-deb", "-x", package, f"{folder}/package")
        key = Path(folder) / "cluster.key"
        sh(f"{folder}/package/usr/bin/skynode", "key", "new", "--output", key)
        try:
            with cluster(suites, package, key) as machines:
                try:
                    trial(machines)
                finally:
                    if options.keep:
                        for machine in machines:
                            say(f"{machine.name}: nsenter -t {machine.leader} -a")
                        input("Return ends them. ")
        except Failure as failure:
            say(f"machines: {failure}")
            return 1
    say(f"machines: all is well, after {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How hosts are lost in a round, and how they come back: empty, when the round's work is done."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from hosts import Hosts

KINDS = ["kill", "cut", "second", "split"]
# Of `second`, after the first loss: the nodes have made another copy by then.
SECOND_AFTER = 90.0
SPLIT = 30.0
SHARE = 2 / 5


@dataclass
class Loss:
    """The loss of a coordinator's host, of one kind; `look` brings about what follows later."""

    hosts: Hosts
    kind: str
    coordinator: str
    # Where commands run; it is not lost.
    watcher: str
    chance: random.Random
    # Which nodes keep copies of what the coordinator had, wherever that is now; it gets the hosts that are lost.
    keepers: Callable[[list[str]], list[str] | None]
    # The hosts on the coordinator's side, and the others.
    near: list[str] = field(default_factory=list)
    far: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    began: float = 0.0
    second: float | None = None
    is_over: bool = False

    def __post_init__(self) -> None:
        others = [name for name in self.hosts.names if name != self.coordinator]
        if self.kind == "split":
            self.chance.shuffle(others)
            smaller = round(len(self.hosts.names) * SHARE)
            size = self.chance.choice([smaller, len(self.hosts.names) - smaller])
            self.near, self.far = [self.coordinator, *others[: size - 1]], others[size - 1 :]
        else:
            self.near, self.far = [self.coordinator], others

    def begin(self) -> None:
        self.began = time.monotonic()
        match self.kind:
            case "cut":
                self.hosts.tell(f"down {self.coordinator}")
                self.lost.append(self.coordinator)
            case "split":
                self.hosts.tell(f"split {' '.join(self.near)} / {' '.join(self.far)}")
            case _:
                self._destroy(self.coordinator)
        self.is_over = self.kind in ("kill", "cut")

    def look(self) -> None:
        """Goes on where it is time; never waits."""
        if self.is_over:
            return
        since = time.monotonic() - self.began
        if self.kind == "split" and since > SPLIT:
            self.hosts.tell("heal")
            self.is_over = True
        elif self.kind == "second" and since > SECOND_AFTER and (keepers := self.keepers(self.lost)):
            # Its commands would go with the host, and it is they who tell what was lost.
            victims = [name for name in keepers if name != self.watcher] or keepers
            self._destroy(self.chance.choice(victims))
            self.second = time.monotonic()
            self.is_over = True

    def _destroy(self, host: str) -> None:
        self.hosts.tell(f"kill {host}")
        self.hosts.wipe_disk(host)
        self.lost.append(host)

    def repair(self) -> None:
        """Puts an empty node on every host that was lost, and ends what is left of a split."""
        if self.kind == "split" and not self.is_over:
            self.hosts.tell("heal")
        if self.kind == "cut":
            self.hosts.tell(f"kill {self.coordinator}")
            self.hosts.wipe_disk(self.coordinator)
            self.hosts.tell(f"up {self.coordinator}")
        for host in self.lost:
            self.hosts.tell(f"start {host}")

    def __str__(self) -> str:
        match self.kind:
            case "split":
                return f"split {' '.join(self.near)} / {' '.join(self.far)}"
            case _:
                return f"{self.kind} {' '.join(self.lost)}"

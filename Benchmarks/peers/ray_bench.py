"""Ray on this machine: two nodes of four processors each, as Ray's own tests start them.

Benchmarks/.build/peers/bin/python Benchmarks/peers/ray_bench.py [--tasks N] [--single N] [--seconds-tasks N]
                                                                 [--lengths 0,0.001,0.01,0.1]
                                                                 [--length-seconds N]
"""

import ctypes
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import measures

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Keeps Ray on the loopback interface, where it would take the machine's address in the network; read while importing.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

try:
    import psutil
    import ray
    from ray.cluster_utils import Cluster
except ImportError:
    sys.exit("peers: Ray is not here; Benchmarks/peers/setup.sh installs it")


PR_SET_CHILD_SUBREAPER = 36  # of linux/prctl.h


@ray.remote(num_cpus=1)
def task(number: int, length: float) -> int:
    if length:
        time.sleep(length)
    return number


def end_children() -> None:
    for _ in range(20):
        left = psutil.Process().children(recursive=True)
        if not left:
            return
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=1)


@contextmanager
def start() -> Iterator[measures.Run]:
    # Ray forgets some of its processes when it is stopped while starting. They become this one's children.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Ray keeps logs and sockets; the folder's name is short because a socket's path has to be.
    with tempfile.TemporaryDirectory(prefix="peers-", dir="/tmp") as folder:
        os.environ["RAY_TMPDIR"] = folder
        cluster = Cluster()
        try:
            for _ in range(measures.NODES):
                cluster.add_node(num_cpus=measures.SLOTS // measures.NODES)
            ray.init(address=cluster.address, logging_level=logging.ERROR, log_to_driver=False)
            yield lambda tasks, length: ray.get([task.remote(number, length) for number in range(tasks)])
            ray.shutdown()
            cluster.shutdown()
        finally:
            end_children()


if __name__ == "__main__":
    measures.main("ray", ray.__version__, start)

"""Dask distributed on this machine: a scheduler and two worker processes of four threads each.

Benchmarks/.build/peers/bin/python Benchmarks/peers/dask_bench.py [--tasks N] [--single N] [--seconds-tasks N]
                                                                  [--lengths 0,0.001,0.01,0.1]
                                                                  [--length-seconds N]
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import measures

try:
    import distributed
except ImportError:
    sys.exit("peers: Dask is not here; Benchmarks/peers/setup.sh installs it")


def task(number: int, length: float) -> int:
    if length:
        time.sleep(length)
    return number


@contextmanager
def start() -> Iterator[measures.Run]:
    with (
        distributed.LocalCluster(
            n_workers=measures.NODES,
            threads_per_worker=measures.SLOTS // measures.NODES,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def run(tasks: int, length: float) -> list[int]:
            # Not pure: a task that looks like one before it is still run, not answered with that one's result.
            return client.gather(client.map(task, range(tasks), length=length, pure=False))

        yield run


if __name__ == "__main__":
    measures.main("dask", distributed.__version__, start)

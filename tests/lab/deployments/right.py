"""Deployments that are right: nothing may fail."""

from deployment import V3, V4
from deployments import Row


def mounted(options):
    return lambda made: made.mount_all(options)


ROWS = [
    Row("NFSv4.2, sync export", mounted(V4), {}),
    Row("NFSv3 with locks, sync export", mounted(V3), {}),
    Row("NFSv4.2 over four connections", mounted(f"{V4},nconnect=4"), {}),
]

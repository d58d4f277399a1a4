"""A machine that reports itself for the first time eight times at the same moment is one machine."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from bench.models import Node
from tests.people import key_client, make_user


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_eight_simultaneous_first_reports_are_all_answered_and_make_one_machine():
    account = make_user()
    clients, start = [key_client(account) for _ in range(8)], Barrier(8)

    def report(index: int) -> int:
        start.wait()
        facts = {"node_hash": "a" * 64, "gpu_name": "NVIDIA GeForce RTX 3090", "ram_gb": 8.0 + index}
        try:
            return clients[index].post("/api/v1/bench/nodes", facts, format="json").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(report, range(8))) == [201] * 8
    node = Node.objects.get()
    assert node.gpu_name == "NVIDIA GeForce RTX 3090"
    assert node.ram_gb in {8.0 + index for index in range(8)}

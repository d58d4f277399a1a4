"""Eight controllers that resend one bundle at the same moment make one submission."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from bench.models import Node, Run, Submission
from bench.services import submission_ingest
from tests.people import make_user
from tests.wire.bundles import make_bundle


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_one_of_eight_is_stored_and_the_others_are_duplicates():
    account, raw = make_user(), json.dumps(make_bundle()).encode()

    def send(_: int) -> bool:
        try:
            return submission_ingest(account=account, raw=raw).created
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        created = list(pool.map(send, range(8)))
    assert sum(created) == 1
    assert [model.objects.count() for model in (Submission, Run, Node)] == [1, 1, 1]

"""The whole service with its store on S3: from a capture to released records, and away again."""

from pathlib import Path

import pytest

from pratique import Refused
from pratique_local.sample import write_sample
from tests.support.house import house
from tests.support.s3 import Bucket


def test_a_release_of_a_capture_is_made_served_and_shredded_on_s3(tmp_path: Path, bucket: Bucket) -> None:
    truth = write_sample(tmp_path / "sample.pcap", subscribers=4)
    with (
        house(tmp_path / "house", port=None, PRATIQUE_STORE=bucket.url, **bucket.environment) as running,
        running.client() as client,
    ):
        capture = client.push_capture(tmp_path / "sample.pcap")["id"]
        assert client.wait_capture(capture)["records"] == len(truth.hosts)
        asked = {"source": {"capture": capture}, "policy": "C4", "gate": {}, "attacks": {"repetitions": 20, "seed": 3}}
        release = client.create_release(asked)["id"]
        assert client.wait_release(release)["status"] == "completed"
        posture = client.posture(release)
        found = client.download_records(release, tmp_path / "records.parquet")
        assert found.sha256 == posture["files"]["parquet"]
        assert posture["attacks"]["linkage"] is not None
        assert not (running.data / "store").exists()  # nothing of it lies on this disk
        rooms = {key.partition("/")[0] for key in bucket.listing()}
        assert rooms == {"captures", "releases", "keys", "matrices", "scores"}
        client.withdraw(release)
        with pytest.raises(Refused):
            client.posture(release)
        assert [key for key in bucket.listing() if f"blobs/{release}" in key] == []
        assert "a-secret-access-key" not in running.log

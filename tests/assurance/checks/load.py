"""Load: many clients posting releases at once, and large captures on their way in beside them."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path

from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.processes import forget_most, most_resident, resident
from tests.assurance.traffic import JSON, Answer, Caller, pieces, quantile, request_of, unfinished, write_capture
from tests.support.house import House, house

CLIENTS = 32
RELEASES = {Profile.CI: 192, Profile.FULL: 1000}
ROWS = 500
SECONDS = {Profile.CI: 10, Profile.FULL: 60}  # of posts at a pace
UPLOADS = 8
SIZE = {Profile.CI: 10_000_000, Profile.FULL: 100_000_000}  # bytes of a capture
ANSWER = 0.3  # seconds to the 202, of 99 in 100
MEMORY = 64  # MiB that the API may grow by while it takes them
BACKLOG = 1800  # seconds that the work may take in all


def load(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Post releases from clients that each send one a second, from ones that do not pause, and beside eight uploads.

    For clients that do not pause the time to an answer is that of 32 of them: the API, one process, has 9 ms of a core
    for each at the bound. Beside the uploads it is the memory that is bounded, and no answer may be a 5xx.
    """
    releases = RELEASES[profile]
    capture = folder / "large.pcap"
    size = write_capture(capture, SIZE[profile])
    with house(folder / "house", PRATIQUE_RATE="0") as running:
        (api,) = [pid for pid, name in running.programs().items() if name.endswith("api")]
        post(running, CLIENTS, "warm")  # imports, children and connections
        steady = pace(running, SECONDS[profile])
        yield from told("one a second each", steady)
        alone = post(running, releases // 2, "alone")
        yield from told("without a pause", alone)
        before = resident(api)
        forget_most(api)
        with ThreadPoolExecutor(UPLOADS) as pool:
            sent = [pool.submit(upload, running, capture, size, number) for number in range(UPLOADS)]
            beside = post(running, releases - releases // 2, "beside")
            uploads = [each.result() for each in sent]
        yield from taken("beside uploads", beside)
        came = sum(answer.status == 202 for answer in uploads)
        yield some(f"captures of {SIZE[profile] // 10**6} MB taken in", came, UPLOADS)
        yield none("answers of 5xx to uploads", sum(answer.status >= 500 for answer in uploads))
        yield most("memory of the API, most above before", most_resident(api) - before, MEMORY, "MiB")
        accepted = [answer.id for answer in steady + alone + beside if answer.status == 202]
        yield none("accepted releases that did not end", unfinished(running, accepted, BACKLOG))


def told(when: str, answers: list[Answer]) -> Iterator[Figure]:
    """Yield the figures of the posts, with their times."""
    yield from taken(when, answers)
    seconds = [answer.seconds for answer in answers]
    yield most(f"median to the 202, {when}", quantile(seconds, 0.5), ANSWER, "s")
    yield most(f"99 of 100 to the 202, {when}", quantile(seconds, 0.99), ANSWER, "s")


def taken(when: str, answers: list[Answer]) -> Iterator[Figure]:
    """Yield how the posts were answered."""
    yield some(f"releases accepted, {when}", sum(answer.status == 202 for answer in answers), len(answers))
    yield none(f"answers of 5xx, {when}", sum(answer.status >= 500 for answer in answers))


def post(running: House, total: int, name: str) -> list[Answer]:
    """Post so many releases, all different, from clients that send the next as soon as the last is answered."""
    numbers, template = count(), request_of(ROWS, "the-name")

    def client(_: int) -> list[Answer]:
        caller, answers = Caller(running), []
        while (number := next(numbers)) < total:
            body = template.replace(b"the-name", f"{name}-{number}".encode())
            answers.append(caller.ask("POST", "/releases", body, Content_Type=JSON))
        caller.close()
        return answers

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [answer for answers in pool.map(client, range(CLIENTS)) for answer in answers]


def pace(running: House, seconds: int) -> list[Answer]:
    """Post a release a second from each client, spread over the second; a time begins when the post was due."""
    begun, template = time.perf_counter() + 1, request_of(ROWS, "the-name")

    def client(number: int) -> list[Answer]:
        caller, answers = Caller(running), []
        for second in range(seconds):
            due = begun + second + number / CLIENTS
            time.sleep(max(0.0, due - time.perf_counter()))
            late = time.perf_counter() - due
            body = template.replace(b"the-name", f"steady-{number}-{second}".encode())
            answer = caller.ask("POST", "/releases", body, Content_Type=JSON)
            answers.append(replace(answer, seconds=late + answer.seconds))
        caller.close()
        return answers

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [answer for answers in pool.map(client, range(CLIENTS)) for answer in answers]


def upload(running: House, capture: Path, size: int, number: int) -> Answer:
    """Send a capture, under a pilot of its own so that it is no repeated one."""
    caller = Caller(running, timeout=600)
    return caller.ask("POST", f"/captures?pilot=load-{number}", pieces(capture), Content_Length=str(size))

"""The artifact store: rooms of small facts, created once, and of sealed blobs.

A room is a prefix of the store with credentials and a storage key of its own. On local disk a create is followed by
fsync of the file and of its folder before anyone is told; on S3 the conditional put is the promise.
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import LocalStore, ObjectStore, from_url

from pratique_shared.contracts.facts import KEY_SUFFIX, Blob
from pratique_shared.contracts.problems import Problem, StoreFull, Unavailable
from pratique_shared.runtime.checked import checked, is_checked, unchecked
from pratique_shared.runtime.exchange import exchange
from pratique_shared.runtime.meters import STORE_ERRORS
from pratique_shared.runtime.sealing import BrokenSeal, Chunks, Opener, Sealer, StorageKey, new_data_key

if TYPE_CHECKING:
    from obstore import UpdateVersion
    from obstore.store import S3Config

RoomName = Literal["captures", "releases", "keys", "matrices", "scores"]
READ_PIECE = 4 << 20
KNOWN_FOLDERS = 1_000  # whose place in the tree is known to be durable; a release has some of its own, a kB each
WRITE_PIECE = 5 << 20  # the smallest part that S3 takes


def open_room(url: str, name: RoomName, key: StorageKey, credentials: Mapping[str, str] | None = None) -> "Room":
    """Open the room `name` of the store at `url`: `file:///folder` or `s3://bucket/prefix`, there with credentials.

    What else S3 needs to know (`AWS_REGION`, `AWS_ENDPOINT`) is read from the environment by the driver of the store.
    """
    if url.startswith("file://"):
        root = Path(unquote(urlsplit(url).path)) / name
        root.mkdir(parents=True, exist_ok=True)
        return Room(LocalStore(root), root, key)
    given = cast("S3Config", dict(credentials)) if credentials else None
    return Room(from_url(f"{url.rstrip('/')}/{name}", config=given), None, key)


def _problem(error: Exception) -> Exception:
    """Translate what the store says into what a caller can act on, and count it."""
    problem: Problem = Unavailable("store-unavailable", "The artifact store did not answer: try again.")
    if "No space left" in str(error) or "Disk quota" in str(error):
        problem = StoreFull("store-full", "The artifact store takes no more: free space, then send the request again.")
    STORE_ERRORS.labels(problem.code).inc()
    return problem


@dataclass(frozen=True)
class Rewrapped:
    """How many wrapped keys there were, how many got another wrapping, and how many no key of the ring opens."""

    found: int
    changed: int
    broken: int


class Room:
    """One room of the store."""

    def __init__(self, store: ObjectStore, root: Path | None, key: StorageKey) -> None:
        self._store, self._root, self._key = store, root, key
        self._known_folders: set[Path] = set()

    # Facts --------------------------------------------------------------------------------------------------

    async def create(self, key: str, data: bytes) -> bool:
        """Write `key` if nothing is there; return whether it was us. Durable when this returns."""
        try:
            await obstore.put_async(self._store, key, checked(data), mode="create", use_multipart=False)
        except AlreadyExistsError:
            await self._sync(key)  # the other writer may not have come to its own fsync
            return False
        except (BaseError, OSError) as error:
            raise _problem(error) from error
        await self._sync(key)
        return True

    async def read(self, key: str) -> bytes | None:
        """Return what is at `key`, or None; raises `BrokenSeal` where it is not what was written."""
        stored = await self._stored(key)
        return None if stored is None else unchecked(stored, key)

    async def _stored(self, key: str) -> bytes | None:
        try:
            found = await obstore.get_async(self._store, key)
            return bytes(await found.bytes_async())
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise _problem(error) from error

    async def names(self, prefix: str) -> list[str]:
        """Return the keys below `prefix`, sorted; a local listing has no order of its own."""
        return sorted(await self.written(prefix))

    async def written(self, prefix: str) -> dict[str, datetime]:
        """Return the keys below `prefix`, each with the moment of its last writing by the store's clock."""
        try:
            listing = obstore.list(self._store, prefix=prefix, chunk_size=1000)
            return {entry["path"]: entry["last_modified"] async for batch in listing for entry in batch}
        except FileNotFoundError:  # a folder that was removed while it was walked
            return {}
        except (BaseError, OSError) as error:
            raise _problem(error) from error

    async def folders(self, prefix: str) -> list[str]:
        """Return the names of the folders right below `prefix`, sorted."""
        try:
            found = await obstore.list_with_delimiter_async(self._store, prefix=prefix)
        except (BaseError, OSError) as error:
            raise _problem(error) from error
        return sorted(path.rstrip("/").rsplit("/", 1)[-1] for path in found["common_prefixes"])

    async def delete(self, *keys: str) -> None:
        """Remove what is at `keys`; what is gone already stays gone."""
        for key in keys:
            try:
                await obstore.delete_async(self._store, key)
                await self._sync(key)  # or a power cut could bring a shredded key back
            except FileNotFoundError:
                continue
            except (BaseError, OSError) as error:
                raise _problem(error) from error

    async def replace(self, key: str, old: bytes, new: bytes) -> bool:
        """Put new bytes where the old ones stand; return False where they do not any more.

        What was removed meanwhile stays removed. Only wrapped keys are ever replaced, by the same key in another
        wrapping: a fact never is.
        """
        if self._root is not None:
            return await asyncio.to_thread(exchange, self._root / key, old, new)
        try:
            found = await obstore.get_async(self._store, key)
            if bytes(await found.bytes_async()) != old:
                return False
            same = cast("UpdateVersion", {"e_tag": found.meta["e_tag"]})
            await obstore.put_async(self._store, key, new, mode=same, use_multipart=False)
        except (FileNotFoundError, PreconditionError):
            return False
        except (BaseError, OSError) as error:
            raise _problem(error) from error
        return True

    # Blobs --------------------------------------------------------------------------------------------------

    async def put_blob(self, key: str, pieces: AsyncIterable[bytes]) -> Blob:
        """Seal a stream under `key`, which nobody else uses; return what a fact may name."""
        data_key, digest, length = new_data_key(), hashlib.sha256(), 0
        sealer = Sealer(data_key)

        async def sealed() -> AsyncIterator[bytes]:
            nonlocal length
            async for piece in pieces:
                digest.update(piece)
                length += len(piece)
                if out := sealer.update(piece):
                    yield out
            yield sealer.finish()

        await self._put_sealed(key, data_key, sealed())
        return Blob(key=key, sha256=digest.hexdigest(), bytes=length)

    async def put_bytes(self, key: str, data: bytes) -> Blob:
        """Seal bytes that are in memory already: those of one part in one request to the store."""
        if len(data) > WRITE_PIECE:

            async def once() -> AsyncIterator[bytes]:
                yield data

            return await self.put_blob(key, once())
        data_key = new_data_key()
        sealer = Sealer(data_key)
        await self._put_sealed(key, data_key, sealer.update(data) + sealer.finish())
        return Blob(key=key, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))

    async def _put_sealed(self, key: str, data_key: bytes, sealed: bytes | AsyncIterator[bytes]) -> None:
        wrapped, streamed, written = self._key.wrap(data_key, key), not isinstance(sealed, bytes), False
        try:
            await obstore.put_async(self._store, f"{key}{KEY_SUFFIX}", wrapped, mode="overwrite", use_multipart=False)
            # Overwrite, one part at a time: the create mode would gather a whole stream in memory first.
            await obstore.put_async(
                self._store, key, sealed, use_multipart=streamed, chunk_size=WRITE_PIECE, max_concurrency=1
            )
            written = True
        except (BaseError, OSError) as error:
            raise _problem(error) from error
        finally:
            if not written:  # whatever ended it: no half of a blob stays
                with suppress(Problem):
                    await self.delete(f"{key}{KEY_SUFFIX}", key)
        await self._sync(f"{key}{KEY_SUFFIX}", key)

    @asynccontextmanager
    async def drafts(self) -> AsyncIterator["Drafts"]:
        """Lend a place for blobs that no fact names yet: unless they are kept, they are shredded at the end."""
        drafts = Drafts(self)
        try:
            yield drafts
        finally:
            if not drafts.kept:
                for blob in drafts.blobs:
                    with suppress(Problem):
                        await self.shred(blob)

    async def blob(self, blob: Blob) -> AsyncIterator[bytes]:
        """Yield the plain pieces of a blob, each authenticated; raise `BrokenSeal` where they are not ours."""
        data_key = await self._data_key(blob.key)
        try:
            found = await obstore.get_async(self._store, blob.key)
            stream = found.stream(min_chunk_size=READ_PIECE)
            opener = Opener(data_key)
            async for piece in stream:
                for plain in opener.update(bytes(piece)):
                    yield plain
            yield opener.finish()
        except FileNotFoundError as error:
            raise BrokenSeal(blob.key) from error
        except (BaseError, OSError) as error:
            raise _problem(error) from error

    async def blob_bytes(self, blob: Blob) -> bytes:
        """Return a whole blob, held against the digest that its fact names."""
        data = b"".join([piece async for piece in self.blob(blob)])
        if hashlib.sha256(data).hexdigest() != blob.sha256:
            raise BrokenSeal(blob.key)
        return data

    async def blob_range(self, blob: Blob, start: int, stop: int) -> bytes:
        """Return bytes start .. stop - 1 of a blob (0 <= start < stop <= its length), without reading the others.

        The chunks that hold them are authenticated one by one. Raises `BrokenSeal`.
        """
        chunks = Chunks(blob.bytes, start, stop)
        data_key = await self._data_key(blob.key)
        try:
            there = (await obstore.head_async(self._store, blob.key))["size"]
            if there < chunks.sealed.stop:  # cut off: the store would call that a bad request
                raise BrokenSeal(blob.key)
            ends = {"start": chunks.sealed.start, "end": chunks.sealed.stop}
            sealed = bytes(await obstore.get_range_async(self._store, blob.key, **ends))
        except FileNotFoundError as error:
            raise BrokenSeal(blob.key) from error
        except (BaseError, OSError) as error:
            raise _problem(error) from error
        return chunks.open(data_key, sealed)

    async def shred(self, blob: Blob) -> None:
        """Remove a blob: its data key first, so that what is left can be read by nobody."""
        await self.delete(f"{blob.key}{KEY_SUFFIX}", blob.key)

    async def shred_all(self, folder: str) -> None:
        """Remove every blob below a folder, data keys first."""
        blobs = await self.names(folder)
        await self.delete(*sorted(blobs, key=lambda name: not name.endswith(KEY_SUFFIX)))

    async def rewrap(self) -> Rewrapped:
        """Put the first storage key around every data key that another one wraps; the blobs stay as they are.

        It may be cut off at any point, and doing it again goes on. Blobs may be written and shredded meanwhile.
        """
        keys = [key for key in await self.names("blobs") if key.endswith(KEY_SUFFIX)]
        return await self.rewrap_each({key: key.removesuffix(KEY_SUFFIX) for key in keys}, self._key)

    async def rewrap_each(self, named: Mapping[str, str], ring: StorageKey) -> Rewrapped:
        """Put the first key of a ring around each of these objects, given with the names that they are bound to."""
        found = changed = broken = 0
        for key, name in named.items():
            stored = await self._stored(key)
            if stored is None:  # shredded meanwhile
                continue
            found += 1
            try:
                fresh = ring.rewrapped(unchecked(stored, key), name)
            except BrokenSeal:
                broken += 1
                continue
            if fresh is not None:
                changed += await self.replace(key, stored, checked(fresh) if is_checked(stored) else fresh)
        return Rewrapped(found, changed, broken)

    async def clear_drafts(self, folder: str, before: datetime) -> int:
        """Remove the files that killed writers left half written below a folder; return how many.

        On local disk what is written stands under `<name>#<number>` until it is whole, and no listing shows it. On S3
        an upload that was not completed is no object: a rule of the bucket ends it.
        """
        return 0 if self._root is None else await asyncio.to_thread(_unlink_drafts, self._root / folder, before)

    async def _data_key(self, key: str) -> bytes:
        wrapped = await self.read(f"{key}{KEY_SUFFIX}")
        if wrapped is None:
            raise BrokenSeal(key)
        return self._key.unwrap(wrapped, key)

    async def _sync(self, *keys: str) -> None:
        if self._root is not None:
            await asyncio.to_thread(self._flush, self._root, [self._root / key for key in keys])

    def _flush(self, root: Path, paths: Sequence[Path]) -> None:
        """Flush files and their folders; of a folder that was not seen before, those above it, up to one that was."""
        for path in paths:
            _fsync(path)
        placed = []
        for folder in {path.parent for path in paths}:
            here = folder
            while here.is_relative_to(root):
                _fsync(here)
                if here in self._known_folders:
                    break
                placed.append(here)
                here = here.parent
        if len(self._known_folders) >= KNOWN_FOLDERS:
            self._known_folders.clear()
        self._known_folders.update(placed)


class Drafts:
    """Blobs that were put into a room and that no fact names yet."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.blobs: list[Blob] = []
        self.kept = False

    async def put(self, key: str, data: bytes) -> Blob:
        """Seal bytes under `key`."""
        blob = await self._room.put_bytes(key, data)
        self.blobs.append(blob)
        return blob

    def keep(self) -> None:
        """Keep them, said before the fact is written: a writer that is cut off may have written it."""
        self.kept = True

    def drop(self) -> None:
        """Let them go after all: another fact came first."""
        self.kept = False


def _unlink_drafts(folder: Path, before: datetime) -> int:
    removed, drafts = 0, list[Path]()
    with suppress(FileNotFoundError):  # the folder went while it was walked
        drafts = list(folder.rglob("*#*"))
    for path in drafts:
        with suppress(OSError):  # its writer came to the end, or it is not ours to remove
            if datetime.fromtimestamp(path.stat().st_mtime, UTC) < before:
                path.unlink()
                removed += 1
    return removed


def _fsync(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:  # removed meanwhile
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Confinement: a process that reads what may be hostile gives up the network and the file system for good.

A seccomp filter (seccomp(2)) lets every system call through but those that make a socket or a ring of io_uring, which
could make one. A Landlock ruleset (landlock(7)) leaves it Python, its packages and what tells of the machine, to read
only. Neither can be taken back, and both hold for whatever the process starts.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
# Of each machine: its audit architecture, and the numbers of socket, socketpair and io_uring_setup (asm/unistd.h).
MACHINES = {"x86_64": (0xC000003E, (41, 53, 425)), "aarch64": (0xC00000B7, (198, 199, 425))}
X32_BIT = 0x40000000  # the other ABI of x86-64, whose numbers would pass by

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF: load a word, compare and jump, return
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # struct seccomp_data

# The system calls of Landlock have the same numbers on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
_RIGHTS = ((5, 16), (3, 15), (2, 14), (1, 13))  # from each version on: how many rights it knows, of files and folders
# What Python and its libraries look at while they run.
READ_ANYWAY = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/localtime",
    "/dev/null", "/dev/urandom", "/dev/zero", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
    "/sys/devices/system", "/sys/fs/cgroup",
)  # fmt: skip


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def give_up_network() -> bool:
    """Set the filter; return False where this kernel or machine has none, for the caller to say so."""
    machine = MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None:
        return False
    code = _filter(*machine)
    instructions = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(instructions, ctypes.c_void_p))
    if not _take_no_privileges():
        return False
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return bool(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def give_up_files() -> bool:
    """Open from now on only what a process of ours reads while it runs; return False where this kernel cannot.

    What is open stays open. Modules that are not loaded yet are found, but nowhere else than among the packages.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    if version < 1:
        return False
    handled = (1 << next(count for first, count in _RIGHTS if version >= first)) - 1
    attributes = struct.pack("=Q", handled)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    try:
        laid = all(_let_read(libc, ruleset, path) for path in (*READ_ANYWAY, *_code()))
        return laid and _take_no_privileges() and bool(libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _code() -> Iterable[str]:
    """Return the folders of Python and its packages, and of each package that is loaded from elsewhere.

    `sys.path` says too much: the working folder stands there, and with it the data folder.
    """
    packages = (module for name, module in tuple(sys.modules.items()) if "." not in name)
    return {sys.prefix, sys.base_prefix, *(path for module in packages for path in getattr(module, "__path__", ()))}


def _let_read(libc: ctypes.CDLL, ruleset: int, path: str) -> bool:
    """Add a rule for a file, or a folder and all below it; what is not there needs none."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        rights = _EXECUTE | _READ_FILE | _READ_FOLDER if Path(path).is_dir() else _READ_FILE
        rule = struct.pack("=Qi", rights, place)
        return bool(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0) == 0)
    finally:
        os.close(place)


def _take_no_privileges() -> bool:
    """Promise to take no privileges by what is run (prctl(2)), which both ask for."""
    return bool(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)


def _filter(architecture: int, refused: tuple[int, ...]) -> bytes:
    """Return the program, eight bytes an instruction; a jump counts the instructions that it skips."""
    tests = [(_AT_LEAST, X32_BIT), *((_EQUAL, number) for number in refused)]
    to_refusal = len(tests) + 2  # from the first jump: the load, the tests, and the return that allows
    lines = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 0, to_refusal, architecture), (_LOAD, 0, 0, _NUMBER_AT)]
    lines += [(kind, len(tests) - place, 0, value) for place, (kind, value) in enumerate(tests)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)

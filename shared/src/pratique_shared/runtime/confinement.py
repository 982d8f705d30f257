"""Confinement: a process that reads what may be hostile gives up the network for good.

A seccomp filter (seccomp(2)) lets every system call through but those that make a socket or a ring of io_uring, which
could make one. It cannot be taken back and holds for whatever the process starts.
"""

import ctypes
import errno
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
# Of each machine: its audit architecture, and the numbers of socket, socketpair and io_uring_setup (asm/unistd.h).
MACHINES = {"x86_64": (0xC000003E, (41, 53, 425)), "aarch64": (0xC00000B7, (198, 199, 425))}
X32_BIT = 0x40000000  # the other ABI of x86-64, whose numbers would pass by

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF: load a word, compare and jump, return
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # struct seccomp_data


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
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def _filter(architecture: int, refused: tuple[int, ...]) -> bytes:
    """Return the program, eight bytes an instruction; a jump counts the instructions that it skips."""
    tests = [(_AT_LEAST, X32_BIT), *((_EQUAL, number) for number in refused)]
    to_refusal = len(tests) + 2  # from the first jump: the load, the tests, and the return that allows
    lines = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 0, to_refusal, architecture), (_LOAD, 0, 0, _NUMBER_AT)]
    lines += [(kind, len(tests) - place, 0, value) for place, (kind, value) in enumerate(tests)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)

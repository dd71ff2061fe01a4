"""Starts a child in a session of its own, with an environment and descriptors that are given.

`subprocess.Popen` costs more than twice what the start itself does, for each unit. So the call that
it makes in the end is made here; where that is not as we know it, or a start fails, Popen has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

_fork_exec: Callable[..., int] | None
try:
    from _posixsubprocess import fork_exec as _fork_exec
except ImportError:
    _fork_exec = None

_FIRST_FREE = 3
"""The lowest descriptor that is none of stdin, stdout and stderr."""
_ENCODING = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def spawn(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], stdout: int, stderr: int
) -> int:  # fmt: skip
    """Start a program and give its number; it has been executed by then.

    The child has exactly `env`, the null device as stdin, and no descriptor but its three. Raises
    OSError and ValueError as `subprocess.Popen` does. Who calls reaps it.
    """
    pid = _spawn_directly(argv, cwd, env, stdout, stderr)
    return _spawn_by_popen(argv, cwd, env, stdout, stderr) if pid is None else pid


def _spawn_by_popen(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], stdout: int, stderr: int
) -> int:  # fmt: skip
    child = subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        close_fds=True,
    )
    child.returncode = 0  # only so that Popen does not look for it
    return child.pid


def _spawn_directly(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], stdout: int, stderr: int
) -> int | None:  # fmt: skip
    """None where Popen is to have it: to start the child, or to say why that cannot be."""
    if _fork_exec is None:
        return None
    sys.audit("subprocess.Popen", argv[0], argv, cwd, env)
    descriptors = [os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)]
    pid = 0
    try:
        descriptors += os.pipe()
        null, told, telling = descriptors
        if min(*descriptors, stdout, stderr) < _FIRST_FREE:
            return None
        try:
            # A child that could not be executed writes why into the last pipe. The constants: own
            # session, no group, ids, mask or function of its own, vfork as subprocess has it.
            pid = _fork_exec(
                argv, _places(argv[0], env), True, (telling,), cwd, _encoded(env),
                null, -1, -1, stdout, -1, stderr, told, telling,
                True, True, -1, None, None, None, -1, None,
                getattr(subprocess, "_USE_VFORK", True),
            )  # fmt: skip
        except TypeError:  # another version of Python takes other arguments
            return None
        os.close(descriptors.pop())
        failed = bool(os.read(told, 1))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    if failed:
        os.waitpid(pid, 0)
    return None if failed else pid


def _places(program: str, env: Mapping[str, str]) -> tuple[bytes, ...]:
    """Where the program may be, as execvpe(3) looks for it."""
    if "/" in program:
        return (os.fsencode(program),)
    folders = os.get_exec_path(env)
    return tuple(os.fsencode(os.path.join(folder, program)) for folder in folders)  # noqa: PTH118


def _encoded(env: Mapping[str, str]) -> list[bytes]:
    if any("=" in name for name in env):
        raise ValueError("illegal environment variable name")
    return [f"{name}={value}".encode(*_ENCODING) for name, value in env.items()]

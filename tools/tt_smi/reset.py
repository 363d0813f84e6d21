# SPDX-License-Identifier: Apache-2.0
"""Resets. What runs on a chip that is reset ends with an error in its process, and its memory is free.

A mesh runs as one: with one of its chips, all are reset.
"""

from __future__ import annotations

import platform
import re
import sys
import time
from collections.abc import Callable, Sequence

from .machine import Chip, Machine, SmiError, discover, runtime

WAIT = 2.0  # seconds in which a process that runs something is expected to end it
HOSTS = ("localhost", "127.0.0.1", "::1")


def answer(prompt: str) -> str:
    """
    Raises:
        SmiError: the input ends here.
    """
    try:
        return input(prompt)
    except EOFError:
        print()
        raise SmiError("nothing was entered; nothing is reset") from None


def numbers_in(text: str, known: Sequence[int], what: str) -> list[int]:
    """Returns the entered numbers, in order; all for "all".

    Raises:
        SmiError: one that there is none of, or something else.
    """
    if text.strip().lower() == "all":
        return list(known)
    found = []
    for word in re.split(r"[\s,]+", text.strip()):
        if not re.fullmatch(r"\d{1,9}", word):
            raise SmiError(f"{word!r} is no {what}; expected numbers like 0, 2, or all")
        if int(word) not in known:
            span = f"{known[0]} to {known[-1]}" if len(known) > 1 else f"{known[0]} alone"
            raise SmiError(f"there is no {what} {word}; there is {span}")
        found.append(int(word))
    return sorted(set(found))


def show(chips: Sequence[Chip]) -> None:
    for chip in chips:
        who = f"process {chip.process.number}: {chip.process.command}" if chip.process else "idle"
        print(f"{chip.index:4}  {chip.board:8} {chip.arch:12} chip {list(chip.place)}  {who[:80]}")


def warm_reset() -> int:
    """Asks which chips, and resets them."""
    machine = discover()
    print("Devices:")
    show(machine.chips)
    known = [chip.index for chip in machine.chips]
    chosen = numbers_in(answer("Indices of the devices to reset (0, 2, or all): "), known, "device")
    return reset([machine.chips[i] for i in chosen], lambda chip: f"device {chip.index}")


def reset_targets(targets: Sequence[str]) -> int:
    """Resets the chips of these indices, all of them without any.

    Raises:
        SmiError: a target is no index of a chip.
    """
    machine = discover()
    known = [chip.index for chip in machine.chips]
    chosen = numbers_in(" ".join(targets) or "all", known, "device")
    return reset([machine.chips[i] for i in chosen], lambda chip: f"device {chip.index}")


def list_devices() -> int:
    """Prints the chips, a line each."""
    show(discover().chips)
    return 0


def boards(machine: Machine) -> list[list[Chip]]:
    """Returns the meshes, each with its chips."""
    found: dict[tuple[int, int], list[Chip]] = {}
    for chip in machine.chips:
        found.setdefault(chip.key[:2], []).append(chip)
    return list(found.values())


def mobo_reset() -> int:
    """Asks for a mobo and its ports, and resets all chips behind them. The host is the only mobo; meshes are its
    boards, each at a port."""
    host = answer("Host name of the mobo: ").strip()
    if host.lower() not in (*HOSTS, platform.node().lower()):
        raise SmiError(f"there is no mobo {host!r}; simulated chips are on this host ({platform.node()}, localhost)")
    machine = discover()
    meshes = boards(machine)
    for port, chips in enumerate(meshes):
        print(f"port {port}:")
        show(chips)
    chosen = numbers_in(answer("Ethernet ports (0, 2, or all): "), range(len(meshes)), "port")
    ports = {chip.key[:2]: port for port, chips in enumerate(meshes) for chip in chips}
    return reset([meshes[port][0] for port in chosen], lambda chip: f"port {ports[chip.key[:2]]}")


def reset(chips: Sequence[Chip], name: Callable[[Chip], str]) -> int:
    """Resets the meshes of chips, and says what came of it. Returns the exit code."""
    failed = False
    done: set[tuple[int, int]] = set()
    for chip in chips:
        if chip.process is None:
            print(f"{name(chip)}: idle: no process has it open, and there is nothing to reset")
            continue
        mesh = chip.key[:2]
        if mesh in done:
            print(f"{name(chip)}: reset with its mesh")
            continue
        done.add(mesh)
        process = f"process {chip.process.number} ({chip.process.command[:60]})"
        try:
            runtime.request_reset(chip.process.number, chip.device)
        except RuntimeError as error:
            print(f"tt-smi: {name(chip)}: {process} closed it meanwhile, or may not be told: {error}", file=sys.stderr)
            failed = True
            continue
        size = chip.mesh[0] * chip.mesh[1]
        with_mesh = f" with its mesh of {chip.mesh[0]}x{chip.mesh[1]} chips" if size > 1 else ""
        if has_gone(mesh):
            print(f"{name(chip)}: reset{with_mesh}; what ran on it in {process} has ended")
        else:
            print(f"{name(chip)}: reset{with_mesh} is requested; {process} runs nothing on it now, and gets an "
                  "error when it wants to")  # fmt: skip
    return 1 if failed else 0


def has_gone(mesh: tuple[int, int]) -> bool:
    """Returns whether its process has closed a mesh; waits for a moment."""
    end = time.monotonic() + WAIT
    while True:
        if not any((m.process, m.device) == mesh for m in runtime.published_meshes()[0]):
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.02)

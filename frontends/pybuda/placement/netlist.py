# SPDX-License-Identifier: Apache-2.0
"""The netlist: devices, queues, graphs, programs and fused ops, as YAML. The same placement gives the same text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..capture.functions import plain
from ..tenstorrent.chip import Chip
from .graph import Op, Queue
from .memory import Layout
from .place import Epoch, Placed

ORDER = ("input", "output", "intermediate", "parameter", "constant", "gradient", "state", "e2e", "buffering")


def text_of(value: Any) -> str:
    """Returns a value in YAML's flow style."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {text_of(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return str(value)


PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null"})


def key(name: str) -> str:
    """Returns a name as YAML takes it for text."""
    return name if PLAIN.fullmatch(name) and name.lower() not in WORDS else json.dumps(name)


def hexadecimal(places: Iterable[tuple[int, int]]) -> str:
    return "[" + ", ".join(f"[{channel}, {address:#x}]" for channel, address in places) + "]"


def queue_line(layout: Layout, order: str, alias: str) -> str:
    queue = layout.queue
    fields = {
        "input": key(queue.producer.name) if queue.producer is not None else "HOST",
        "type": "ram" if queue.is_ram else "queue",
        "entries": queue.entries, "grid_size": layout.grid, "t": layout.t, "mblock": layout.mblock,
        "ublock": layout.ublock, "ublock_order": order, "df": queue.df.name, "target_device": layout.chip,
        "loc": "host" if layout.on_host else "dram",
    }  # fmt: skip
    if alias:
        fields["alias"] = key(alias)
    memory = "host" if layout.on_host else "dram"
    return f"{{{', '.join(f'{k}: {text_of(v)}' for k, v in fields.items())}, {memory}: {hexadecimal(layout.places)}}}"


def op_lines(placed: Placed, fused: Mapping[Op, int]) -> list[str]:
    op, m = placed.op, placed.model
    r, c = m.grid
    head: dict[str, Any] = {
        "type": op.type, "grid_loc": (placed.row, placed.column), "grid_size": (r, c),
        "inputs": [key(x.source.name) for x in op.operands],
    }  # fmt: skip
    if placed.turned:
        head["grid_transpose"] = True
    blocks: dict[str, Any] = {
        "t": m.t, "mblock": m.mblock, "ublock": m.ublock, "buf_size_mb": 2 if m.direction or m.t == 1 else 2 * m.t,
        "input_buf_min_size_tiles": m.input_tiles, "ublock_order": m.direction if m.direction in ("r", "c") else "r",
        "in_df": [(x.df or x.source.df).name for x in op.operands], "out_df": op.df.name,
        "intermed_df": op.intermed_df.name, "acc_df": op.acc_df.name, "math_fidelity": op.fidelity,
    }  # fmt: skip
    attributes: dict[str, Any] = {k: v for k, v in op.attributes.items() if v != "" and k not in ("conv",)}
    if op.inner:
        attributes.update(m_k=m.m_k, u_kt=m.u_kt)
    if op in fused:
        attributes["fused_op_id"] = fused[op]
    if m.in_l1:
        attributes["prologue_inputs"] = list(m.in_l1)
    lines = [
        f"    {key(op.name)}: {{{', '.join(f'{k}: {text_of(v)}' for k, v in head.items())},",
        f"         {', '.join(f'{k}: {text_of(v)}' for k, v in blocks.items())}",
    ]
    for number, operand in enumerate(op.operands):
        if operand.tms:
            lines[-1] += ","
            lines.append(f"         input_{number}_tms: [{', '.join(operand.tms)}]")
    if attributes:
        lines[-1] += ","
        lines.append(f"         attributes: {text_of(attributes)}")
    lines[-1] += "}"
    return lines


def program(epochs: Sequence[Epoch], layouts: Mapping[Queue, Layout]) -> list[str]:
    """Returns the program of one epoch type: its epochs in order, in a loop over inputs."""
    of_op = {x.op: number for number, epoch in enumerate(epochs) for x in epoch.placed}
    result: dict[int, list[str]] = {}
    for queue in layouts:
        if queue.kind == "e2e" and queue.producer in of_op:
            result.setdefault(of_op[queue.producer], []).append(key(queue.name))
    own = {name for group in result.values() for name in group}
    read = [read_queues(epoch) for epoch in epochs]
    last = {key(queue.name): number for number, group in enumerate(read) for queue in group}
    done: dict[int, list[str]] = {}
    for name, number in last.items():
        if name in own:
            done.setdefault(number, []).append(name)
    pointers: dict[str, int] = {}
    body: list[str] = []
    for number, epoch in enumerate(epochs):
        if number in result:
            body.append(f"    -   allocate_queue: [{', '.join(result[number])}]")
        held = {x.op.operands[n].source for x in epoch.placed for n in x.model.in_l1}
        settings = []
        for queue in read[number]:
            name = plain(queue.name)
            if not queue.is_ram:
                pointers[name] = 2 * queue.entries
            local, shared = ("$c_zero", "$c_zero") if queue.is_ram else (f"$lptr_{name}", f"$gptr_{name}")
            settings.append(
                f"             {key(queue.name)}: {{prologue: {text_of(queue in held)}, epilogue: false, zero: False, "
                f"rd_ptr_local: {local}, rd_ptr_global: {shared}}}"
            )
        body.append(f"    -   execute: {{graph_name: {epoch.name}, queue_settings: {{")
        body.append(",\n".join(settings) + "}}")
        if number in done:
            body.append(f"    -   deallocate_queue: [{', '.join(done[number])}]")
    lines = [f"  - run_{epochs[0].type}_0:", "    - param: [$p_loop_count]", "    - var: {$c_one: 1, $c_zero: 0}"]
    if pointers:
        lines.append(f"    - staticvar: {{{', '.join(f'$lptr_{n}: 0, $gptr_{n}: 0' for n in pointers)}}}")
    lines += ["    - loop: $p_loop_count", *body]
    for name, wrap in pointers.items():
        lines += [f"    -   varinst: [${which}_{name}, incwrap, $c_one, {wrap}]" for which in ("gptr", "lptr")]
    return [*lines, "    - endloop"]


def read_queues(epoch: Epoch) -> list[Queue]:
    """Returns the queues that an epoch reads, in order."""
    found: dict[Queue, None] = {}
    for placed in epoch.placed:
        for operand in placed.op.operands:
            if isinstance(operand.source, Queue):
                found[operand.source] = None
    return list(found)


def fused_lines(number: int, placed: Placed) -> list[str]:
    op, m = placed.op, placed.model
    inside = {part: f"intermed{i}" for i, part in enumerate(op.parts[:-1])}
    lines = [
        f"  {number}:", f"    inputs: {len(op.operands)}", f"    intermediates: {len(inside)}", "    schedules:",
        "      -",
    ]  # fmt: skip
    given = 0
    for part in op.parts:
        inputs = []
        for operand in part.operands:
            if isinstance(operand.source, Op) and operand.source in inside:
                inputs.append(inside[operand.source])
            else:
                inputs.append(f"input{given}")
                given += 1
        output = inside.get(part, "output")
        lines.append(
            f"        - {key(part.name)}: {{type: {part.type}, inputs: {text_of(inputs)}, mblock: {text_of(m.mblock)}, "
            f"ublock: {text_of(m.ublock)}, output: {output}}}"
        )
    return lines


def netlist(
    name: str, chip: Chip, epochs: Sequence[Epoch], layouts: Mapping[Queue, Layout], loopback: Mapping[str, str]
) -> str:
    """Returns the text of the netlist. loopback: for queues of outputs the input whose memory they are."""
    fused = {x.op: x for epoch in epochs for x in epoch.placed if x.op.parts}
    numbers = {op: i for i, op in enumerate(fused)}
    weights: set[Queue] = {
        operand.source
        for epoch in epochs for x in epoch.placed if x.op.is_matmul
        for operand in x.op.operands[1:2] if isinstance(operand.source, Queue)
    }  # fmt: skip
    lines = [f"# {json.dumps(name)[1:-1]}", "devices:", f"  arch: {chip.arch.name.lower()}", "", "queues:"]
    width = max((len(q.name) for q in layouts), default=0)
    for kind in ORDER:
        group = [x for q, x in layouts.items() if q.kind == kind]
        if group:
            lines += ["", f"  # {kind}"]
        for layout in group:
            q = layout.queue
            line = queue_line(layout, "c" if q in weights else "r", loopback.get(q.name, ""))
            lines.append(f"  {key(q.name)}: {'':{width - len(q.name)}}{line}")
    # Nothing is computed of modules whose results are their inputs.
    lines += ["", "graphs:" if epochs else "graphs: {}"]
    for epoch in epochs:
        lines += [f"  {epoch.name}:", f"    target_device: {epoch.chip}", "    input_count: 1"]
        for placed in epoch.placed:
            lines += op_lines(placed, numbers)
        lines.append("")
    lines.append("programs:" if epochs else "programs: []")
    for kind in dict.fromkeys(epoch.type for epoch in epochs):
        lines += program([e for e in epochs if e.type == kind], layouts)
        lines.append("")
    if fused:
        lines.append("fused_ops:")
        for op, placed in fused.items():
            lines += fused_lines(numbers[op], placed)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"

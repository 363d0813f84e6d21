# SPDX-License-Identifier: Apache-2.0
"""The screens of the performance analyzer."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable, Input, Static

from pybuda.tools.performance import Epoch, OpTime, Performance

NAME = 50  # characters of a name that is shortened
LOW = 0.3  # utilization below it is marked
BAD, GOOD = "bold red", "green"

SUMMARY_HELP = """Summary: one line for each epoch.

cycles         pipeline stage cycles: the cycles of the slowest op
speed          inputs a second that this epoch is processing
util           math utilization of the pipeline of this epoch, in the steady state
mm cores       cores that matrix multiplications take
balancer util  as util, by the op speeds that the compiler estimated: how well the balancer did with what it knew

Overall figures are of the slowest ops: filling pipelines, launching epochs and what the host takes are not in them."""
EPOCH_HELP = """Epoch: one line for each op, the slowest one first.

est            the compiler's own estimate of the op's cycles
kernel         cycles of the kernel if its data were always there
bw_kernel      cycles with the data that come and go: what the op takes
bw problem     what the op waits for
util           math utilization of the op's cores in this epoch
in/out req     bytes a cycle that the kernel needs to run at full speed
in/out act     bytes a cycle that there are
u_kt, m_k      tiles of the inner dimension at a time, and how many times; red: partial sums are spilled at each tile"""
KEYS = "N next  P previous  E epoch number  S summary  F full names  H help  arrows scroll  Q quit"


def figure(value: float | None, digits: int = 1) -> str:
    return "N/A" if value is None else f"{value:,.{digits}f}"


def share(value: float | None) -> Text:
    if value is None:
        return Text("N/A")
    return Text(f"{value:.1%}", BAD if value < LOW else GOOD if value > 2 * LOW else "")


SUMMARY: tuple[tuple[str, Callable[[Performance, Epoch], Text | str]], ...] = (
    ("epoch", lambda p, e: str(e.number)),
    ("name", lambda p, e: e.name),
    ("chips", lambda p, e: ", ".join(map(str, e.chips))),
    ("ops", lambda p, e: str(len(e.ops))),
    ("cycles", lambda p, e: f"{e.cycles:,}"),
    ("speed", lambda p, e: figure(p.speed(e), 0)),
    ("util", lambda p, e: share(e.utilization)),
    ("mm cores", lambda p, e: str(e.matmul_cores)),
    ("balancer util", lambda p, e: share(e.balancer_utilization)),
)
OPS: tuple[tuple[str, Callable[[Epoch, OpTime], Text | str]], ...] = (
    ("type", lambda e, op: op.type),
    ("grid", lambda e, op: f"{op.grid[0]}x{op.grid[1]}"),
    ("est", lambda e, op: "N/A" if op.est is None else f"{op.est:,}"),
    ("kernel", lambda e, op: f"{op.kernel:,}"),
    ("bw_kernel", lambda e, op: Text(f"{op.bw_kernel:,}", "bold" if op.bw_kernel == e.cycles else "")),
    ("bw problem", lambda e, op: Text(op.problem, BAD if op.problem else "")),
    ("util", lambda e, op: share(op.kernel / e.cycles if e.cycles else None)),
    ("in req", lambda e, op: figure(op.in_required, 2)),
    ("in act", lambda e, op: figure(op.in_actual, 2)),
    ("out req", lambda e, op: figure(op.out_required, 2)),
    ("out act", lambda e, op: figure(op.out_actual, 2)),
    ("fidelity", lambda e, op: op.fidelity),
    ("t", lambda e, op: str(op.t)),
    ("mblock", lambda e, op: "x".join(map(str, op.mblock))),
    ("ublock", lambda e, op: "x".join(map(str, op.ublock))),
    ("u_kt", lambda e, op: "" if op.u_kt is None else Text(str(op.u_kt), BAD if op.has_small_u_kt else "")),
    ("m_k", lambda e, op: "" if op.m_k is None else str(op.m_k)),
)


def shortened(name: str) -> str:
    """Returns the ends of a name, which tell most."""
    return name if len(name) <= NAME else name[: NAME // 3] + "…" + name[-(NAME - NAME // 3 - 1) :]


class PerfTables(App[None]):
    """at: the epoch that is shown, None for the summary."""

    TITLE = "Perf Analyzer"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #top { height: auto; padding: 0 1; background: $panel; }
    DataTable { height: 1fr; scrollbar-size: 1 1; }
    DataTable > .datatable--cursor { background: $panel; color: $foreground; text-style: none; }
    DataTable > .datatable--fixed { background: $background; color: $foreground; }
    DataTable > .datatable--fixed-cursor { background: $panel; color: $foreground; }
    #help { height: auto; border: round $primary; padding: 0 1; }
    #jump { height: 3; }
    #keys { height: auto; padding: 0 1; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("n,N", "move(1)"), ("p,P", "move(-1)"), ("e,E", "ask"), ("s,S,home", "summary"), ("f,F", "names"),
        ("h,H", "help"), ("q,Q,ctrl+c", "quit"), ("escape", "close_jump"),
    ]  # fmt: skip

    def __init__(self, performance: Performance) -> None:
        super().__init__()
        self.performance = performance
        self.at: int | None = None
        self.full_names = False

    def compose(self) -> ComposeResult:
        yield Static(id="top")
        yield DataTable(zebra_stripes=True, cursor_type="row", cursor_foreground_priority="renderable", fixed_columns=1)
        yield Static(id="help")
        yield Input(placeholder="epoch number", id="jump")
        yield Static(KEYS, id="keys")

    def on_mount(self) -> None:
        self.query_one("#help").display = self.query_one("#jump").display = False
        self.draw()
        self.query_one(DataTable).focus()

    def draw(self) -> None:
        p, table = self.performance, self.query_one(DataTable)
        epoch = None if self.at is None else p.epochs[self.at]
        head = Text.assemble((p.netlist, "bold"), f" ({p.arch}, {p.clock:g} GHz): {p.inputs_per_second:,.0f} inputs/s, "
                             f"utilization {p.utilization:.1%}, {p.cycles:,} cycles")  # fmt: skip
        if epoch is not None:
            place = f"\nepoch {epoch.number} ({epoch.name}), {self.at + 1} of {len(p.epochs)}: "  # type: ignore[operator]
            head += Text(place + f"{epoch.cycles:,} cycles, {p.speed(epoch):,.0f} inputs/s, utilization ")
            head += share(epoch.utilization)
        self.query_one("#top", Static).update(head)
        table.clear(columns=True)
        if epoch is None:
            table.add_columns(*(name for name, _ in SUMMARY))
            for each in p.epochs:
                table.add_row(*(value(p, each) for _, value in SUMMARY))
        else:
            table.add_columns("op", *(name for name, _ in OPS))
            for op in sorted(epoch.ops, key=lambda op: (-op.bw_kernel, op.name)):
                name = op.name if self.full_names else shortened(op.name)
                table.add_row(name, *(value(epoch, op) for _, value in OPS))
        self.query_one("#help", Static).update(SUMMARY_HELP if epoch is None else EPOCH_HELP)

    def show(self, at: int | None) -> None:
        self.at = at
        self.draw()

    def action_move(self, step: int) -> None:
        """Moves between epochs; before the first is the summary, after the last nothing."""
        before = -1 if self.at is None else self.at
        at = min(max(before + step, -1), len(self.performance.epochs) - 1)
        self.show(None if at < 0 else at)

    def action_summary(self) -> None:
        self.show(None)

    def action_names(self) -> None:
        self.full_names = not self.full_names
        self.draw()

    def action_help(self) -> None:
        helper = self.query_one("#help")
        helper.display = not helper.display

    def action_ask(self) -> None:
        jump = self.query_one("#jump", Input)
        jump.value = ""
        jump.display = True
        jump.focus()

    def action_close_jump(self) -> None:
        self.query_one("#jump").display = False
        self.query_one(DataTable).focus()

    @on(Input.Submitted)
    def jump(self, event: Input.Submitted) -> None:
        numbers = {str(epoch.number): i for i, epoch in enumerate(self.performance.epochs)}
        self.action_close_jump()
        if event.value.strip() in numbers:
            self.show(numbers[event.value.strip()])
        else:
            known = list(numbers)
            self.notify(f"there is no epoch {event.value!r}; there are {known[0]} to {known[-1]}", severity="error")

    @on(DataTable.RowSelected)
    def open_epoch(self, event: DataTable.RowSelected) -> None:
        if self.at is None:
            self.show(event.cursor_row)

# SPDX-License-Identifier: Apache-2.0
"""The live display: three tabs over the chips, and boxes about the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.color import Color
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.filter import LineFilter
from textual.theme import Theme
from textual.widgets import DataTable, Static, TabbedContent, TabPane
from ttrt.output import size
from ttrt.usage import version

from .host import compatibility, firmware, host_info
from .machine import Chip, Machine, SmiError, discover
from .records import Dump, default_dump, default_snapshot, save_snapshot, snapshot
from .telemetry import FIELDS, Averages, Reading, Sampler

INFO, TELEMETRY, FIRMWARE = "info", "telemetry", "firmware"
# What timers draw into.
DRAWN = (*(f"{name}-table" for name in (INFO, TELEMETRY, FIRMWARE)), "problems", "clock", "host", "compatibility")
REDRAW = 0.1  # seconds: the least between two drawings, however often chips are read
KEYS = (
    ("1", "Info"), ("2", "Telemetry"), ("3", "Firmware"), ("t", "Sidebar"), ("w", "Limits"), ("v", "Average"),
    ("s", "Snapshot"), ("d", "Dump"), ("h", "Help"), ("q", "Quit"),
)  # fmt: skip
HELP = (
    ("1", "Open device info tab"), ("2", "Open device telemetry tab"), ("3", "Open device firmware tab"),
    ("t", "Toggle left sidebar"), ("h", "Toggle helper menu"), ("w", "Toggle view of telemetry limits"),
    ("v", "Toggle view of telemetry average"), ("s", "Take snapshot"), ("d", "Start/Stop telemetry dump"),
    ("q", "Quit"),
)  # fmt: skip

# Colours of the two themes: of light text for dark backgrounds, and of dark text for light ones.
THEMES = {
    "default": Theme(name="default", primary="#f4c75f", secondary="#7bb7a8", accent="#f4c75f", foreground="#e8e6e1",
                     background="#10141a", surface="#171c24", panel="#202733", success="#7fd08a", warning="#f5d547",
                     error="#ef6f6c", dark=True),
    "dark": Theme(name="dark", primary="#7a4b00", secondary="#1d5c4d", accent="#7a4b00", foreground="#1b1f24",
                  background="#ffffff", surface="#f5f5f2", panel="#e7e7e1", success="#1f6f2b", warning="#8a5a00",
                  error="#a3201c", dark=False),
}  # fmt: skip


class NoColor(LineFilter):
    """Text without colours. What was marked by a background is reversed."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(text, _colorless(style), control) for text, style, control in segments]


def _colorless(style: Style | None) -> Style | None:
    if style is None:
        return None
    return Style(bold=style.bold, underline=style.underline, reverse=style.reverse or "cursor" in (style.meta or {}))


def place_text(chip: Chip) -> str:
    return f"[{chip.place[0]}, {chip.place[1]}]"


def of_memory(name: str) -> Callable[[Chip], str]:
    def text(chip: Chip) -> str:
        memory = chip.memories[name]
        return f"{size(memory.used)} / {size(memory.total)}"

    return text


# What the first tab says of a chip.
INFO_COLUMNS: tuple[tuple[str, Callable[[Chip], str]], ...] = (
    ("#", lambda chip: str(chip.index)),
    ("Board", lambda chip: chip.board),
    ("Chip", lambda chip: f"{chip.arch} {place_text(chip)}"),
    ("Status", lambda chip: chip.status),
    ("DRAM", of_memory("DRAM")),
    ("L1", of_memory("L1")),
    ("PID", lambda chip: str(chip.process.number) if chip.process else "-"),
    ("Command", lambda chip: chip.process.command[:120] if chip.process else "-"),
    ("User", lambda chip: chip.process.user if chip.process else "-"),
    ("Ops run", lambda chip: f"{chip.work.ops:,}"),
    ("Cores", lambda chip: str(chip.memories["L1"].banks)),
    ("DRAM status", lambda chip: f"{chip.memories['DRAM'].banks} channels good"),
    ("PCIe link", lambda chip: "N/A"),
)


class LiveDisplay(App[None]):
    """source: says which chips there are. color: without it, text alone."""

    TITLE = "Tenstorrent System Management Interface"
    CSS_PATH = "live.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        ("1", f"show('{INFO}')"), ("2", f"show('{TELEMETRY}')"), ("3", f"show('{FIRMWARE}')"),
        ("t", "sidebar"), ("h", "helper"), ("w", "limits"), ("v", "averages"), ("s", "snapshot"), ("d", "dump"),
        ("q", "quit"), ("ctrl+c", "quit"),
    ]  # fmt: skip

    def __init__(
        self, theme: str = "default", color: bool = True, interval: float = 0.5,
        source: Callable[[], Machine] = discover,
    ) -> None:  # fmt: skip
        super().__init__()
        for each in THEMES.values():
            self.register_theme(each)
        self.theme = theme
        if not color:
            self._filters.append(NoColor())
        self.interval, self.source = interval, source
        self.machine: Machine = Machine([])
        self.readings: Sequence[Reading] = []
        self.limits = self.averages = False
        self._sampler, self._means = Sampler(), Averages()
        self._dump: Dump | None = None
        self._drawn: dict[str, list[list[str]]] = {}

    #
    # What there is
    #

    def compose(self) -> ComposeResult:
        with Horizontal(id="header"):
            yield Static(f"TT-SMI {version()}", id="version")
            yield Static(self.TITLE, id="title")
            yield Static("", id="clock")
        with Horizontal(id="body"):
            with VerticalScroll(id="sidebar", can_focus=False):
                yield Static(id="host", classes="box")
                yield Static(id="compatibility", classes="box")
            with Vertical(id="main"):
                with TabbedContent(id="tabs"):
                    for name, title in ((INFO, "1 Device Info"), (TELEMETRY, "2 Telemetry"), (FIRMWARE, "3 Firmware")):
                        with TabPane(title, id=name):
                            yield DataTable(
                                id=f"{name}-table", zebra_stripes=True, cursor_type="row",
                                cursor_foreground_priority="renderable", fixed_columns=1 if name == TELEMETRY else 3,
                            )  # fmt: skip
                yield Static("", id="problems")
                yield Static("", id="helper", classes="box")
        yield Static(Text("  ").join(Text.assemble((key, "bold"), f" {what}") for key, what in KEYS), id="footer")

    def on_mount(self) -> None:
        for name, title in (("host", "Host Info"), ("compatibility", "Compatibility Check"), ("helper", "Keys")):
            self.query_one(f"#{name}").border_title = title
        helper = Text("\n").join(Text.assemble((f" {key}  ", "bold"), what) for key, what in HELP)
        self.query_one("#helper", Static).update(helper)
        self.query_one("#helper").display = False
        self.read()
        self.draw()
        self.set_interval(self.interval, self.read)
        self.set_interval(max(self.interval, REDRAW), self.draw)
        self.set_interval(1.0, self.draw_host)

    def read(self) -> None:
        self.machine = self.source()
        self.readings = self._sampler.read(self.machine.chips)
        self._means.add(self.machine.chips, self.readings)
        if self._dump:
            try:
                self._dump.read(self.machine)
            except SmiError as error:
                self._dump = None
                self.notify(str(error), severity="error", timeout=10)

    #
    # Drawing
    #

    def is_whole(self) -> bool:
        """Returns False while the display is being closed: timers still come then, and parts are gone."""
        return all(self.query(f"#{name}") for name in DRAWN)

    def draw(self) -> None:
        if not self.is_whole():
            return
        chips = self.machine.chips
        self._fill(
            INFO, [(name, "") for name, _ in INFO_COLUMNS], [[text(chip) for _, text in INFO_COLUMNS] for chip in chips]
        )
        self._draw_telemetry()
        facts = firmware()
        self._fill(FIRMWARE, [(name, "") for name in ("#", "Board", "Chip", *facts)],
                   [[str(c.index), c.board, f"{c.arch} {place_text(c)}", *facts.values()] for c in chips])  # fmt: skip
        problems = self.query_one("#problems", Static)
        problems.display = bool(self.machine.problems)
        problems.update(Text("\n".join(self.machine.problems)))
        self.query_one("#clock", Static).update(f"{datetime.now():%Y-%m-%d %H:%M:%S}")
        if not self._drawn.get("host"):
            self.draw_host()

    def draw_host(self) -> None:
        if not self.is_whole():
            return
        facts = host_info()
        wide = max(map(len, facts))
        host = Text("\n").join(Text.assemble((f"{name:{wide}} ", "bold"), text) for name, text in facts.items())
        self.query_one("#host", Static).update(host)
        checks = compatibility(self.machine)
        wide = max(len(check.name) for check in checks)
        success, error = (self.theme_variables[name] for name in ("success", "error"))
        self.query_one("#compatibility", Static).update(
            Text("\n").join(
                Text.assemble(
                    ("pass " if c.passed else "FAIL ", f"bold {success if c.passed else error}"),
                    (f"{c.name:{wide}} ", "bold"),
                    c.found,
                )
                for c in checks
            )
        )
        self._drawn["host"] = [list(facts)]

    def _draw_telemetry(self) -> None:
        """Draws a line for each value, a column for each chip, and columns for further requests."""
        limit = f"bold {self.theme_variables['warning']}"
        headings = [("", "bold")]
        columns = [[field.title for field in FIELDS]]
        for chip, reading in zip(self.machine.chips, self.readings, strict=True):
            headings.append((f"{chip.index}: {chip.board} {place_text(chip)}", ""))
            columns.append([field.text(value) for field, value in zip(FIELDS, reading, strict=True)])
            if self.averages:
                headings.append(("average", ""))
                columns.append([field.text(mean) for field, mean in zip(FIELDS, self._means.of(chip), strict=True)])
            if self.limits:
                headings.append(("limit", limit))
                most = [
                    None if value is None else field.limit(chip) for field, value in zip(FIELDS, reading, strict=True)
                ]
                columns.append(["" if x is None else field.text(x) for field, x in zip(FIELDS, most, strict=True)])
        self._fill(TELEMETRY, headings, [list(row) for row in zip(*columns, strict=True)])

    def _fill(self, name: str, headings: list[tuple[str, str]], rows: list[list[str]]) -> None:
        """Draws what has changed. headings: with the style of their columns."""
        table = self.query_one(f"#{name}-table", DataTable)
        shape = [[text for text, _ in headings], [str(len(rows))]]
        if self._drawn.get(f"{name}.shape") != shape:
            at = table.cursor_row
            table.clear(columns=True)
            for number, (text, _) in enumerate(headings):
                table.add_column(text, key=str(number))
            for number, row in enumerate(rows):
                table.add_row(*(Text(x, style) for x, (_, style) in zip(row, headings, strict=True)), key=str(number))
            table.move_cursor(row=min(at, max(len(rows) - 1, 0)))
            self._drawn[f"{name}.shape"] = shape
        else:
            for r, (row, older) in enumerate(zip(rows, self._drawn[name], strict=True)):
                for c, (text, old) in enumerate(zip(row, older, strict=True)):
                    if text != old:
                        cell = Text(text, headings[c][1])
                        table.update_cell(str(r), str(c), cell, update_width=len(text) > len(old))
        self._drawn[name] = rows

    #
    # Keys
    #

    def action_show(self, tab: str) -> None:
        self.query_one("#tabs", TabbedContent).active = tab

    @on(TabbedContent.TabActivated)
    def focus_table(self, event: TabbedContent.TabActivated) -> None:
        event.pane.query_one(DataTable).focus()

    def action_sidebar(self) -> None:
        sidebar = self.query_one("#sidebar")
        sidebar.display = not sidebar.display

    def action_helper(self) -> None:
        helper = self.query_one("#helper")
        helper.display = not helper.display

    def action_limits(self) -> None:
        self.limits = not self.limits
        self._draw_telemetry()

    def action_averages(self) -> None:
        self.averages = not self.averages
        self._draw_telemetry()

    def action_snapshot(self) -> None:
        path = default_snapshot()
        try:
            save_snapshot(path, snapshot(self.machine, self.readings))
        except SmiError as error:
            self.notify(str(error), severity="error", timeout=10)
        else:
            self.notify(f"saved {path}", title="Snapshot")

    def action_dump(self) -> None:
        try:
            if self._dump is None:
                self._dump = Dump(default_dump())
                self.notify(f"into {self._dump.folder}/; d stops it", title="Telemetry dump")
            else:
                folder = self._end_dump()
                self.notify(f"saved in {folder}/", title="Telemetry dump")
        except SmiError as error:
            self.notify(str(error), severity="error", timeout=10)

    def _end_dump(self) -> str:
        dump, self._dump = self._dump, None
        if dump is None:
            return ""
        dump.read(self.machine)
        dump.close()
        return str(dump.folder)

    def on_unmount(self) -> None:
        self._end_dump()

# SPDX-License-Identifier: Apache-2.0
"""Shows captures as lines of text, and as pictures in the language of Graphviz."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from .capture import Node


def pretty_format(captured_graph: Sequence[Node]) -> str:
    """Returns functions and what they allocate as lines, those inside of others further to the right.

    Raises:
        TypeError: the argument is no list of nodes, as end_graph_capture returns them.
    """
    lines, depth = [], 0
    if not isinstance(captured_graph, Sequence) or not all(isinstance(node, dict) for node in captured_graph):
        raise TypeError(f"ttnn.graph.pretty_format: captured_graph is {captured_graph!r:.80}; expected a list of nodes")
    for node in captured_graph:
        kind, params = node["node_type"], node["params"]
        if kind == "function_end":
            depth -= 1
        elif kind == "function_start":
            lines.append("  " * depth + f"{params['name']}({', '.join(node['arguments'])})")
            depth += 1
        elif kind in ("buffer_allocate", "buffer_deallocate"):
            lines.append("  " * depth + f"{kind} {params['type']} {params['size']} bytes at {params['address']}")
    return "\n".join(lines)


def pretty_print(captured_graph: Sequence[Node]) -> None:
    """Prints what pretty_format returns."""
    print(pretty_format(captured_graph))


class Digraph:
    """Holds nodes and edges of a picture; `source` is its text in the language of Graphviz."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 1

    def _add(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def node(self, name: str, label: str | None = None, **attributes: str) -> None:
        """Adds a node."""
        self._add(f"{_quoted(name)}{_attributes({'label': label, **attributes})}")

    def edge(self, tail: str, head: str, **attributes: str) -> None:
        """Adds an edge."""
        self._add(f"{_quoted(tail)} -> {_quoted(head)}{_attributes(attributes)}")

    @contextmanager
    def subgraph(self, name: str, **attributes: str) -> Iterator[Digraph]:
        """Puts nodes and edges that are added meanwhile into a box."""
        self._add(f"subgraph {_quoted(name)} {{")
        self._depth += 1
        for key, value in attributes.items():
            self._add(f"{key}={_quoted(value)}")
        yield self
        self._depth -= 1
        self._add("}")

    @property
    def source(self) -> str:
        """Returns the text of the picture."""
        return "\n".join(["digraph {", *self._lines, "}"]) + "\n"

    def render(self, filename: str | PathLike[str], format: str | None = None) -> str:
        """Writes the picture by Graphviz's program `dot`, and returns the name of its file.

        Raises:
            RuntimeError: there is no such program.
        """
        kind = format or Path(filename).suffix.removeprefix(".") or "pdf"
        target = Path(filename).with_suffix(f".{kind}")
        program = shutil.which("dot")
        if program is None:
            raise RuntimeError("ttnn.graph: pictures need the program `dot` of Graphviz")
        subprocess.run([program, f"-T{kind}", "-o", str(target)], input=self.source, text=True, check=True)
        return str(target)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _attributes(attributes: Mapping[str, str | None]) -> str:
    given = [f"{key}={_quoted(value)}" for key, value in attributes.items() if value is not None]
    return f" [{', '.join(given)}]" if given else ""


def visualize_node(graphviz_graph: Digraph, node: Node) -> None:
    """Adds a node of a capture to a picture: its type, and what it says."""
    lines = [f"{node['counter']}: {node['node_type']}", *(f"{key}: {value}" for key, value in node["params"].items())]
    shape = "box" if node["node_type"].startswith("function") else "ellipse"
    graphviz_graph.node(str(node["counter"]), label="\n".join(lines), shape=shape)


def visualize_edge(graphviz_graph: Digraph, source_node_id: int, sink_node_id: int) -> None:
    """Adds the connection of two nodes of a capture to a picture."""
    graphviz_graph.edge(str(source_node_id), str(sink_node_id))


def visualize(
    captured_graph: Sequence[Node],
    *,
    file_name: str | PathLike[str] | None = None,
    visualize_node: Callable[[Digraph, Node], None] = visualize_node,
    visualize_edge: Callable[[Digraph, int, int], None] = visualize_edge,
) -> Digraph:
    """Returns a picture of a capture: functions are boxes around what they do.

    Args:
        file_name: where `dot` writes the picture; ".gv" and ".dot" take its text.
        visualize_node, visualize_edge: add a node and an edge.
    Raises:
        RuntimeError: there is no program `dot`.
    """
    picture = Digraph()
    boxes: list[Any] = []
    for node in captured_graph:
        kind = node["node_type"]
        if kind == "function_start":
            boxes.append(picture.subgraph(f"cluster_{node['counter']}", label=node["params"]["name"]))
            boxes[-1].__enter__()
        visualize_node(picture, node)
        if kind == "function_end":
            boxes.pop().__exit__(None, None, None)
    for node in captured_graph:
        for sink in node["connections"]:
            visualize_edge(picture, node["counter"], sink)
    if file_name is not None and Path(file_name).suffix in (".gv", ".dot"):
        Path(file_name).write_text(picture.source)
    elif file_name is not None:
        picture.render(file_name)
    return picture

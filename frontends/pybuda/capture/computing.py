# SPDX-License-Identifier: Apache-2.0
"""How ops compute: with which fidelity and sums, where the user has said something of either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch.fx import Graph, Node
from ttmlir.torch.importer import OP_ATTRIBUTES, is_call

from ..config import CompilerConfig
from ..enums import BACKWARD, OPTIMIZER
from .formats import DataFormat, MathFidelity
from .functions import function_of, is_move, label_of, source_of
from .trace import Formats, Precision, last_said


def named(node: Node) -> tuple[str, str]:
    """Returns name and type of the op that a node is a part of; an op of PyTorch has no name."""
    name, kind = source_of(node)
    return name, kind or label_of(function_of(node))


def gradients(graph: Graph, trained: int) -> set[Node]:
    """Returns the nodes that compute the first results of a graph, behind what only moves or rounds elements."""
    (output,) = [node for node in graph.nodes if node.op == "output"]
    returned = output.args[0] if isinstance(output.args[0], Sequence) else [output.args[0]]
    found = set()
    for node in returned[:trained]:
        while isinstance(node, Node) and is_move(node):
            node = node.args[0]
        if isinstance(node, Node):
            found.add(node)
    return found


@dataclass(frozen=True)
class Computing:
    """The requested arithmetic of ops; without arguments, none is requested.

    rules: of ops, the last that fits holds. math_fidelity, accumulate_df: of all others; None if not set.
    """

    rules: tuple[Precision, ...] = ()
    math_fidelity: MathFidelity | None = None
    accumulate_df: DataFormat | None = None

    @classmethod
    def of(cls, formats: Formats, config: CompilerConfig) -> Computing:
        return cls(tuple(formats.rules), config.given("default_math_fidelity"), config.given("default_accumulate_df"))

    @property
    def is_exact(self) -> bool:
        """Returns whether anything was said that the chip's default arithmetic does not look at."""
        said: Sequence[object] = [x for rule in self.rules for x in (rule.math_fidelity, rule.accumulate_df)]
        return any(x is not None for x in (*said, self.math_fidelity, self.accumulate_df))

    def of_optimizer(self, amp_level: int) -> Computing:
        """Returns how steps of optimizers compute: with an amp_level steps of optimizers have Float32 and HiFi4, but
        for rules about these alone."""
        if not amp_level or not self.is_exact:
            return self
        rules = tuple(rule for rule in self.rules if rule.epoch_type == OPTIMIZER)
        return replace(self, rules=rules, math_fidelity=MathFidelity.HiFi4, accumulate_df=DataFormat.Float32)

    def setting(self, what: str, name: str, op_type: str, epoch_type: str, gradient: bool) -> Any:
        said = last_said(self.rules, what, name, op_type, epoch_type, gradient)
        return getattr(self, what) if said is None else said

    def config(self, name: str, op_type: str, epoch_type: str, gradient: bool = False) -> str | None:
        """Returns the config of an op as text; sums are f32, or bf16 for every other format."""
        fidelity = self.setting("math_fidelity", name, op_type, epoch_type, gradient)
        sums = self.setting("accumulate_df", name, op_type, epoch_type, gradient)
        parts = []
        if fidelity is not None:
            parts.append(f"math_fidelity = {fidelity.name.lower()}")
        if sums is not None:
            parts.append(f"fp32_dest_acc_en = {str(sums is DataFormat.Float32).lower()}")
        return f"#ttnn.device_compute_kernel_config<{', '.join(parts)}>" if parts else None

    def apply(self, graph: Graph, epoch_type: str, trained: int = 0) -> None:
        """Marks the nodes of a graph with their configs. Rounding to a format is the packer's, which has none.

        trained: of a backward graph, how many of its first results are gradients of parameters.
        """
        if not self.is_exact:
            return
        found = gradients(graph, trained) if epoch_type == BACKWARD else set()
        for node in graph.nodes:
            if not is_call(node) or function_of(node) == "round_to":
                continue
            if config := self.config(*named(node), epoch_type, node in found):
                node.meta.setdefault(OP_ATTRIBUTES, {})["ttcore.compute_config"] = config


AS_BY_DEFAULT = Computing()

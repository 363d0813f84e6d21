# SPDX-License-Identifier: Apache-2.0
"""The values that a forward graph keeps for its backward graph: weights and values, and no copies of their views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

# On a forward graph's output: the number of values that belong to the model. Later ones are for the backward graph.
MODEL_OUTPUTS = "tt_model_outputs"

aten = torch.ops.aten
# All elements of their operand.
WHOLE = frozenset({
    aten.alias.default, aten.detach.default, aten.permute.default, aten.squeeze.default, aten.squeeze.dim,
    aten.squeeze.dims, aten.t.default, aten.transpose.int, aten.unsqueeze.default, aten.view.default,
})  # fmt: skip
PARTS = frozenset({aten.select.int, aten.slice.Tensor})


def partition(
    joint: GraphModule,
    inputs: Any,
    *,
    num_fwd_outputs: int,
    static_lifetime_input_indices: Sequence[int] | None = None,
    recompute: bool = False,
) -> tuple[GraphModule, GraphModule]:
    """Returns PyTorch's default partition of a joint graph, but of a view that it keeps its base is kept.

    The backward graph takes the view again. A program that returns a view returns a copy of it: of weights at each
    step, and a second one of values that are kept themselves.

    recompute: the backward graph computes again what is cheap, so that less is kept: PyTorch's choice.
    """
    from functorch.compile import default_partition, min_cut_rematerialization_partition  # loads Dynamo

    weights = frozenset(f"primals_{i + 1}" for i in static_lifetime_input_indices or ())
    forward, backward = (min_cut_rematerialization_partition if recompute else default_partition)(
        joint, inputs, num_fwd_outputs=num_fwd_outputs, static_lifetime_input_indices=static_lifetime_input_indices
    )
    keep_bases(forward, backward, num_fwd_outputs, weights)
    return forward, backward


def base_of(node: Node, weights: Iterable[str]) -> tuple[Node, list[Node]]:
    """Returns what `node` is a view of, and the ops from it to `node`.

    Of parts only weights are bases, which are there anyway. What the graph writes has no longer the values of the view.
    """
    base, steps = node, list[Node]()
    while base.op == "call_function" and base.target in WHOLE | PARTS and base.all_input_nodes == [base.args[0]]:
        steps.append(base)
        base = base.all_input_nodes[0]
    is_weight = base.op == "placeholder" and str(base.target) in weights
    while steps and not is_weight and not all(step.target in WHOLE for step in steps):
        base = steps.pop()
    is_written = any(user.target is aten.copy_.default and user.args[0] is base for user in base.users)
    is_tensor = isinstance(base.meta.get("val"), torch.Tensor)
    return (base, steps[::-1]) if is_tensor and not is_written else (node, [])


def keep_bases(forward: GraphModule, backward: GraphModule, count: int, weights: frozenset[str]) -> None:
    """Gives the backward graph bases in place of the views that the forward graph returned.

    count: of the forward graph's outputs those that are not for the backward graph.
    """
    (output,) = [n for n in forward.graph.nodes if n.op == "output"]
    returned = list(output.args[0])
    descriptions = list(output.meta.get("desc") or [None] * len(returned))
    kept = [*zip(returned[:count], descriptions[:count], strict=True)]
    saved = [*zip(returned[count:], descriptions[count:], strict=True)]
    taken = {str(n.target): n for n in backward.graph.nodes if n.op == "placeholder"}
    body = next(n for n in backward.graph.nodes if n.op != "placeholder")
    for node, description in saved:
        base, steps = base_of(node, weights) if isinstance(node, Node) and node.name in taken else (node, [])
        if not steps:
            kept.append((node, description))
            continue
        view = taken.pop(node.name)
        if base.name not in taken:
            kept.append((base, description))
            with backward.graph.inserting_before(view):
                argument = taken[base.name] = backward.graph.placeholder(base.name)
            # Its name differs where an op of the backward graph has that one; code that FX writes renames arguments one
            # after the other, and would lose one that has the name of another.
            argument.target = argument.name
            argument.meta = {**base.meta, **{k: view.meta[k] for k in ("desc",) if k in view.meta}}
        now = taken[base.name]
        with backward.graph.inserting_before(body):
            for step in steps:
                result = backward.graph.node_copy(step, {step.args[0]: now}.__getitem__)
                now = result
        view.replace_all_uses_with(now)
        backward.graph.erase_node(view)
    output.args = (type(output.args[0])(node for node, _ in kept),)
    if "desc" in output.meta:
        output.meta["desc"] = [description for _, description in kept]
    output.meta[MODEL_OUTPUTS] = count
    forward.graph.eliminate_dead_code()
    forward.recompile()
    backward.recompile()

# SPDX-License-Identifier: Apache-2.0
"""Ensembles of decision trees: all rows go down all trees, one level a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import Refused
from ...registry import ML, Node, op
from ...values import F32, I32, Array, Value
from .models import (
    best,
    column,
    either,
    floats,
    labels_of,
    of_targets,
    refuse_strings,
    rows_of,
    transformed,
    two_scores,
)  # fmt: skip

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
DIRECTIONS = ("LE", "LT", "GE", "GT", "EQ", "NE")
MEMBER = 6
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
# Levels of trees that are steps of the program; deeper ones are a loop.
UNROLLED = 24
LARGEST_TABLE = 1 << 27


@dataclass
class Forest:
    """Nodes of all trees, by number; a leaf is its own child.

    features, splits, modes, missing: what is compared at a node, and whether NaN takes the first branch.
    children: [nodes, 2], the one for true first. roots: of the trees. votes: of each leaf, target and weight.
    sets: members of nodes that ask for them.
    """

    features: Array
    splits: Array
    modes: Array
    missing: Array
    children: Array
    roots: Array
    votes: list[tuple[int, int, float]]
    sets: dict[int, Array]

    def depth(self) -> int:
        """Returns the levels below the roots. Several branches may lead to one node, as converters write sets.

        Raises:
            Refused: a branch leads out of the nodes, or back.
        """
        count, level, nodes = 0, np.unique(self.roots), len(self.features)
        if ((self.children < 0) | (self.children >= nodes)).any() or ((level < 0) | (level >= nodes)).any():
            raise Refused("a branch leads to a node that does not exist")
        inner = self.children[:, 0] != np.arange(nodes)
        while True:
            level = level[inner[level]]
            if not level.size:
                return count
            if count == nodes:
                raise Refused("branches of a tree lead back to the same node")
            level = np.unique(self.children[level])
            count += 1


def paired(forest: Forest, depth: int) -> tuple[Forest, Array, Array]:
    """Returns the trees with both children of a node adjacent, the first child of each node, and each node's original
    index.

    A leaf that a row may reach before the last level leads to two copies of itself, so that any comparison stays there.
    """
    first: list[int] = []
    origin: list[int] = forest.roots.tolist()
    inner = (forest.children[:, 0] != np.arange(len(forest.features))).tolist()
    children = forest.children.tolist()
    copies: dict[int, int] = {}  # of leaves
    pairs: dict[int, int] = {}  # children of nodes, placed where the shortest way leads to
    levels = [0] * len(origin)
    while len(first) < len(origin):
        place = len(first)
        node, level = origin[place], levels[place]
        if level == depth:  # nothing is compared here any more
            first.append(place)
        elif not inner[node]:
            if node not in copies:
                copies[node] = len(origin)
                origin += [node, node]
                levels += [depth, depth]
            first.append(copies[node])
        elif node in pairs:
            first.append(pairs[node])
        else:
            pairs[node] = len(origin)
            first.append(len(origin))
            origin += children[node]
            levels += [level + 1, level + 1]
    was, begin = np.asarray(origin), np.asarray(first)
    for place in copies.values():
        begin[place : place + 2] = place
    result = Forest(
        np.where(inner, forest.features, 0)[was], forest.splits[was], forest.modes[was], forest.missing[was],
        np.stack([begin, begin + 1], 1), np.arange(len(forest.roots)), [],
        {i: forest.sets[node] for i, node in enumerate(origin) if node in forest.sets},
    )  # fmt: skip
    return result, begin, was


def leaves(g: Emitter, forest: Forest, x: Value) -> tuple[Value, Array]:
    """Returns the leaf of each row [n, features] in each tree, [n, trees], as places, and the node at each place."""
    count, width, trees = x.shape[0], x.shape[1], len(forest.roots)
    inner = forest.children[:, 0] != np.arange(len(forest.features))
    if inner.any() and (forest.features[inner].min() < 0 or forest.features[inner].max() >= width):
        raise Refused(f"X is {x!r}; expected {int(forest.features[inner].max()) + 1} features or more")
    depth = forest.depth()
    kinds = sorted(set(forest.modes[inner].tolist())) or [0]
    follows_missing = bool(forest.missing[inner].any())
    result, first, was = paired(forest, depth)
    flat = g.reshape(x, (count * width,))
    begin = g.mul(g.iota((count, 1), 0), g.full((), width, I32))
    # Where features have few bits, they share a word with the first child.
    bits = max(1, int(result.features.max(initial=0)).bit_length())
    shares = len(first) << bits < 2**31
    tables = {
        name: Value.of(np.ascontiguousarray(array))
        for name, array in {
            "node": ((first << bits) | result.features if shares else first).astype(np.int32),
            "feature": result.features.astype(np.int32),
            "split": result.splits.astype(np.float32),
            "mode": result.modes.astype(np.int32),
            "missing": result.missing.astype(np.int32),
        }.items()
    }
    members = member_tables(result) if MEMBER in kinds else None

    def look(name: str, where: Value) -> Value:
        return g.gather(tables[name], where, 0)

    def holds(kind: int, where: Value, number: Value, split: Value) -> Value:
        if kind != MEMBER:
            return g.compare(DIRECTIONS[kind], number, split)
        assert members is not None
        those = g.gather(Value.of(members[1]), g.gather(Value.of(members[0]), where, 0), 0)
        found = g.compare("EQ", g.expand_dims(number, 2), those)
        return g.reduce("or_", found, [2])

    def step(where: Value) -> Value:
        child = look("node", where)
        if shares:
            feature = g.binary(stablehlo.and_, child, g.full((), (1 << bits) - 1, I32))
            child = g.binary(stablehlo.shift_right_logical, child, g.full((), bits, I32))
        else:
            feature = look("feature", where)
        number = g.gather(flat, g.add(begin, feature), 0)
        split = look("split", where)
        taken = holds(kinds[0], where, number, split)
        if len(kinds) > 1:
            mode = look("mode", where)
            for kind in kinds[1:]:
                chosen = g.compare("EQ", mode, g.full((), kind, I32))
                taken = g.select(chosen, holds(kind, where, number, split), taken)
        if follows_missing:
            follows = g.binary(
                stablehlo.and_,
                g.compare("NE", number, number),
                g.compare("NE", look("missing", where), g.full((), 0, I32)),
            )
            taken = g.binary(stablehlo.or_, taken, follows)
        return g.add(child, g.select(taken, g.full((), 0, I32), g.full((), 1, I32)))

    where = g.broadcast(Value.of(result.roots.astype(np.int32).reshape(1, -1)), (count, trees))
    if depth <= UNROLLED:
        for _ in range(depth):
            where = step(where)
        return where, was
    end = g.full((), depth, I32)
    _, where = g.loop(
        [g.full((), 0, I32), where], lambda i, _: g.compare("LT", i, end),
        lambda i, at: [g.add(i, g.full((), 1, I32)), step(at)],
    )  # fmt: skip
    return where, was


def require_table(rows: int, columns: int, what: str) -> None:
    """
    Raises:
        Refused: a table would have more elements than any file of trees has reason for.
    """
    if columns < 1 or rows * columns > LARGEST_TABLE:
        raise Refused(f"{rows} x {columns} {what}; expected 1 to {LARGEST_TABLE} in all")


def member_tables(forest: Forest) -> tuple[Array, Array]:
    """Returns the row of each node in a table of sets, and the table, filled with NaN."""
    longest = max((len(x) for x in forest.sets.values()), default=1)
    require_table(len(forest.sets) + 1, max(1, longest), "members of sets")
    rows = np.zeros(len(forest.features), np.int32)
    table = np.full((len(forest.sets) + 1, max(1, longest)), np.nan, np.float32)
    for i, (node, numbers) in enumerate(sorted(forest.sets.items()), 1):
        rows[node] = i
        table[i, : len(numbers)] = numbers
    return rows, table


def weights_of(forest: Forest, targets: int, how: str) -> tuple[Array, Array]:
    """Returns the weight of each node for each target, [nodes, targets], and where there is one."""
    require_table(len(forest.features), targets, "weights for targets")
    neutral = {"MIN": np.inf, "MAX": -np.inf}.get(how, 0.0)
    table = np.full((len(forest.features), targets), neutral, np.float32)
    voted = np.zeros(table.shape, bool)
    for leaf, target, weight in forest.votes:
        if not 0 <= target < targets:
            raise Refused(f"a leaf votes for target {target}; expected one of {targets}")
        voted[leaf, target] = True
        if how == "MIN":
            table[leaf, target] = min(table[leaf, target], weight)
        elif how == "MAX":
            table[leaf, target] = max(table[leaf, target], weight)
        else:
            table[leaf, target] += weight
    return table, voted


def summed(
    g: Emitter, forest: Forest, found: tuple[Value, Array], targets: int, how: str, sparse: bool = False
) -> tuple[Value, Value | None]:
    """Returns the leaves' weights, together for each target, [n, targets]; and which targets had a vote.

    found: what `leaves` returns. sparse: the second result is requested; it is None where every target has votes.
    """
    where, was = found
    table, voted = weights_of(forest, targets, how)
    given = g.gather(Value.of(table[was]), where, 0)
    is_leaf = forest.children[:, 0] == np.arange(len(forest.features))
    seen = None
    if sparse and not voted[is_leaf].all():
        votes = g.gather(Value.of(voted[was].astype(np.float32)), where, 0)
        seen = g.compare("GT", g.reduce("maximum", votes, [1]), g.full((), 0, F32))
    if how in ("MIN", "MAX"):
        result = g.reduce("minimum" if how == "MIN" else "maximum", given, [1])
        nothing = g.compare("EQ", g.unary(stablehlo.abs, result), g.full((), np.inf, F32))
        return g.select(nothing, g.full((), 0, F32), result), seen
    result = g.reduce("add", given, [1])
    return (g.mul(result, g.full((), 1 / len(forest.roots), F32)) if how == "AVERAGE" else result), seen


def forest_of(node: Node, votes: str, ids: str) -> Forest:
    """Returns the trees of a node of versions 1 and 3. votes, ids: prefixes of what leaves have."""
    trees, numbers = (np.asarray(node.get(f"nodes_{name}", []), np.int64) for name in ("treeids", "nodeids"))
    count = len(trees)
    place = {key: i for i, key in enumerate(zip(trees.tolist(), numbers.tolist(), strict=True))}
    given = node.get("nodes_modes", [])
    lengths = {
        len(node.get(f"nodes_{n}", [])) for n in ("nodeids", "featureids", "truenodeids", "falsenodeids", "modes")
    }
    if lengths != {count} or not count or len(place) != count:
        raise Refused(f"the fields of {count} nodes have lengths {sorted(lengths)}, or several nodes one id")
    unknown = set(given) - {*MODES[:MEMBER], "LEAF"}
    if unknown:
        raise Refused(f"node mode {min(unknown)!r}; expected one of {', '.join(MODES[:MEMBER])}, LEAF")
    is_leaf = np.array([mode == "LEAF" for mode in given])
    modes = np.array([0 if mode == "LEAF" else MODES.index(mode) for mode in given])
    children = np.stack([np.arange(count)] * 2, 1)
    try:
        for i in np.flatnonzero(~is_leaf).tolist():
            for side, name in enumerate(("truenodeids", "falsenodeids")):
                children[i, side] = place[int(trees[i]), int(node.get(f"nodes_{name}")[i])]
    except KeyError as error:
        raise Refused(
            f"a branch leads to node {error.args[0][1]} of tree {error.args[0][0]}, which is missing"
        ) from None
    splits = floats(node, "nodes_values")
    if len(splits) != count:
        raise Refused(f"{len(splits)} nodes_values of {count} nodes")
    missing = np.asarray(node.get("nodes_missing_value_tracks_true") or np.zeros(count), np.int64)
    if len(missing) != count:
        raise Refused(f"{len(missing)} nodes_missing_value_tracks_true of {count} nodes")
    reached = np.zeros(count, bool)
    reached[children[~is_leaf].reshape(-1)] = True
    roots = np.flatnonzero(~reached)
    if (
        set(trees[roots].tolist()) != set(trees.tolist())
        or (children[~is_leaf] == np.flatnonzero(~is_leaf)[:, None]).any()
    ):
        raise Refused("branches of a tree lead back to the same node")
    return Forest(
        np.asarray(node.get("nodes_featureids"), np.int64), splits, modes, missing, children, roots,
        votes_of(node, votes, ids, place), {},
    )  # fmt: skip


def votes_of(node: Node, votes: str, ids: str, place: dict[tuple[int, int], int]) -> list[tuple[int, int, float]]:
    trees, nodes, targets = (node.get(f"{votes}_{name}", []) for name in ("treeids", "nodeids", "ids"))
    weights = floats(node, f"{votes}_weights")
    if len({len(trees), len(nodes), len(targets), len(weights)}) != 1:
        raise Refused(f"the fields {votes}_treeids, _nodeids, _ids and _weights have different lengths")
    found = []
    for tree, number, target, weight in zip(trees, nodes, targets, weights.tolist(), strict=True):
        if (tree, number) not in place:
            raise Refused(f"{ids} of node {number} of tree {tree}, which is missing")
        found.append((place[tree, number], int(target), float(weight)))
    return found


def with_base(g: Emitter, scores: Value, base: Array, seen: Value | None = None) -> Value:
    """Adds `base_values` to scores, or to those of them that are seen."""
    if not base.size or not base.any():
        return scores
    if base.size not in (1, scores.shape[1]):
        raise Refused(f"{base.size} base_values for {scores.shape[1]} targets")
    result = g.add(scores, Value.of(base.reshape(1, -1)))
    return result if seen is None else g.select(seen, result, scores)


@op("TreeEnsembleRegressor", domain=ML)
def tree_ensemble_regressor(g: Emitter, node: Node, x: Value) -> Value:
    forest, targets = forest_of(node, "target", "a target"), node.need("n_targets")
    how = node.get("aggregate_function", "SUM")
    if how not in AGGREGATES:
        raise Refused(f"aggregate_function {how!r}; expected one of {', '.join(AGGREGATES)}")
    base = floats(node, "base_values")
    result, seen = summed(g, forest, leaves(g, forest, rows_of(g, x)), targets, how, sparse=bool(base.any()))
    return of_targets(g, with_base(g, result, base, seen), node.get("post_transform", "NONE"))


@op("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(g: Emitter, node: Node, x: Value) -> tuple[Value, Value]:
    labels = labels_of(node, "classlabels_int64s")
    forest = forest_of(node, "class", "a vote")
    base, name = floats(node, "base_values"), node.get("post_transform", "NONE")
    where = leaves(g, forest, rows_of(g, x))
    negative = any(weight < 0 for _, _, weight in forest.votes)
    sparse = len(labels) > 2 and negative and not base.size
    scores, seen = summed(g, forest, where, max(2, len(labels)), "SUM", sparse)
    voted = {target for _, target, _ in forest.votes}
    if len(labels) == 2 and len(voted) == 1:
        return one_class(g, scores, voted.pop(), negative, labels, base, name)
    if len(labels) < 2:
        raise Refused(f"{len(labels)} classlabels_int64s; expected two or more")
    scores = with_base(g, scores, base)
    # Classes without a vote are not chosen, even if others have negative scores.
    ranked = scores if seen is None else g.select(seen, scores, g.full((), float(np.finfo(np.float32).min), F32))
    return best(g, node, ranked, labels), transformed(g, scores, name)


def one_class(
    g: Emitter, scores: Value, voted: int, negative: bool, labels: Array, base: Array, name: str
) -> tuple[Value, Value]:
    """Returns labels and scores of two classes where all leaves vote for the same one: its weight decides.

    Votes for class 0 are shares or signed scores of the second label; onnxruntime defines it so.
    """
    limit = g.full((), 0.0 if negative else 0.5, F32)
    own = g.slice_dim(scores, 1, voted, voted + 1)
    added = base[voted] if base.size == 2 else base[0] if base.size and not voted else 0
    own = g.add(own, g.full((), float(added), F32)) if added else own
    label = either(g, g.compare("GT", column(g, own, 0), limit), labels)
    if not voted and base.size < 2:
        return label, two_scores(g, own, name, mixed=negative or name == "LOGISTIC")
    nothing = g.full((own.shape[0], 1), 0, F32)
    return label, transformed(g, g.concat([nothing, own] if voted else [own, nothing], 1), name)


@op("TreeEnsemble", domain=ML)
def tree_ensemble(g: Emitter, node: Node, x: Value) -> Value:
    refuse_strings(node)
    forest, how = tensors_forest(node), named(AGGREGATES, node.get("aggregate_function", 1), "aggregate_function")
    result, _ = summed(g, forest, leaves(g, forest, rows_of(g, x)), node.need("n_targets"), how)
    order = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
    result = of_targets(g, result, named(order, node.get("post_transform", 0), "post_transform"))
    return g.cast(result, x.dtype)


def named(names: Sequence[str], number: int, what: str) -> str:
    if not 0 <= number < len(names):
        raise Refused(f"{what} {number}; expected 0 to {len(names) - 1}")
    return names[number]


def tensors_forest(node: Node) -> Forest:
    """Returns the trees of TreeEnsemble, whose leaves are numbered separately: here they follow the inner nodes."""

    def whole(name: str) -> Array:
        return np.asarray(node.get(name, []), np.int64).reshape(-1)

    features = whole("nodes_featureids")
    count = len(features)
    weights = np.asarray(node.need("leaf_weights")).astype(np.float32).reshape(-1)
    targets = whole("leaf_targetids")
    modes = np.asarray(node.need("nodes_modes")).astype(np.int64).reshape(-1)
    splits = np.asarray(node.need("nodes_splits")).astype(np.float32).reshape(-1)
    sides = [(whole(f"nodes_{s}nodeids"), whole(f"nodes_{s}leafs")) for s in ("true", "false")]
    lengths = {len(modes), len(splits)} | {len(part) for side in sides for part in side}
    if lengths != {count} or len(targets) != len(weights):
        raise Refused(f"the fields of {count} nodes have lengths {sorted(lengths)}")
    if modes.size and (modes.min() < 0 or modes.max() >= len(MODES)):
        raise Refused(f"nodes_modes {modes.tolist()}; expected 0 to {len(MODES) - 1}")
    children = np.stack([np.where(is_leaf != 0, ids + count, ids) for ids, is_leaf in sides], 1)
    if (children == np.arange(count)[:, None]).any():
        raise Refused("branches of a tree lead back to the same node")
    own = np.stack([np.arange(count, count + len(weights))] * 2, 1)
    missing = whole("nodes_missing_value_tracks_true")
    missing = missing if len(missing) == count else np.zeros(count, np.int64)

    def padded(array: Array) -> Array:
        return np.concatenate([array, np.zeros(len(weights), array.dtype)])

    votes = [(count + i, int(t), float(w)) for i, (t, w) in enumerate(zip(targets, weights, strict=True))]
    return Forest(
        padded(features), padded(splits), padded(modes), padded(missing), np.concatenate([children, own]),
        whole("tree_roots"), votes, member_sets(node, modes),
    )  # fmt: skip


def member_sets(node: Node, modes: Array) -> dict[int, Array]:
    """Returns the members by node: sets follow each other in the order of the nodes, divided by NaN."""
    asking = np.flatnonzero(modes == MEMBER).tolist()
    values = np.asarray(node.get("membership_values", [])).astype(np.float32).reshape(-1)
    ends = np.flatnonzero(np.isnan(values)).tolist()
    parts = np.split(values, ends)
    sets = [part[~np.isnan(part)] for part in parts]
    if len(sets) < len(asking):
        raise Refused(f"membership_values has {len(sets)} sets for {len(asking)} nodes")
    return dict(zip(asking, sets, strict=False))

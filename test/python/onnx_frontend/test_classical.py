# SPDX-License-Identifier: Apache-2.0
"""Ops of ai.onnx.ml and losses, compared with onnxruntime and the evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compared import computed
from onnx import helper, numpy_helper
from single import check, node_model, typed
from ttmlir.onnx import OnnxError

ML = "ai.onnx.ml"
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]
BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def floats(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(np.float32)


def listed(x: Any) -> list[float]:
    return [float(n) for n in x.reshape(-1)]


def samples(rows: int, features: int, missing: bool = True) -> Any:
    """Numbers that thresholds are equal to, some of them NaN."""
    random = np.random.default_rng(rows)
    x = (random.integers(-4, 5, (rows, features)) / 2).astype(np.float32)
    if missing:
        x[random.random(x.shape) < 0.1] = np.nan
    return x


def forest(features: int, trees: int, depth: int, modes: list[str], seed: int = 0) -> tuple[dict[str, Any], list[Any]]:
    """Attributes of random trees, and tree and node of each leaf."""
    random = np.random.default_rng(seed)
    rows: list[Any] = []
    leaves = []

    def grow(tree: int, number: int, left: int) -> int:
        """Returns the number after the last one of the branch."""
        if not left or (left < depth and random.random() < 0.2):
            rows.append((tree, number, 0, 0.0, "LEAF", 0, 0, 0))
            leaves.append((tree, number))
            return number + 1
        place = len(rows)
        rows.append(None)
        other = grow(tree, number + 1, left - 1)
        rows[place] = (tree, number, int(random.integers(features)), float(random.integers(-3, 4) / 2),
                       str(random.choice(modes)), number + 1, other, int(random.integers(2)))  # fmt: skip
        return grow(tree, other, left - 1)

    for tree in range(trees):
        grow(tree, 0, depth)
    names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
             "missing_value_tracks_true")  # fmt: skip
    return {f"nodes_{name}": list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}, leaves


def votes(prefix: str, leaves: list[Any], targets: list[int], weights: Any) -> dict[str, Any]:
    every = [(tree, node, target) for tree, node in leaves for target in targets]
    columns = zip(("treeids", "nodeids", "ids"), zip(*every, strict=True), strict=True)
    numbers = listed(np.resize(weights, len(every)))
    return {f"{prefix}_{name}": list(values) for name, values in columns} | {f"{prefix}_weights": numbers}


@pytest.mark.parametrize("how", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("mode", [*BRANCHES, "all"])
def test_tree_regressors(mode: str, how: str) -> None:
    attributes, leaves = forest(4, 3, 4, BRANCHES if mode == "all" else [mode], seed=len(mode))
    attributes |= votes("target", leaves, [0, 1], floats(50))
    attributes |= {"n_targets": 3, "aggregate_function": how, "base_values": [0.5, -0.25, 2.0]}
    check("TreeEnsembleRegressor", [samples(9, 4)], domain=ML, version=3, **attributes)


def test_trees_of_no_rows() -> None:
    attributes, leaves = forest(4, 3, 4, ["BRANCH_LEQ"])
    attributes |= votes("target", leaves, [0, 1], floats(50))
    (found,) = check("TreeEnsembleRegressor", [samples(0, 4)], domain=ML, version=3, n_targets=2, **attributes)
    assert found.shape == (0, 2)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("targets", [1, 3])
def test_transforms(targets: int, transform: str) -> None:
    attributes, leaves = forest(4, 3, 2, ["BRANCH_LT"])
    attributes |= votes("target", leaves, list(range(targets)), floats(50))
    options = {"n_targets": targets, "post_transform": transform}
    check("TreeEnsembleRegressor", [samples(9, 4)], domain=ML, version=3, **attributes, **options)


def test_deep_trees_are_loops() -> None:
    """A short tree, and a chain of 30 nodes with a leaf each."""
    attributes, leaves = forest(4, 1, 3, ["BRANCH_LEQ"])
    inner, ends = 30, [*range(1, 60, 2), 60]
    more = {
        "nodes_treeids": [1] * 61, "nodes_nodeids": list(range(61)), "nodes_featureids": [0] * 61,
        "nodes_values": listed(np.arange(61) / 2 - 15),
        "nodes_modes": ["LEAF" if i in ends else "BRANCH_GT" for i in range(61)],
        "nodes_truenodeids": [0 if i in ends else i + 2 for i in range(61)],
        "nodes_falsenodeids": [0 if i in ends else i + 1 for i in range(61)],
        "nodes_missing_value_tracks_true": [0] * 61,
    }  # fmt: skip
    attributes = {name: values + more[name] for name, values in attributes.items()}
    attributes |= votes("target", [*leaves, *((1, end) for end in ends)], [0], floats(inner + 20)) | {"n_targets": 1}
    x = np.random.default_rng(0).uniform(-20, 20, (12, 4)).astype(np.float32)
    check("TreeEnsembleRegressor", [x], domain=ML, version=3, **attributes)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("base", [0, 1, 4])
def test_tree_classifiers(base: int, signed: bool, transform: str) -> None:
    weights = floats(60) if signed else np.abs(floats(60)) / 3
    for labels, targets in (([5, 7], [0]), ([0, 1, 2, 3], [0, 1, 2, 3]), ([9, 2, 4, 3], [1, 3])):
        attributes, leaves = forest(3, 3, 3, ["BRANCH_LEQ"])
        attributes |= votes("class", leaves, targets, weights)
        count = min(base, len(labels))
        if count == 1 and len(labels) > 2:
            continue
        more = {"base_values": listed(floats(count))} if count else {}
        options = {"classlabels_int64s": labels, "post_transform": transform, **more}
        check("TreeEnsembleClassifier", [samples(9, 3)], 2, domain=ML, version=3, **attributes, **options)


def tensor(x: Any, dtype: Any) -> Any:
    return numpy_helper.from_array(np.asarray(x, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tree_ensembles(dtype: Any) -> None:
    """Sets of members, NaN to either side, leaves of two trees."""
    attributes = {
        "nodes_splits": tensor([1.0, 0.0, 0.5, 0.0], dtype), "nodes_modes": tensor([0, 6, 3, 6], np.uint8),
        "nodes_featureids": [0, 1, 2, 0], "nodes_truenodeids": [1, 0, 0, 2], "nodes_falsenodeids": [2, 1, 3, 1],
        "nodes_trueleafs": [0, 1, 1, 1], "nodes_falseleafs": [0, 1, 1, 1],
        "nodes_missing_value_tracks_true": [1, 0, 0, 1], "tree_roots": [0, 3], "n_targets": 2,
        "membership_values": tensor([1.5, 2, np.nan, -1, 0.5, 1, np.nan], dtype),
        "leaf_targetids": [0, 1, 0, 1], "leaf_weights": tensor([5.5, -3, 2, 0.25], dtype),
    }  # fmt: skip
    x = samples(20, 3).astype(dtype)
    left = np.where(np.isin(x[:, 1], [1.5, 2]), 0, 1)
    right = np.where(x[:, 2] > 0.5, 0, 3)
    first = np.where((x[:, 0] <= 1) | np.isnan(x[:, 0]), left, right)
    second = np.where(np.isin(x[:, 0], [-1, 0.5, 1]) | np.isnan(x[:, 0]), 2, 1)
    weights, targets = np.array([5.5, -3, 2, 0.25]), np.array([0, 1, 0, 1])
    expected = np.zeros((20, 2))
    for leaf in (first, second):
        expected[np.arange(20), targets[leaf]] += weights[leaf]
    check("TreeEnsemble", [x], expected=[expected.astype(dtype)], domain=ML, **attributes)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_linear_models(dtype: Any, transform: str) -> None:
    x = (3 * floats(5, 4)).astype(dtype)
    for targets, classes in ((1, 2), (2, 2), (4, 4)):
        numbers = {"coefficients": listed(floats(targets, 4)), "intercepts": listed(floats(targets))}
        options = {"domain": ML, "post_transform": transform, **numbers}
        if dtype == np.float32:
            check("LinearRegressor", [x], targets=targets, **options)
        labels = {"classlabels_ints": [5, 7, 1, 3][:classes]}
        check("LinearClassifier", [x], 2, **labels, **options)


KERNELS = pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
NUMBERS = {"kernel_params": [0.4, 0.3, 3.0]}


@KERNELS
def test_support_vector_regressors(kernel: str) -> None:
    vectors = {"support_vectors": listed(floats(3, 4)), "coefficients": listed(floats(3)), "n_supports": 3}
    for one_class in (0, 1):
        options = {"one_class": one_class, "kernel_type": kernel, "rho": [0.3], **NUMBERS, **vectors}
        check("SVMRegressor", [floats(5, 4)], domain=ML, **options)


@KERNELS
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
def test_support_vector_classifiers(transform: str, classes: int, kernel: str) -> None:
    counts = [2, 1, 3, 2][:classes]
    total, pairs = sum(counts), classes * (classes - 1) // 2
    vectors = {"support_vectors": listed(floats(total, 4)), "coefficients": listed(floats(classes - 1, total)),
               "vectors_per_class": counts, "rho": listed(floats(pairs))}  # fmt: skip
    options = {
        "kernel_type": kernel,
        "post_transform": transform,
        "classlabels_ints": [5, 7, 1, 3][:classes],
        **NUMBERS,
    }
    check("SVMClassifier", [floats(6, 4)], 2, domain=ML, **options, **vectors)
    chances = {"prob_a": listed(-np.abs(floats(pairs))), "prob_b": listed(floats(pairs, seed=1))}
    check("SVMClassifier", [floats(6, 4)], 2, domain=ML, **options, **vectors, **chances)
    plain = {"coefficients": listed(floats(classes, 4)), "rho": [0.3]}
    check("SVMClassifier", [floats(6, 4)], 2, domain=ML, **options | {"kernel_type": "LINEAR"}, **plain)


ELEMENTS: list[tuple[str, Any, dict[str, Any]]] = [
    ("Scaler", floats(3, 4), {"offset": [0.5], "scale": [2.0]}),
    ("Scaler", np.arange(12).reshape(3, 4), {"offset": [0.5, 1, 2, 3], "scale": [2.0, 1, 0, 3]}),
    ("Normalizer", floats(3, 4), {"norm": "MAX"}), ("Normalizer", floats(3, 4), {"norm": "L1"}),
    ("Normalizer", np.arange(12).reshape(3, 4) - 4, {"norm": "L2"}), ("Normalizer", np.zeros((2, 3), np.float32), {}),
    ("Binarizer", floats(3, 4), {"threshold": 0.3}),
    ("Imputer", floats(2, 2).round(), {"imputed_value_floats": [9.5, 2], "replaced_value_float": 0.0}),
    ("Imputer", np.array([[1, np.nan]], np.float32), {"imputed_value_floats": [9.5], "replaced_value_float": np.nan}),
    ("Imputer", np.arange(4), {"imputed_value_int64s": [9], "replaced_value_int64": 2}),
    ("OneHotEncoder", np.array([[0, 2], [5, 7]]), {"cats_int64s": [2, 7, 0], "zeros": 1}),
    ("OneHotEncoder", np.array([0, 2.5], np.float32), {"cats_int64s": [2, 7, 0], "zeros": 1}),
    ("LabelEncoder", np.arange(7) - 3, {"keys_int64s": [2, -3, 0], "values_floats": [0.5, 1, 2], "default_float": 9.0}),
    ("LabelEncoder", np.array([1, np.nan, 0.5], np.float32), {"keys_floats": [0.5, np.nan], "values_int64s": [7, 8]}),
    ("LabelEncoder", np.arange(40), {"keys_int64s": [3 * i for i in range(11)], "values_int64s": list(range(11))}),
]  # fmt: skip


@pytest.mark.parametrize(("op", "x", "attributes"), ELEMENTS)
def test_elements(op: str, x: Any, attributes: dict[str, Any]) -> None:
    check(op, [x], domain=ML, **attributes)


def test_features() -> None:
    check("FeatureVectorizer", [floats(3, 4), floats(3, 2)], domain=ML, inputdimensions=[4, 2])
    check("ArrayFeatureExtractor", [floats(3, 4), np.array([[3, 0, 3]])], domain=ML)
    check("ArrayFeatureExtractor", [floats(4), np.array([1, 2])], domain=ML)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("ignored", [None, 0, -1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("places", [(), (3,), (2, 3)])
def test_losses(places: tuple[int, ...], weighted: bool, ignored: int | None, reduction: str) -> None:
    target = np.random.default_rng(0).integers(0, 4, (5, *places))
    if ignored is not None:
        target.reshape(-1)[0] = ignored
    weight = np.abs(floats(4)) if weighted else None
    options: dict[str, Any] = {"opset": 13, "reduction": reduction}
    options |= {} if ignored is None else {"ignore_index": ignored}
    check("NegativeLogLikelihoodLoss", [floats(5, 4, *places), target, weight], **options)
    check("SoftmaxCrossEntropyLoss", [floats(5, 4, *places), target, weight], 2, **options)


def test_branches_may_lead_to_one_node() -> None:
    """The chain of comparisons that converters write for a set: each of them leads to node 3 and its leaves."""
    attributes = {
        "nodes_treeids": [0] * 7, "nodes_nodeids": list(range(7)), "nodes_featureids": [0, 0, 0, 1, 0, 0, 0],
        "nodes_values": [1.0, -1.0, 2.0, 0.5, 0.0, 0.0, 0.0],
        "nodes_modes": ["BRANCH_EQ"] * 3 + ["BRANCH_LEQ"] + ["LEAF"] * 3,
        "nodes_truenodeids": [3, 3, 3, 5, 0, 0, 0], "nodes_falsenodeids": [1, 2, 4, 6, 0, 0, 0],
    }  # fmt: skip
    attributes |= votes("target", [(0, 4), (0, 5), (0, 6)], [0], [1.0, 2.0, 4.0])
    (found,) = check("TreeEnsembleRegressor", [samples(40, 2)], domain=ML, version=3, n_targets=1, **attributes)
    assert set(found.reshape(-1).tolist()) == {1.0, 2.0, 4.0}


def broken(**changes: Any) -> dict[str, Any]:
    attributes, leaves = forest(2, 1, 1, ["BRANCH_LT"])
    return attributes | votes("target", leaves, [0], floats(9)) | {"n_targets": 1} | changes


@pytest.mark.parametrize(
    ("op", "attributes", "text"),
    [
        ("TreeEnsembleRegressor", broken(nodes_truenodeids=[9, 0, 0]), "node 9 of tree 0, which is missing"),
        ("TreeEnsembleRegressor", broken(nodes_truenodeids=[0, 0, 0]), "lead back to the same node"),
        # The cycle is below the root.
        ("TreeEnsembleRegressor",
         broken(nodes_treeids=[0] * 4, nodes_nodeids=[0, 1, 2, 3], nodes_featureids=[0] * 4, nodes_values=[0.5] * 4,
                nodes_modes=["BRANCH_LT"] * 3 + ["LEAF"], nodes_truenodeids=[1, 2, 1, 0],
                nodes_falsenodeids=[3, 3, 3, 0], nodes_missing_value_tracks_true=[0] * 4),
         "lead back to the same node"),
        ("TreeEnsembleRegressor", broken(nodes_featureids=[7, 0, 0]), "expected 8 features or more"),
        ("TreeEnsembleRegressor", broken(n_targets=1 << 30), "3 x 1073741824 weights for targets; expected 1 to"),
        ("TreeEnsembleRegressor", broken(n_targets=0), "3 x 0 weights for targets"),
        ("TreeEnsembleRegressor", broken(nodes_modes=["LESS", "LEAF", "LEAF"]), "node mode 'LESS'"),
        ("TreeEnsembleRegressor", broken(target_ids=[3, 3]), "votes for target 3; expected one of 1"),
        ("TreeEnsembleRegressor", broken(nodes_values=[1.0]), "1 nodes_values of 3 nodes"),
        ("TreeEnsembleRegressor", broken(post_transform="LOG"), "post_transform 'LOG'"),
        ("LinearRegressor", {"coefficients": [1.0]}, "1 coefficients and 0 intercepts"),
        ("LinearClassifier", {"coefficients": [1.0, 2], "classlabels_strings": ["a", "b"]}, "strings have no form"),
        ("SVMRegressor", {"kernel_type": "COSINE", "n_supports": 1, "support_vectors": [1.0, 2], "coefficients": [1.0]},
         "kernel_type 'COSINE'"),
        ("Normalizer", {"norm": "L3"}, "expected MAX, L1 or L2"),
        ("ZipMap", {"classlabels_int64s": [1, 2]}, "maps have no form on the chip; export the model without it"),
    ],
)  # fmt: skip
def test_refused(op: str, attributes: dict[str, Any], text: str) -> None:
    version = 3 if op.startswith("Tree") else 5
    outputs = 2 if op == "LinearClassifier" else 1
    model, given = node_model(op, [floats(3, 2)], outputs, domain=ML, version=version, **attributes)
    model = typed(model, [np.zeros(1, np.float32)] * outputs)
    if op == "ZipMap":
        kind = helper.make_map_type_proto(7, helper.make_tensor_type_proto(1, []))
        model.graph.output[0].type.CopyFrom(helper.make_sequence_type_proto(kind))
    with pytest.raises(OnnxError, match=text):
        computed(model, given)

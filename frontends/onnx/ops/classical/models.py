# SPDX-License-Identifier: Apache-2.0
"""Classical models of ai.onnx.ml: linear ones, support vectors, scalers, encoders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import Refused
from ...registry import ML, Node, calling, op, refuse
from ...values import F32, I32, I64, Array, DType, Value, is_float, is_integer

STRINGS = "strings have no form on the chip; expected numbers"
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def refuse_strings(node: Node) -> None:
    """
    Raises:
        Refused: an attribute has strings.
    """
    for name, value in node.attributes.items():
        if name.endswith("_strings") and value:
            raise Refused(f"attribute {name}: {STRINGS}")


def rows_of(g: Emitter, x: Value, dtype: DType = F32) -> Value:
    """Returns [n, features]; a vector is one row."""
    if x.rank == 1:
        x = g.expand_dims(x, 0)
    if x.rank != 2:
        raise Refused(f"X is {x!r}; expected [rows, features]")
    return g.cast(x, dtype)


def floats(node: Node, name: str) -> Array:
    """Returns an attribute of floats, or its form as a tensor, which may be of 64 bits; empty where it is left out."""
    found = node.get(f"{name}_as_tensor")
    return np.asarray(node.get(name, []) if found is None else found, F32).reshape(-1)


#
# Transformations of scores
#


def probit(g: Emitter, x: Value) -> Value:
    """Returns sqrt(2) erfinv(2 x - 1), by the approximation that onnxruntime takes."""
    x = g.sub(g.mul(x, g.scalar(2, x)), g.scalar(1, x))
    one = g.scalar(1, x)
    log = g.unary(stablehlo.log, g.mul(g.sub(one, x), g.add(one, x)))
    v = g.add(g.mul(log, g.scalar(0.5, x)), g.scalar(2 / (3.14159 * 0.147), x))
    root = g.unary(stablehlo.sqrt, g.sub(g.mul(v, v), g.mul(log, g.scalar(1 / 0.147, x))))
    result = g.unary(stablehlo.sqrt, g.sub(root, v))
    sign = g.select(g.compare("LT", x, g.scalar(0, x)), g.scalar(-1, x), one)
    return g.mul(g.mul(result, sign), g.scalar(math.sqrt(2), x))


def transformed(g: Emitter, scores: Value, name: str) -> Value:
    """Returns scores [n, classes] after a `post_transform`.

    Raises:
        Refused: there is none of this name.
    """
    if name not in TRANSFORMS:
        raise Refused(f"post_transform {name!r}; expected one of {', '.join(TRANSFORMS)}")
    if name == "LOGISTIC":
        return g.unary(stablehlo.logistic, scores)
    if name == "PROBIT":
        return probit(g, scores)
    if name == "SOFTMAX":
        return g.ttir("softmax", scores, dtype=scores.dtype, dimension=1, numeric_stable=True)
    if name == "SOFTMAX_ZERO":
        most = g.reduce("maximum", scores, [1], keep=True)
        counts = g.compare("GT", g.unary(stablehlo.abs, scores), g.scalar(1e-7, scores))
        zero = g.scalar(0, scores)
        powers = g.select(counts, g.unary(stablehlo.exponential, g.sub(scores, most)), zero)
        return g.div(powers, g.reduce("add", powers, [1], keep=True))
    return scores


def of_targets(g: Emitter, values: Value, name: str) -> Value:
    """Returns regressed values [n, targets] after a `post_transform`; a single one has no other than PROBIT."""
    return transformed(g, values, "NONE" if values.shape[1] == 1 and name in TRANSFORMS[:4] else name)


def labels_of(node: Node, *names: str) -> Array:
    refuse_strings(node)
    for name in names:
        if node.get(name):
            return np.asarray(node.get(name), np.int64)
    raise Refused(f"attribute {names[0]} is missing")


def best(g: Emitter, node: Node, scores: Value, labels: Array) -> Value:
    """Returns the label of the greatest score of each row, the first one of several."""
    place = calling(g, node, "ArgMax", scores, axis=1, keepdims=0)
    return chosen(g, place, labels)


def chosen(g: Emitter, place: Value, labels: Array) -> Value:
    if (labels == np.arange(len(labels))).all():
        return g.cast(place, I64)
    return g.gather(Value.of(labels), g.cast(place, I32), 0)


def either(g: Emitter, condition: Value, labels: Array) -> Value:
    """Returns the second label where a condition [n] holds, else the first one."""
    return g.select(condition, g.full((), int(labels[1]), I64), g.full((), int(labels[0]), I64))


def column(g: Emitter, x: Value, i: int) -> Value:
    return g.reshape(g.slice_dim(x, 1, i, i + 1), (x.shape[0],))


#
# Linear models
#


def affine(g: Emitter, node: Node, x: Value, targets: int) -> Value:
    """Returns x @ coefficients + intercepts, [n, targets]."""
    coefficients, intercepts = floats(node, "coefficients"), floats(node, "intercepts")
    if coefficients.size != targets * x.shape[1] or intercepts.size not in (0, targets):
        raise Refused(
            f"{coefficients.size} coefficients and {intercepts.size} intercepts of {targets} targets for {x!r}; "
            f"expected {targets * x.shape[1]} and {targets} or none"
        )
    result = g.dot(x, Value.of(coefficients.reshape(targets, -1)), ((1,), (1,)))
    return g.add(result, Value.of(intercepts)) if intercepts.size else result


@op("LinearRegressor", domain=ML)
def linear_regressor(g: Emitter, node: Node, x: Value) -> Value:
    result = affine(g, node, rows_of(g, x), node.get("targets", 1))
    return of_targets(g, result, node.get("post_transform", "NONE"))


@op("LinearClassifier", domain=ML)
def linear_classifier(g: Emitter, node: Node, x: Value) -> tuple[Value, Value]:
    labels = labels_of(node, "classlabels_ints")
    x = rows_of(g, x)
    features = max(1, x.shape[1])
    targets = len(floats(node, "intercepts")) or len(floats(node, "coefficients")) // features
    scores = affine(g, node, x, targets)
    name = node.get("post_transform", "NONE")
    if targets != 1:
        return best(g, node, scores, labels), transformed(g, scores, name)
    if len(labels) != 2:
        raise Refused(f"one row of coefficients for {len(labels)} labels; expected 2 labels")
    label = either(g, g.compare("GT", column(g, scores, 0), g.full((), 0, F32)), labels)
    return label, two_scores(g, scores, name, mixed=name == "LOGISTIC")


def two_scores(g: Emitter, score: Value, name: str, mixed: bool) -> Value:
    """Returns the scores of both classes, [n, 2], for that of the second one, [n, 1].

    mixed: the score has a sign; else it is a share of 1.
    """
    if name == "PROBIT":
        raise Refused("post_transform PROBIT of one score for two classes has no meaning; expected another one")
    if not mixed:
        return g.concat([g.sub(g.scalar(1, score), score), score], 1)
    both = g.concat([g.unary(stablehlo.negate, score), score], 1)
    return g.unary(stablehlo.logistic, both) if name == "LOGISTIC" else both


#
# Elements
#


@op("Scaler", domain=ML)
def scaler(g: Emitter, node: Node, x: Value) -> Value:
    x = g.cast(x, F32)
    for name, function in (("offset", g.sub), ("scale", g.mul)):
        numbers = floats(node, name)
        if numbers.size == 1:
            x = function(x, g.full((), float(numbers[0]), F32))
        elif numbers.size:
            if not x.rank or numbers.size != x.shape[-1]:
                raise Refused(f"attribute {name} has {numbers.size} elements for {x!r}; expected one or {x.shape[-1:]}")
            x = function(x, Value.of(numbers))
    return x


@op("Normalizer", domain=ML)
def normalizer(g: Emitter, node: Node, x: Value) -> Value:
    kind = node.get("norm", "MAX")
    x = g.cast(x, F32)
    if not x.rank:
        raise Refused(f"X is {x!r}; expected one or more dimensions")
    last = [x.rank - 1]
    if kind == "MAX":
        divisor = g.reduce("maximum", x, last, keep=True)
    elif kind == "L1":
        divisor = g.reduce("add", g.unary(stablehlo.abs, x), last, keep=True)
    elif kind == "L2":
        divisor = g.unary(stablehlo.sqrt, g.reduce("add", g.mul(x, x), last, keep=True))
    else:
        raise Refused(f"norm {kind!r}; expected MAX, L1 or L2")
    return g.div(x, g.select(g.compare("EQ", divisor, g.scalar(0, x)), g.scalar(1, x), divisor))


@op("Binarizer", domain=ML)
def binarizer(g: Emitter, node: Node, x: Value) -> Value:
    return g.cast(g.compare("GT", g.cast(x, F32), g.full((), node.get("threshold", 0.0), F32)), x.dtype)


@op("Imputer", domain=ML)
def imputer(g: Emitter, node: Node, x: Value) -> Value:
    kind = ("value_floats", "value_float", F32) if is_float(x.dtype) else ("value_int64s", "value_int64", I64)
    numbers = np.asarray(node.get(f"imputed_{kind[0]}", []), kind[2]).astype(x.dtype)
    old = node.get(f"replaced_{kind[1]}", 0)
    if numbers.size != 1 and (not x.rank or numbers.size != x.shape[-1]):
        raise Refused(f"imputed_{kind[0]} has {numbers.size} elements for {x!r}; expected one, or one for each feature")
    missing = g.compare("NE", x, x) if old != old else g.compare("EQ", x, g.scalar(old, x))
    return g.select(missing, Value.of(numbers if numbers.size > 1 else numbers.reshape(())), x)


@op("FeatureVectorizer", domain=ML)
def feature_vectorizer(g: Emitter, node: Node, *xs: Value) -> Value:
    parts = [rows_of(g, x) for x in xs]
    sizes = node.get("inputdimensions", [x.shape[1] for x in parts])
    if len(sizes) != len(parts):
        raise Refused(f"inputdimensions {sizes} for {len(parts)} inputs")
    result = []
    for x, size in zip(parts, sizes, strict=True):
        kept = g.slice_dim(x, 1, 0, min(size, x.shape[1]))
        result.append(g.pad(kept, [0, 0], [0, max(0, size - x.shape[1])]))
    return g.concat(result, 1)


@op("ArrayFeatureExtractor", domain=ML, moves=True)
def array_feature_extractor(g: Emitter, node: Node, x: Value, indices: Value) -> Value:
    if not x.rank:
        raise Refused(f"X is {x!r}; expected one or more dimensions")
    flat = g.reshape(g.cast(indices, I32), (indices.size,))
    result = g.gather(x, flat, x.rank - 1)
    return g.expand_dims(result, 0) if result.rank == 1 else result


@op("OneHotEncoder", domain=ML)
def one_hot_encoder(g: Emitter, node: Node, x: Value) -> Value:
    categories = labels_of(node, "cats_int64s")
    if not node.get("zeros", 1):
        raise Refused("zeros 0, an error for unknown categories, has no form on the chip; expected 1")
    places = g.expand_dims(g.cast(x, I64), x.rank)
    return g.cast(g.compare("EQ", places, Value.of(categories.reshape((1,) * x.rank + (-1,)))), F32)


def table_of(node: Node, what: str, x: Value | None = None) -> Array:
    """Returns the keys or values of an encoder."""
    for name, dtype in (("tensor", None), ("int64s", I64), ("floats", F32)):
        found = node.get(f"{what}_{name}")
        if found is not None and len(found):
            array = np.asarray(found) if dtype is None else np.asarray(found, dtype)
            if array.dtype.kind in "OSU":
                raise Refused(f"attribute {what}_{name}: {STRINGS}")
            return array.reshape(-1)
    raise Refused(f"attribute {what}_int64s, {what}_floats or {what}_tensor is missing")


@op("LabelEncoder", domain=ML)
def label_encoder(g: Emitter, node: Node, x: Value) -> Value:
    """Returns each element that is a key as the value next to it: by a search in the sorted keys, or by comparing with
    all."""
    refuse_strings(node)
    if node.version < 2:
        raise Refused(f"classes_strings: {STRINGS}")
    keys, values = table_of(node, "keys"), table_of(node, "values")
    if len(keys) != len(values) or keys.dtype.kind != x.dtype.kind:
        raise Refused(f"{len(keys)} keys of type {keys.dtype.name} and {len(values)} values for {x!r}")
    default: Any = node.get("default_tensor")
    if default is None:
        default = node.get("default_float", -0.0) if is_float(values.dtype) else node.get("default_int64", -1)
    other = g.full((), np.asarray(default).reshape(-1)[0].item(), values.dtype)
    unique: dict[Any, int] = {}
    for i, key in enumerate(keys.tolist()):
        unique["nan" if key != key else key] = i
    places = sorted(i for key, i in unique.items() if key != "nan")
    order = np.array(sorted(places, key=lambda i: keys[i]), np.int64)
    result = g.broadcast(other, x.shape)
    if len(order):
        result = looked_up(g, x, keys[order], values[order], other)
    if "nan" in unique:
        value = g.full((), values[unique["nan"]].item(), values.dtype)
        result = g.select(g.compare("NE", x, x), value, result)
    return result


def looked_up(g: Emitter, x: Value, keys: Array, values: Array, other: Value) -> Value:
    """Returns the values of sorted keys, by halving the range log2 times."""
    wide = F32 if is_float(x.dtype) else x.dtype
    if is_integer(x.dtype) and x.dtype.itemsize < 4:
        wide = I32
    x, table = g.cast(x, wide), Value.of(keys.astype(wide))
    place = g.full(x.shape, 0, I32)
    last = g.full((), len(keys) - 1, I32)
    for bit in reversed(range(max(1, len(keys) - 1).bit_length())):
        further = g.add(place, g.full((), 1 << bit, I32))
        inside = g.minimum(further, last)
        is_less = g.compare("LE", g.gather(table, inside, 0), x)
        fits = g.binary(stablehlo.and_, is_less, g.compare("LE", further, last))
        place = g.select(fits, further, place)
    return g.select(g.compare("EQ", g.gather(table, place, 0), x), g.gather(Value.of(values), place, 0), other)


refuse("its maps and strings have no form on the chip; expected tensors of numbers", "DictVectorizer", "CastMap",
       "CategoryMapper", domain=ML)  # fmt: skip
refuse("maps have no form on the chip; export the model without it: to_onnx(..., options={'zipmap': False})", "ZipMap",
       domain=ML)  # fmt: skip
refuse("training has no form in an imported file; train with the framework that made it", "Adagrad", "Adam",
       "Momentum", "Gradient", domain="ai.onnx.preview.training")  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU and RNN: one product for the inputs of all steps, then a loop over steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..errors import Refused
from ..loops import number, steps
from ..registry import Node, op
from ..values import I32, Value, is_float

Function = Callable[[Value], Value]
# The number of unrolled steps; longer sequences are a loop.
MOST_UNROLLED = 128
# Steps of one turn of the loop.
TOGETHER = 32
# Activations with the defaults of alpha, or alpha and beta; None where ONNX has no op of the name with a default.
DEFAULTS: dict[str, tuple[float | None, ...]] = {
    "affine": (None, None), "leakyrelu": (0.01,), "thresholdedrelu": (1.0,), "scaledtanh": (None, None),
    "hardsigmoid": (0.2, 0.5), "elu": (1.0,), "relu": (), "tanh": (), "sigmoid": (), "softsign": (), "softplus": (),
}  # fmt: skip


def activation(g: Emitter, name: str, numbers: Sequence[float]) -> Function:
    """Returns a function by its name in lower case, with its alpha and beta."""
    alpha, beta = [*numbers, 0.0, 0.0][:2]

    def affine(x: Value, a: float, b: float) -> Value:
        x = x if a == 1 else g.mul(x, g.scalar(a, x))
        return x if b == 0 else g.add(x, g.scalar(b, x))

    def positive(x: Value, then: Value, other: Value, least: float = 0.0) -> Value:
        return g.select(g.compare("GT", x, g.scalar(least, x)), then, other)

    functions: dict[str, Function] = {
        "affine": lambda x: affine(x, alpha, beta),
        "relu": lambda x: g.maximum(x, g.scalar(0, x)),
        "leakyrelu": lambda x: positive(x, x, affine(x, alpha, 0)),
        "thresholdedrelu": lambda x: positive(x, x, g.scalar(0, x), alpha),
        "tanh": lambda x: g.unary(stablehlo.tanh, x),
        "sigmoid": lambda x: g.unary(stablehlo.logistic, x),
        "scaledtanh": lambda x: affine(g.unary(stablehlo.tanh, affine(x, beta, 0)), alpha, 0),
        "hardsigmoid": lambda x: g.minimum(g.maximum(affine(x, alpha, beta), g.scalar(0, x)), g.scalar(1, x)),
        "elu": lambda x: positive(x, x, affine(g.unary(stablehlo.exponential_minus_one, x), alpha, 0)),
        "softsign": lambda x: g.div(x, g.add(g.unary(stablehlo.abs, x), g.scalar(1, x))),
        # log(1 + e^x) without overflow
        "softplus": lambda x: g.add(
            g.maximum(x, g.scalar(0, x)),
            g.unary(stablehlo.log_plus_one,
                    g.unary(stablehlo.exponential, g.unary(stablehlo.negate, g.unary(stablehlo.abs, x)))),
        ),
    }  # fmt: skip
    return functions[name]


def activations(g: Emitter, node: Node, directions: int, defaults: Sequence[str]) -> list[list[Function]]:
    """Returns the functions of each direction."""
    names = [str(x) for x in node.get("activations") or list(defaults) * directions]
    if len(names) != directions * len(defaults):
        raise Refused(f"{len(names)} activations; expected {directions * len(defaults)}")
    alphas, betas = iter(node.get("activation_alpha") or []), iter(node.get("activation_beta") or [])
    result = []
    for name in names:
        numbers = DEFAULTS.get(name.lower())
        if numbers is None:
            raise Refused(f"activation {name!r}; known: {', '.join(DEFAULTS)}")
        found = [next(given, n) for n, given in zip(numbers, (alphas, betas), strict=False)]
        if None in found:
            raise Refused(f"activation {name!r} has no default of {('alpha', 'beta')[found.index(None)]}")
        result.append(activation(g, name.lower(), [float(n) for n in found if n is not None]))
    return [result[d * len(defaults) : (d + 1) * len(defaults)] for d in range(directions)]


def part(g: Emitter, x: Value, dim: int, begin: int, end: int) -> Value:
    """Returns elements of a dimension; of a weight without an op."""
    if (begin, end) == (0, x.shape[dim]):
        return x
    if x.known is not None and not x.varying:
        return Value.of(x.known[(slice(None),) * dim + (slice(begin, end),)], f"{x.name}[{begin}:{end}]")
    return g.slice_dim(x, dim, begin, end)


def row(g: Emitter, x: Value, d: int) -> Value:
    """Returns the part of a tensor [directions, ...] for one direction."""
    return g.reshape(part(g, x, 0, d, d + 1), x.shape[1:])


def check(name: str, x: Value | None, shape: Sequence[int]) -> None:
    if x is not None and x.shape != tuple(shape):
        raise Refused(f"{name} is {x!r}; expected {list(shape)}")


@dataclass
class Direction:
    """The inputs of a step of one direction, and its first states.

    w: [gates * hidden, size]; r: [gates * hidden, hidden]; bias of the inputs' product, [gates * hidden]; r_bias: of
    the product of the hidden state; p: peepholes, [3 * hidden].
    """

    functions: list[Function]
    w: Value
    r: Value
    bias: Value | None
    r_bias: Value | None
    p: Value | None
    states: list[Value]
    backward: bool


class Recurrence:
    """The inputs and attributes of a node, checked, with the sequence first and directions in the middle."""

    def __init__(self, g: Emitter, node: Node, gates: int, defaults: Sequence[str], x: Value, w: Value, r: Value,
                 b: Value | None, lengths: Value | None, initial: Sequence[Value | None],
                 p: Value | None = None) -> None:  # fmt: skip
        self.g, self.node = g, node
        text = str(node.get("direction", "forward"))
        directions = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}.get(text.lower())
        if directions is None:
            raise Refused(f"direction {text!r}; expected forward, reverse or bidirectional")
        if x.rank != 3 or r.rank != 3 or not is_float(x.dtype):
            raise Refused(f"X is {x!r} and R {r!r}; expected floats of rank 3")
        self.layout = node.get("layout", 0)
        if self.layout not in (0, 1):
            raise Refused(f"layout {self.layout}; expected 0 or 1")
        self.unrolls = not g.is_open_size(x, 1 if self.layout else 0)
        if self.layout:
            x = g.transpose(x, (1, 0, 2))
            initial = [None if h is None else g.transpose(h, (1, 0, 2)) for h in initial]
        self.x, self.hidden = x, r.shape[2]
        self.count, self.batch, size = x.shape
        self.unrolls = self.unrolls and self.count <= MOST_UNROLLED
        many, rows = len(directions), gates * self.hidden
        if node.get("hidden_size", self.hidden) != self.hidden:
            raise Refused(f"hidden_size {node.get('hidden_size')}; R has {self.hidden}")
        for name, value, shape in (
            ("W", w, (many, rows, size)), ("R", r, (many, rows, self.hidden)), ("B", b, (many, 2 * rows)),
            ("P", p, (many, 3 * self.hidden)), ("sequence_lens", lengths, (self.batch,)),
            *((f"initial state {i}", h, (many, self.batch, self.hidden)) for i, h in enumerate(initial)),
        ):  # fmt: skip
            check(name, value, shape)
        self.lengths = self._lengths(lengths)
        functions = activations(g, node, many, defaults)
        clip = float(node.get("clip", 0.0))
        if clip > 0:
            # As onnxruntime does, the cell of an LSTM is not clipped before its last activation.
            functions = [[self._clipped(f, clip) for f in those[:2]] + those[2:] for those in functions]
        self._weights: dict[tuple[int, int, int], Value] = {}
        zeros = g.full((self.batch, self.hidden), 0, x.dtype)
        self.directions = []
        for d, backward in enumerate(directions):
            bias = None if b is None else row(g, b, d)
            if p is not None and p.known is not None and not p.known.any():
                p = None
            self.directions.append(Direction(
                functions[d], row(g, w, d), row(g, r, d),
                None if bias is None else part(g, bias, 0, 0, rows),
                None if bias is None else part(g, bias, 0, rows, 2 * rows),
                None if p is None else row(g, p, d),
                [zeros if h is None else row(g, h, d) for h in initial], backward,
            ))  # fmt: skip

    def _lengths(self, lengths: Value | None) -> Value | None:
        """Returns the lengths of sequences, [batch] i32, or None where all are complete."""
        if lengths is None:
            return None
        if lengths.known is not None and not lengths.varying:
            found = lengths.known
            if ((found < 0) | (found > self.count)).any():
                raise Refused(f"sequence_lens {found.tolist()}; expected 0 to {self.count}")
            if (found == self.count).all():
                return None
        return self.g.cast(lengths, I32)

    def _clipped(self, function: Function, limit: float) -> Function:
        g = self.g
        return lambda x: function(g.minimum(g.maximum(x, g.scalar(-limit, x)), g.scalar(limit, x)))

    def inputs(self, biases: Sequence[Value | None]) -> list[Value]:
        """Returns the inputs' products and biases for all steps, [count, batch, gates * hidden] of each direction."""
        g = self.g
        flat = g.reshape(self.x, (self.count * self.batch, self.x.shape[2]))
        result = []
        for each, bias in zip(self.directions, biases, strict=True):
            rows = self.input_product(each, flat)
            rows = rows if bias is None else g.add(rows, bias)
            result.append(g.reshape(rows, (self.count, self.batch, each.w.shape[0])))
        return result

    def run(self, biases: Sequence[Value | None],
            step: Callable[[Direction, Value, list[Value]], list[Value]]) -> tuple[Value, ...]:  # fmt: skip
        """Returns Y and the last states. step: new states, the hidden one first, of a row of `inputs` and states."""
        g, many = self.g, len(self.directions[0].states)
        wants = self.node.wants(0)
        backward = [each.backward for each in self.directions]

        def turn(position: Value, states: Sequence[Value], rows: Sequence[Value]) -> tuple[list[Value], list[Value]]:
            after: list[Value] = []
            result: list[Value] = []
            for d, (each, given) in enumerate(zip(self.directions, rows, strict=True)):
                before = list(states[d * many : (d + 1) * many])
                if self.lengths is None:
                    new = step(each, given, before)
                    shown = new[0]
                else:
                    left = position
                    if each.backward:
                        left = g.sub(number(g, self.count - 1), position)
                    runs = g.expand_dims(g.compare("LT", left, self.lengths), 1)
                    new = step(each, given, self.entering(before, left))
                    shown = g.select(runs, new[0], g.scalar(0, new[0]))
                    new = [g.select(runs, x, y) for x, y in zip(new, before, strict=True)]
                after += new
                result.append(shown)
            return after, result if wants else []

        states = [h for each in self.directions for h in each.states]
        kinds = [((self.batch, self.hidden), self.x.dtype)] * len(self.directions) if wants else []
        last, rows = steps(g, self.count, states, self.inputs(biases), turn, kinds, self.unrolls,
                           backward, backward if wants else None, TOGETHER)  # fmt: skip
        results = [self._whole(rows) if wants else Value((0,), self.x.dtype, None, np.zeros(0, self.x.dtype))]
        for i in range(many):
            whole = g.concat([g.expand_dims(h, 0) for h in last[i::many]], 0)
            if self.lengths is not None and (self.lengths.known is None or not self.lengths.known.all()):
                is_some = g.expand_dims(g.compare("GT", self.lengths, g.scalar(0, self.lengths)), 1)
                whole = g.select(is_some, whole, g.scalar(0, whole))  # as onnxruntime's
            results.append(g.transpose(whole, (1, 0, 2)) if self.layout else whole)
        return tuple(results)

    def _whole(self, rows: Sequence[Value]) -> Value:
        g = self.g
        if not self.layout:
            return g.concat([g.expand_dims(x, 1) for x in rows], 1)
        return g.concat([g.expand_dims(g.transpose(x, (1, 0, 2)), 2) for x in rows], 2)

    def entering(self, states: list[Value], position: Value) -> list[Value]:
        """Returns the states of all sequences as the step at a position takes them, also of those that have ended."""
        return states

    def input_product(self, each: Direction, flat: Value) -> Value:
        """Returns the product of the inputs of all steps, [count * batch, size], and their weights."""
        return self.g.dot(flat, each.w, ((1,), (1,)))

    def product(self, each: Direction, h: Value, begin: int = 0, end: int | None = None) -> Value:
        """Returns the product of a state and the weights of some gates."""
        return self.g.dot(h, self.weights(each, begin, end), ((1,), (1,)))

    def weights(self, each: Direction, begin: int = 0, end: int | None = None) -> Value:
        """Returns the weights of some gates for states. Called before the loop first, they are cut once."""
        end = each.r.shape[0] // self.hidden if end is None else end
        key = (id(each), begin, end)
        if key not in self._weights:
            self._weights[key] = part(self.g, each.r, 0, begin * self.hidden, end * self.hidden)
        return self._weights[key]

    def gate(self, x: Value, i: int, many: int = 1) -> Value:
        return self.g.slice_dim(x, x.rank - 1, i * self.hidden, (i + many) * self.hidden)


def both(g: Emitter, each: Direction) -> Value | None:
    """Returns the sum of both biases."""
    if each.bias is None or each.r_bias is None:
        return None
    if each.bias.known is not None and each.r_bias.known is not None:
        return Value.of(each.bias.known + each.r_bias.known, each.bias.name)
    return g.add(each.bias, each.r_bias)


@op("RNN", keep=True)
def rnn(g: Emitter, node: Node, x: Value, w: Value, r: Value, b: Value | None = None, lengths: Value | None = None,
        initial_h: Value | None = None) -> tuple[Value, ...]:  # fmt: skip
    net = Recurrence(g, node, 1, ["Tanh"], x, w, r, b, lengths, [initial_h])

    def step(each: Direction, given: Value, states: list[Value]) -> list[Value]:
        return [each.functions[0](g.add(given, net.product(each, states[0])))]

    return net.run([both(g, each) for each in net.directions], step)


@op("GRU", keep=True)
def gru(g: Emitter, node: Node, x: Value, w: Value, r: Value, b: Value | None = None, lengths: Value | None = None,
        initial_h: Value | None = None) -> tuple[Value, ...]:  # fmt: skip
    """Returns gates z, r, h. A bias of the hidden gate that is inside of the reset is added in each step."""
    net = Recurrence(g, node, 3, ["Sigmoid", "Tanh"], x, w, r, b, lengths, [initial_h])
    resets_after = bool(node.get("linear_before_reset", 0))
    n = net.hidden

    def first(each: Direction) -> Value | None:
        if each.bias is None or each.r_bias is None or not resets_after:
            return both(g, each)
        shared = part(g, each.r_bias, 0, 0, 2 * n)
        if each.bias.known is not None and shared.known is not None:
            return Value.of(each.bias.known + np.pad(shared.known, (0, n)), each.bias.name)
        return g.add(each.bias, g.pad(shared, [0], [n]))

    for each in net.directions if not resets_after else []:
        net.weights(each, 0, 2), net.weights(each, 2, 3)
    biases = [None if each.r_bias is None else part(g, each.r_bias, 0, 2 * n, 3 * n) for each in net.directions]

    def step(each: Direction, given: Value, states: list[Value]) -> list[Value]:
        f, h_of = each.functions
        before = states[0]
        if resets_after:
            product = net.product(each, before)
            gates = f(g.add(net.gate(given, 0, 2), net.gate(product, 0, 2)))
            inner = net.gate(product, 2)
            bias = biases[net.directions.index(each)]
            inner = inner if bias is None else g.add(inner, bias)
            inner = g.mul(net.gate(gates, 1), inner)
        else:
            gates = f(g.add(net.gate(given, 0, 2), net.product(each, before, 0, 2)))
            inner = net.product(each, g.mul(net.gate(gates, 1), before), 2, 3)
        new = h_of(g.add(net.gate(given, 2), inner))
        z = net.gate(gates, 0)
        return [g.add(new, g.mul(z, g.sub(before, new)))]

    return net.run([first(each) for each in net.directions], step)


LSTM_FUNCTIONS = ["Sigmoid", "Tanh", "Tanh"]


@op("LSTM", keep=True)
def lstm(g: Emitter, node: Node, x: Value, w: Value, r: Value, b: Value | None = None, lengths: Value | None = None,
         initial_h: Value | None = None, initial_c: Value | None = None,
         p: Value | None = None) -> tuple[Value, ...]:  # fmt: skip
    """Returns gates i, o, f, c."""
    return lstm_of(Recurrence(g, node, 4, LSTM_FUNCTIONS, x, w, r, b, lengths, [initial_h, initial_c], p))


def lstm_of(net: Recurrence) -> tuple[Value, ...]:
    """Returns Y and the last states of an LSTM."""
    g, n = net.g, net.hidden
    couples = bool(net.node.get("input_forget", 0))

    def peephole(each: Direction, gate: Value, number: int, c: Value) -> Value:
        if each.p is None:
            return gate
        return g.add(gate, g.mul(c, g.expand_dims(part(g, each.p, 0, number * n, (number + 1) * n), 0)))

    def step(each: Direction, given: Value, states: list[Value]) -> list[Value]:
        f, c_of, h_of = each.functions
        h, c = states
        gates = g.add(given, net.product(each, h))
        new = c_of(net.gate(gates, 3))
        if each.p is None:  # one function for three gates
            found = f(net.gate(gates, 0, 3))
            i, o, keeps = (net.gate(found, k) for k in range(3))
        else:
            i = f(peephole(each, net.gate(gates, 0), 0, c))
            keeps = f(peephole(each, net.gate(gates, 2), 2, c))
        if couples:
            keeps = g.sub(g.scalar(1, i), i)
        c = g.add(g.mul(keeps, c), g.mul(i, new))
        if each.p is not None:
            o = f(peephole(each, net.gate(gates, 1), 1, c))
        return [g.mul(o, h_of(c)), c]

    return net.run([both(g, each) for each in net.directions], step)

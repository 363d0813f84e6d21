# SPDX-License-Identifier: Apache-2.0
"""LSTM with weights of 8 bits, whose inputs and states are quantized as they come."""

from __future__ import annotations

from typing import Any

from ...emitter import Emitter
from ...errors import Refused
from ...registry import MICROSOFT, Node, op
from ...values import F32, U8, Value
from ..products.quantized import dynamic_scale, quantized, require_bytes, shifted
from ..recurrent import LSTM_FUNCTIONS, Direction, Recurrence, lstm_of, row


def turned(g: Emitter, weights: Value) -> Value:
    """Returns [directions, size, gates * hidden] as LSTM has them."""
    if weights.rank != 3:
        raise Refused(f"weights {weights!r}; expected [directions, size, 4 * hidden]")
    require_bytes(weights)
    return g.transpose(weights, [0, 2, 1])


class Weights:
    """The integers of a direction's weights less their zero points, [columns, size] in i32, and their scales."""

    def __init__(self, g: Emitter, weights: Value, d: int, many: int, scale: Value, zero: Value | None) -> None:
        columns = weights.shape[0]

        def parameter(x: Value) -> Value:
            if x.shape not in ((many,), (many, columns)):
                raise Refused(f"scale or zero point {x!r}; expected [{many}] or [{many}, {columns}]")
            return row(g, x, d)

        if zero is not None:
            zero = parameter(zero)
            zero = g.expand_dims(zero, 1) if zero.rank else zero
        self.whole = shifted(g, weights, zero)
        self.scale = parameter(scale)

    def product(self, g: Emitter, x: Value, ranged: Value) -> Value:
        """Returns the product of rows, quantized by the range of `ranged`, and these."""
        scale, zero = dynamic_scale(g, ranged)
        q = quantized(g, g.div(x, scale), zero, U8)
        whole = g.dot(shifted(g, q, zero), self.whole, ((1,), (1,)))
        return g.mul(g.cast(whole, F32), g.mul(self.scale, scale))


class QuantizedRecurrence(Recurrence):
    def __init__(self, g: Emitter, node: Node, x: Value, w: Value, r: Value, w_quantized: tuple[Value, Value | None],
                 r_quantized: tuple[Value, Value | None], *others: Any) -> None:  # fmt: skip
        if x.dtype != F32:
            raise Refused(f"X is {x!r}; expected float32")
        super().__init__(g, node, 4, LSTM_FUNCTIONS, x, turned(g, w), turned(g, r), *others)
        # Before the loop, so that they are made once.
        many = len(self.directions)
        self.integers = [
            (Weights(g, each.w, d, many, *w_quantized), Weights(g, each.r, d, many, *r_quantized))
            for d, each in enumerate(self.directions)
        ]

    def _of(self, each: Direction) -> tuple[Weights, Weights]:
        return next(found for own, found in zip(self.directions, self.integers, strict=True) if own is each)

    def input_product(self, each: Direction, flat: Value) -> Value:
        ranged = flat
        if self.lengths is not None and self.lengths.known is not None and self.lengths.known.size:
            # Steps after the longest sequence are not looked at.
            ranged = self.g.slice_dim(flat, 0, 0, int(self.lengths.known.max()) * self.batch)
        return self._of(each)[0].product(self.g, flat, ranged)

    def entering(self, states: list[Value], position: Value) -> list[Value]:
        """Returns sequences that ended a step ago or earlier are 0: as in onnxruntime, they do not widen the range."""
        assert self.lengths is not None
        counts = self.g.expand_dims(self.g.compare("LE", position, self.lengths), 1)
        return [self.g.select(counts, states[0], self.g.scalar(0, states[0])), *states[1:]]

    def product(self, each: Direction, h: Value, begin: int = 0, end: int | None = None) -> Value:
        assert begin == 0 and end is None
        return self._of(each)[1].product(self.g, h, h)


@op("DynamicQuantizeLSTM", domain=MICROSOFT, keep=True)
def dynamic_quantize_lstm(
    g: Emitter, node: Node, x: Value, w: Value, r: Value, b: Value | None, lengths: Value | None,
    initial_h: Value | None, initial_c: Value | None, p: Value | None, w_scale: Value, w_zero: Value | None,
    r_scale: Value, r_zero: Value | None = None,
) -> tuple[Value, ...]:  # fmt: skip
    """Returns inputs of all steps are quantized together, states step by step."""
    return lstm_of(
        QuantizedRecurrence(
            g, node, x, w, r, (w_scale, w_zero), (r_scale, r_zero), b, lengths, [initial_h, initial_c], p
        )
    )

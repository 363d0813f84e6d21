# SPDX-License-Identifier: Apache-2.0
"""Models compared with onnxruntime, or the onnx package's evaluator where it is not installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from ttmlir.onnx.model import model_of
from ttmlir.onnx.program import OnnxProgram


def session_options() -> Any:
    """Returns options of onnxruntime under which products of uint8 and int8 are exact on CPUs without VNNI, too."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.x64quantprecision", "1")
    return options


def expected(model: onnx.ModelProto, given: Mapping[str, Any]) -> list[Any]:
    """Returns the outputs of onnxruntime or the evaluator."""
    if importlib.util.find_spec("onnxruntime") is not None:
        import onnxruntime

        session = onnxruntime.InferenceSession(
            model.SerializeToString(), session_options(), providers=["CPUExecutionProvider"]
        )
        return list(session.run(None, dict(given)))
    from onnx.reference import ReferenceEvaluator

    return list(ReferenceEvaluator(model).run(None, dict(given)))


def compiled(model: onnx.ModelProto, given: Mapping[str, Any], known: Sequence[str] = ()) -> OnnxProgram:
    """Returns a program for these inputs; those of `known` have no other values."""
    shapes = {n: [np.shape(y) for y in x] if isinstance(x, list) else np.shape(x) for n, x in given.items()}
    return OnnxProgram(model_of(model, Path("model.onnx")), shapes, known={name: given[name] for name in known})


def computed(model: onnx.ModelProto, given: Mapping[str, Any], known: Sequence[str] = ()) -> list[Any]:
    """Returns the outputs of a compiled program."""
    return compiled(model, given, known)(*(x for name, x in given.items() if name not in known))


def require_same(found: Sequence[Any], expected: Sequence[Any], rtol: float = 1e-5, atol: float = 1e-5) -> None:
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        if isinstance(y, list):
            require_same(x, y, rtol, atol)
            continue
        assert (x.shape, x.dtype) == (np.shape(y), np.asarray(y).dtype)
        np.testing.assert_allclose(x.astype(np.float64), np.asarray(y).astype(np.float64), rtol=rtol, atol=atol)


def compare(model: onnx.ModelProto, given: Mapping[str, Any], known: Sequence[str] = (), **tolerances: float) -> None:
    """Requires outputs of the same shapes, types and values as onnxruntime's."""
    require_same(computed(model, given, known), expected(model, given), **tolerances)

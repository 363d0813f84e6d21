# SPDX-License-Identifier: Apache-2.0
"""Plugin of pytest: models that tests record run compiled, too, and their metrics are written.

A test that calls `record_property("model_name", name)` and `record_property("torch_ttnn", (model, inputs, outputs))`
passes when the compiled model runs and agrees with PyTorch. `@pytest.mark.compilation_xfail` says that it is not
expected to: it takes `reason` and `strict` as `xfail` does.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

NAME, MODEL, MARK = "model_name", "torch_ttnn", "compilation_xfail"
# What goes into reports (`--junitxml`) in the place of the model.
REPORTED = ("graphs", "transfers", "original_ms", "compiled_ms", "first_ms", "accuracy", "error")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("torch_ttnn", "models compiled by torch_ttnn")
    group.addoption(
        "--torch-ttnn-metrics", type=Path, default=Path("metrics"), metavar="DIR",
        help="folder for the metrics of models that tests record (default: metrics)",
    )  # fmt: skip
    group.addoption(
        "--torch-ttnn-accuracy", type=float, default=99.0, metavar="PERCENT",
        help="least accuracy of a compiled model for its test to pass (default: 99)",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARK}(reason='', strict=False): the test passes in PyTorch, its model is not expected to run compiled",
    )


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    properties = pyfuncitem.user_properties
    try:
        result = yield  # the test itself
    finally:
        recorded = dict(properties)
        # Reports hold text: no model is kept alive for them.
        properties[:] = [entry for entry in properties if entry[0] != MODEL]
    if MODEL in recorded:
        run(pyfuncitem, *recorded_model(recorded))
    return result


def recorded_model(recorded: dict[str, Any]) -> tuple[str, Any, Any]:
    """Returns name, model and inputs.

    The recorded outputs are not compared with: model and compiled model run again with the same random numbers.
    """
    name, given = recorded.get(NAME), recorded[MODEL]
    if not isinstance(name, str) or not name:
        pytest.fail(f"record_property({NAME!r}, ...) is {name!r}; expected the model's name", pytrace=False)
    if not isinstance(given, tuple) or len(given) != 3 or not callable(given[0]):
        kind = f"a {len(given)}-tuple" if isinstance(given, tuple) else type(given).__name__
        pytest.fail(
            f"record_property({MODEL!r}, ...) is {kind}; expected (model, inputs, outputs), model a callable",
            pytrace=False,
        )
    model, inputs, _ = given
    return name, model, inputs


def run(item: pytest.Function, name: str, model: Any, inputs: Any) -> None:
    from ttmlir.torch.metrics import measure

    metrics = measure(name, model, inputs)
    metrics.save(item.config.getoption("--torch-ttnn-metrics"))
    for field in REPORTED:
        item.user_properties.append((field, getattr(metrics, field)))
    least = item.config.getoption("--torch-ttnn-accuracy")
    problem = ""
    if metrics.error:
        problem = f"{name}: the compiled model fails: {metrics.error}"
    elif metrics.accuracy is not None and metrics.accuracy < least:
        problem = f"{name}: the compiled model's accuracy is {metrics.accuracy:.2f} %; expected {least:g} or more"
    mark = item.get_closest_marker(MARK)
    if mark is None:
        if problem:
            pytest.fail(problem, pytrace=False)
        return
    if problem:
        pytest.xfail(mark.kwargs.get("reason") or problem)
    if mark.kwargs.get("strict", False):
        pytest.fail(f"{name}: the compiled model runs, which {MARK} with strict=True does not expect", pytrace=False)

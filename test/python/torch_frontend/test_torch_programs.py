# SPDX-License-Identifier: Apache-2.0
"""How compiled functions behave: weights that change, arguments that are written, sizes that change, randomness, ops
that the chip lacks, options, files."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
import ttmlir.torch as tt
from compiled import assert_agree, check, on_chip
from torch import nn
from ttmlir.torch.program import default_device
from ttmlir.torch.report import record


def test_weights_are_seen_when_they_change() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    x = torch.rand(3, 4)
    with torch.no_grad():
        compiled = on_chip(model)
        assert_agree(compiled(x), model(x))
        model[0].weight.mul_(2)
        assert_agree(compiled(x), model(x), "after an update in place")
        model.load_state_dict({k: v + 1 for k, v in model.state_dict().items()})
        assert_agree(compiled(x), model(x), "after load_state_dict")
        model[2].weight.data = torch.rand(2, 8)
        assert_agree(compiled(x), model(x), "with other memory")


def test_arguments_are_written_and_views_are_views() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x[1:, ::2] += y[0]
        row = y.view(-1)[2:6]
        row.mul_(3)
        y.t()[0].zero_()
        return x.sum(), row.clone()

    check(function, torch.rand(3, 8), torch.rand(4, 4))


def test_sizes_may_change() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x @ x.T, -1) * x.shape[0]

    compiled = on_chip(function)
    for rows in (3, 5, 1, 7, 3):
        x = torch.rand(rows, 4)
        assert_agree(compiled(x), function(x), f"{rows} rows")


def test_random_numbers_are_those_of_pytorch() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.dropout = nn.Linear(16, 16), nn.Dropout(0.4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.dropout(self.linear(x)) + torch.randn(16) + torch.rand_like(x)

    model = Model()
    compiled = on_chip(model)
    x = torch.rand(8, 16)
    for seed in (1, 2):
        torch.manual_seed(seed)
        want = model(x)
        torch.manual_seed(seed)
        assert_agree(compiled(x), want)


def test_training_follows_pytorch() -> None:
    def trained(wrap: object) -> tuple[list[float], nn.Module]:
        torch.manual_seed(0)
        model = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.2),
            nn.Flatten(), nn.Linear(8 * 16, 10),
        )  # fmt: skip
        run = wrap(model)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        images, labels = torch.rand(32, 1, 8, 8), torch.randint(0, 10, (32,))
        losses = []
        for _ in range(10):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(run(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        return losses, model

    want, ours = trained(lambda m: m), trained(on_chip)
    assert want[0][-1] < want[0][0]
    assert ours[0] == pytest.approx(want[0], rel=1e-3)
    assert_agree([*ours[1].buffers()], [*want[1].buffers()], "statistics")


def test_a_kernel_of_a_sequence_fits_into_a_core() -> None:
    """A row of the first kernel takes more than a core's L1; the second is short."""
    draw = torch.Generator().manual_seed(0)
    for sequence, kernel, stride in (((1, 1, 576), (258, 1, 256), 64), ((2, 4, 20), (6, 4, 3), 1)):
        x, w = (torch.randn(shape, generator=draw) for shape in (sequence, kernel))
        check(lambda x, w, stride=stride: nn.functional.conv1d(x, w, stride=stride), x, w)


def test_ops_that_the_chip_lacks_run_in_pytorch() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x @ x.T + torch.eye(4)
        return torch.linalg.cholesky(y) * 2 + torch.fft.fft(y).abs()

    with pytest.warns(UserWarning, match=r"PyTorch runs what the chip has no op for: aten\._fft_r2c"):
        check(function, torch.rand(4, 4))


class Integers(nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return nn.functional.conv2d(x, w)


def test_an_op_that_is_refused_names_the_line() -> None:
    images = (torch.ones(1, 1, 3, 3, dtype=torch.int64), torch.ones(1, 1, 2, 2, dtype=torch.int64))
    text = (
        r"test_torch_programs\.py:\d+: aten\.convolution\.default\(int64\[1, 1, 3, 3\].*"
        r"a convolution of torch\.int64"
    )
    with pytest.raises(tt.UnsupportedError, match=text):
        tt.compile(Integers(), images)
    with pytest.warns(UserWarning, match=r"no op for: aten\.convolution\.default"), record() as reports:
        check(Integers(), *images)
    assert all(re.search(text, report.reasons["aten.convolution.default"]) for report in reports) and reports


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"target": "bf16"}, ValueError, "option 'target' is not known; known: device, target_format"),
        ({"target_format": 3}, TypeError, "option target_format is 3; expected a format such as 'bf16'"),
        ({"target_format": "f99"}, ValueError, "option target-format is 'f99'; expected f32"),
        ({"pipeline": "enable-fusing=perhaps"}, ValueError, "enable-fusing"),
        ({"pipeline": 5}, TypeError, "options is 5; expected options of ttir-to-ttnn-backend-pipeline"),
        ({"device": 0}, TypeError, "option device is 0; expected an open device"),
    ],
)
def test_wrong_options(options: dict[str, object], error: type[Exception], text: str) -> None:
    """They are the user's, and not wrapped as failures of a compiler are."""
    with pytest.raises(error, match=text):
        on_chip(lambda x: x + 1, options=options)(torch.rand(2))


def test_the_page_lists_the_formats_that_there_are() -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "torch.md"
    (row,) = re.findall(r"^\| `target_format` \|.*computes in: (.*) \|$", page.read_text(encoding="utf-8"), re.M)
    with pytest.raises(ValueError, match=r"expected (.*)") as caught:
        on_chip(lambda x: x + 1, options={"target_format": "f99"})(torch.rand(2))
    listed = re.findall(r"\w+", row)
    said = str(caught.value).partition("expected")[2].splitlines()[0]
    assert listed == re.findall(r"\w*\d", said) and len(listed) > 4
    for name in listed:
        assert on_chip(lambda x: x + 1, options={"target_format": name})(torch.zeros(4)).tolist() == [1.0] * 4


def test_formats_of_the_chip() -> None:
    torch.manual_seed(0)
    model, x = nn.Linear(64, 64).eval(), torch.rand(4, 64)
    with torch.no_grad():
        want = model(x)
        errors = {}
        for name in ("f32", "bf16", "bfp_bf8"):
            got = on_chip(model, options={"target_format": name})(x)
            assert got.dtype is torch.float32
            errors[name] = float((got - want).abs().max())
    assert errors["f32"] < 1e-5 < errors["bf16"] < errors["bfp_bf8"] < 0.1


def test_64_bit_inputs_that_do_not_fit_are_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = on_chip(lambda x: x + 1)
        assert torch.equal(compiled(torch.tensor([2**31 - 2])), torch.tensor([2**31 - 1]))
        with pytest.raises(RuntimeError, match="2147483648"):
            compiled(torch.tensor([2**31]))


def test_types_that_the_chip_lacks_are_computed_by_pytorch() -> None:
    x = torch.rand(4, dtype=torch.complex64)
    with pytest.warns(UserWarning, match="PyTorch runs what the chip has no op for"):
        check(lambda z: (z * z).real + 1, x)


def test_compiled_ahead(tmp_path: object) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
    x = torch.rand(3, 4)
    compiled = tt.compile(model.train(), (x,))
    before = {k: v.clone() for k, v in model.state_dict().items()}
    want = model(x)
    assert_agree(compiled(x), want.detach())
    assert "ttir.linear" in compiled.ttir and "ttnn.linear" in compiled.ttnn
    assert {p.suffix for p in compiled.save(f"{tmp_path}/model.mlir")} == {".mlir"}
    file, _ = compiled.save(f"{tmp_path}/model.ttnn")
    assert file.read_bytes() == compiled.flatbuffer
    with pytest.raises(ValueError, match=r"suffix '\.txt'; known: \.ttnn, \.mlir, "):
        compiled.save(f"{tmp_path}/model.txt")
    with pytest.raises(ValueError, match="the model was exported with"):
        compiled(x, x)
    assert not torch.equal(before["1.running_mean"], model.state_dict()["1.running_mean"])


def test_one_device_serves_all_programs() -> None:
    check(lambda x: x * 2, torch.rand(3))
    first = default_device()
    check(lambda x: x * 3, torch.rand(3))
    assert default_device() is first


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("sizes", [{"size": (6, 10)}, {"size": (7, 4)}, {"scale_factor": 3.4}, {"scale_factor": 1.5}])
def test_pixels_are_taken_as_pytorch_takes_them(mode: str, sizes: dict[str, object]) -> None:
    check(lambda x: nn.functional.interpolate(x, mode=mode, **sizes), torch.rand(1, 2, 2, 5))


def test_dropout_of_a_model_that_trains_is_exported() -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.5)).train()
    x = torch.rand(4, 64)
    compiled = tt.compile(model, (x,))
    torch.manual_seed(3)
    want = model(x).detach()
    torch.manual_seed(3)
    assert_agree(compiled(x), want)
    assert (want == 0).any()


def test_dropout_within_attention() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.5)

    check(function, torch.rand(1, 2, 8, 16))


def test_variance_of_fewer_values_than_the_correction() -> None:
    check(lambda x: (x.var(1, correction=2), x.var(1, correction=3), x[:, :1].var(1)), torch.rand(3, 2))


@pytest.mark.parametrize("order", [3, 6, 0.5, -1, -2.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_vector_norms_of_any_order(order: float, dtype: torch.dtype) -> None:
    x = (torch.rand(2, 3, 5) + 0.5).to(dtype) * torch.tensor([1, -1, 1, -1, 1], dtype=dtype)

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        norm = torch.linalg.vector_norm
        return norm(x, order), norm(x, order, 1), norm(x, order, (0, -1), keepdim=True), norm(x[0, 0, 0], order)

    with record() as reports:
        check(function, x)
    assert not any(report.on_host for report in reports)


@pytest.mark.parametrize("boolean", [True, False], ids=["bool", "float"])
def test_rows_that_see_no_key_are_zero(boolean: bool) -> None:
    mask = torch.ones(2, 1, 4, 4, dtype=torch.bool)
    mask[0, 0, 1] = False
    if not boolean:
        mask = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)

    def function(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)

    x = torch.rand(2, 2, 4, 8)
    result = check(function, x, mask)
    assert (result[0, :, 1] == 0).all()
    grads = []
    for run in (function, on_chip(function)):
        given = x.clone().requires_grad_()
        run(given, mask).square().sum().backward()
        grads.append(given.grad)
    assert_agree(grads[1], grads[0])


def test_safe_softmax_of_nothing_is_zero() -> None:
    x = torch.rand(2, 4)
    x[0] = -torch.inf
    check(lambda x: torch.ops.aten._safe_softmax(x, -1), x)


@pytest.mark.parametrize("lengths", [(3, 6), (6, 3), (4, 4), (1, 5)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_causal_attention_begins_with_the_first_key(lengths: tuple[int, int], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    query, key = (9 * torch.randn(2, 4, n, 8, dtype=dtype) for n in lengths)

    def function(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(query, key, key, is_causal=True)

    check(function, query, key)
    grads = []
    for run in (function, on_chip(function)):
        given = [x.clone().requires_grad_() for x in (query, key)]
        run(*given).sum().backward()
        # Of one range: the gradient of a query that sees one key is 0, and what is computed is its rounding.
        grads.append(torch.cat([x.grad.flatten() for x in given]))
    assert_agree(grads[1], grads[0])


@pytest.mark.long
def test_importing_loads_no_dynamo() -> None:
    """It takes PyTorch more than a second, which programs that do not use it do not wait for."""
    program = """
import sys
import pybuda, torch, torch_stat, torch_ttnn, ttmlir.onnx, ttmlir.torch
assert torch_ttnn.backend is ttmlir.torch.backend
print([name for name in ("torch._dynamo", "functorch", "sympy", "networkx") if name in sys.modules])
print(torch.compile(lambda x: x + 1, backend="tt")(torch.ones(2)), "torch._dynamo" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.stdout.splitlines() == ["[]", "tensor([2., 2.]) True"], found.stderr

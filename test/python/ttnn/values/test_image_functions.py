# SPDX-License-Identifier: Apache-2.0
"""Prepared grids and colors of images, compared with PyTorch's and with what ttnn 0.81.1 returns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import ttnn


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.Device]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


PLACES = torch.tensor([[[[-1.0, -1.0], [1.0, 1.0], [0.1, -0.3], [-3.0, 2.5]]]])
# By mode and align_corners: what the library makes of PLACES for images of 5 by 7, whole numbers as such.
PREPARED = {
    ("bilinear", False): [[-1, -1, 0, 0, 0, 0.25], [4, 6, 0.25, 0, 0, 0],
                          [1, 3, 0.48828125, 0.26171875, 0.162109375, 0.08740234375], [8, -1, 0, 0, 0, 0]],
    ("bilinear", True): [[0, 0, 1, 0, 0, 0], [4, 6, 1, 0, 0, 0],
                         [1, 3, 0.419921875, 0.1796875, 0.279296875, 0.1201171875], [7, -1, 0, 0, 0, 0]],
    ("nearest", False): [[0, 0], [-1, -1], [1, 3], [-1, -1]],
}  # fmt: skip


@pytest.mark.parametrize(("mode", "align"), PREPARED, ids=["bilinear", "bilinear-align", "nearest"])
def test_prepared_grids_are_those_of_the_library(mode: str, align: bool) -> None:
    grid = ttnn.from_torch(PLACES)
    found = ttnn.to_torch(ttnn.prepare_grid_sample_grid(grid, [1, 5, 7, 4], mode=mode, align_corners=align))
    whole, expected = found[0, 0, :, :2].contiguous().view(torch.int16), torch.tensor(PREPARED[mode, align])
    used = expected[:, 2:].abs().sum(1) > 0 if mode == "bilinear" else torch.ones(4, dtype=torch.bool)
    assert torch.equal(whole[used].float(), expected[used, :2].float())
    assert torch.equal(found[0, 0, :, 2:].float(), expected[:, 2:].float())


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_prepared_grids_give_the_same_pixels(mode: str, device: ttnn.Device) -> None:
    generator = torch.Generator().manual_seed(3)
    image = torch.randn(2, 300, 7, 3, generator=generator)
    grid = torch.rand(2, 3, 5, 2, generator=generator) * 2.4 - 1.2
    prepared = ttnn.prepare_grid_sample_grid(ttnn.from_torch(grid), image.shape, mode=mode)
    found = ttnn.grid_sample(
        ttnn.from_torch(image, device=device), ttnn.to_device(prepared, device), mode=mode, use_precomputed_grid=True
    )
    expected = torch.nn.functional.grid_sample(image.permute(0, 3, 1, 2), grid, mode, align_corners=False)
    torch.testing.assert_close(ttnn.to_torch(found), expected.permute(0, 2, 3, 1), rtol=2e-2, atol=2e-2)


def test_grids_and_images_without_elements(device: ttnn.Device) -> None:
    image, empty = (ttnn.from_torch(torch.ones(1, rows, 7, 3), device=device) for rows in (5, 0))
    grid, none = (ttnn.from_torch(torch.zeros(1, rows, 4, 2), device=device) for rows in (2, 0))
    assert tuple(ttnn.grid_sample(image, none).shape) == (1, 0, 4, 3)
    assert not ttnn.to_torch(ttnn.grid_sample(empty, grid)).any()
    assert tuple(ttnn.rotate(empty, 30.0).shape) == (1, 0, 7, 3)


def test_wrong_calls_name_what_is_wrong(device: ttnn.Device) -> None:
    image = ttnn.from_torch(torch.ones(1, 4, 4, 2), device=device)
    with pytest.raises(ValueError, match=r'ttnn.grid_sample: padding_mode is \'border\'; expected "zeros"'):
        ttnn.grid_sample(image, image, padding_mode="border")
    with pytest.raises(ValueError, match=r"ttnn.grid_sample: grid has shape \[2, 1, 1, 2\]; expected \[1, rows"):
        ttnn.grid_sample(image, ttnn.from_torch(torch.ones(2, 1, 1, 2), device=device))
    with pytest.raises(ValueError, match=r"ttnn.rotate: expand is True; expected False"):
        ttnn.rotate(image, 1.0, expand=True)
    with pytest.raises(ValueError, match=r"ttnn.rgb_to_yuv: input has shape \[1, 4, 4, 2\]; expected \[3, height"):
        ttnn.rgb_to_yuv(image)
    with pytest.raises(ValueError, match=r"ttnn.situ_glu: beta1 is 0.0 and beta2 1.0"):
        ttnn.situ_glu(image, image, 0.0, 1.0)
    with pytest.raises(TypeError, match=r"ttnn.bcast: math_op is 1; expected ttnn.BcastOpMath"):
        ttnn.bcast(image, image, 1, ttnn.BcastOpDim.H)


def test_coefficients_are_those_of_the_library() -> None:
    for found, expected in (
        (ttnn.yuv_bt601_coefficients(), [
            [32.74049758911133, 64.27649688720703, 12.482999801635742, 125.5],
            [-18.898420333862305, -37.10157775878906, 56.0, 128.0],
            [56.0, -46.893009185791016, -9.106989860534668, 128.0]]),
        (ttnn.yuv_bt709_coefficients(), [
            [23.279699325561523, 78.31439971923828, 7.905900001525879, 125.5],
            [-12.832075119018555, -43.16792297363281, 56.0, 128.0],
            [56.0, -50.8651237487793, -5.13487434387207, 128.0]]),
    ):  # fmt: skip
        torch.testing.assert_close(torch.tensor([found.y, found.cb, found.cr]), torch.tensor(expected))


@pytest.mark.parametrize("space", ["BT601", "BT709", "BT2020"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_colors_are_converted(space: str, dtype: torch.dtype, device: ttnn.Device) -> None:
    red, blue = {"BT601": (0.299, 0.114), "BT709": (0.2126, 0.0722), "BT2020": (0.2627, 0.0593)}[space]
    frames = torch.rand(3, 6, 4, 5, generator=torch.Generator().manual_seed(1)).to(dtype)
    r, g, b = frames.double()
    y = red * r + (1 - red - blue) * g + blue * b
    cb, cr = (torch.nn.functional.avg_pool2d(((each - y) / (2 * (1 - part))).movedim(-1, 0), 2).movedim(0, -1)
              for each, part in ((b, blue), (r, red)))  # fmt: skip
    tensor = ttnn.from_torch(frames, device=device)
    for full, expected in (
        (False, (y * 219 + 16, cb * 224 + 128, cr * 224 + 128)),
        (True, (y * 255, cb * 255 + 128, cr * 255 + 128)),
    ):
        found = ttnn.rgb_to_yuv(
            tensor,
            color_space=ttnn.YUVColorSpace[space],
            input_range=ttnn.RGBRange.ZeroToOne,
            output_range=ttnn.YUVRange.Full if full else ttnn.YUVRange.Limited,
        )
        for ours, theirs in zip(found, expected, strict=True):
            got = ttnn.to_torch(ours)
            assert got.dtype == torch.uint8 and got.shape == (1, *theirs.shape)
            assert (got[0].double() - theirs.clamp(0, 255)).abs().max() <= 0.5 + 1e-4
    wide = ttnn.rgb_to_yuv(tensor, wide_rows=True)
    assert [tuple(each.shape) for each in wide] == [(1, 6, 20), (1, 3, 10), (1, 3, 10)]

# SPDX-License-Identifier: Apache-2.0
"""Runs PyTorch 2 models on simulated Tenstorrent chips: `torch.compile(module, backend=torch_ttnn.backend)`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ttmlir.torch import Options as TorchTtnnOption
    from ttmlir.torch import backend

__all__ = ["TorchTtnnOption", "backend"]


def __getattr__(name: str) -> Any:
    # pytest loads this package in each of its processes for the plugin, also if PyTorch is unused or not installed.
    if name not in __all__:
        raise AttributeError(f"torch_ttnn has no {name!r}; known: {', '.join(__all__)}")
    from ttmlir.torch import Options, backend

    globals().update(TorchTtnnOption=Options, backend=backend)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

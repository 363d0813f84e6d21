# SPDX-License-Identifier: Apache-2.0
"""PyTorch 2 on Tenstorrent's chips, here simulated ones: `torch.compile(module, backend=torch_ttnn.backend)`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ttmlir.torch import Options as TorchTtnnOption
    from ttmlir.torch import backend

__all__ = ["TorchTtnnOption", "backend"]


def __getattr__(name: str) -> Any:
    # For its plugin pytest loads this package in each of its processes, also where PyTorch is not used or not there.
    if name not in __all__:
        raise AttributeError(f"torch_ttnn has no {name!r}; known: {', '.join(__all__)}")
    from ttmlir.torch import Options, backend

    globals().update(TorchTtnnOption=Options, backend=backend)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

# SPDX-License-Identifier: Apache-2.0
"""PyTorch 2 on Tenstorrent's chips, here simulated ones: `torch.compile(module, backend=torch_ttnn.backend)`."""

from ttmlir.torch import Options as TorchTtnnOption
from ttmlir.torch import backend

__all__ = ["TorchTtnnOption", "backend"]

# SPDX-License-Identifier: Apache-2.0
"""Tracer of PyTorch's graphs: which ops models have, of which sizes, for `stat_models.py` and `generate_report.py`.

with torch_stat.Tracer("my model", Path("stat")) as tracer:
    model = torch.compile(model, backend=tracer.backend)
    model(x).sum().backward()
"""

from .report import MissingTraceError, write_report
from .tracer import Call, Tracer, read_calls

__all__ = ["Call", "MissingTraceError", "Tracer", "read_calls", "write_report"]

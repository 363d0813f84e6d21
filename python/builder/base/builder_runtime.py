# SPDX-License-Identifier: Apache-2.0
"""The import path for running flatbuffers and comparing with goldens. The functions are in
`builder.execution.flatbuffers`."""

from builder.execution import callbacks, flatbuffers
from builder.execution.callbacks import *  # noqa: F403 - the names are those of __all__ there
from builder.execution.callbacks import golden as golden  # these are for callbacks of one's own, not for `import *`
from builder.execution.callbacks import memory as memory
from builder.execution.callbacks import post_op_callback as post_op_callback
from builder.execution.callbacks import update_device_tensor as update_device_tensor
from builder.execution.flatbuffers import *  # noqa: F403

__all__ = [*callbacks.__all__, *flatbuffers.__all__]

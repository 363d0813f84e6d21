# SPDX-License-Identifier: Apache-2.0
"""Options of the PyTorch front end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from _ttmlir_runtime import runtime
from ttmlir.options import CompileOptions, Given, framework_options

from .cache import requested_cache

# The options of the pipeline that this front end has names for.
TRANSLATED = {"target_format": "target-format", "weight_format": "experimental-weight-dtype"}


@dataclass
class Options:
    """The options of compiling graphs and of running them.

    device: an open mesh device of `ttnn.open_device` or of the runtime; None for one chip that is opened when needed.
    target_format: the float format that the chip computes in: "f32", "bf16", "bfp_bf8", ...; None for the model's own.
    weight_format: block format of weights: "bfp_bf8" or "bfp_bf4"; None for their own.
    watch_weights: compare the values of weights at each call, so that writes are seen that PyTorch does not count:
        through `.data`, NumPy, DLPack. It costs reading the weights. None: all values in graphs that have a backward
        pass, and sixteen of each weight in others, which finds what writes all of a weight. False: none.
    pipeline: further options of `ttir-to-ttnn-backend-pipeline`: a `ttmlir.CompileOptions`, or what that takes
        ("enable-fusing-pass=false"). They replace what the front end sets: see `compile_options`.
    cache: where compiled programs are kept for the next process: a folder, True for the user's, False for none, or a
        `ttmlir.torch.cache.Cache`, which this becomes; None for what the environment's TTMLIR_CACHE says, or none.
    """

    device: Any = None
    target_format: str | None = None
    weight_format: str | None = None
    watch_weights: bool | None = None
    pipeline: Given = None
    cache: Any = None

    def __post_init__(self) -> None:
        if self.device is not None and not isinstance(self.device, runtime.Device):
            raise TypeError(
                f"option device is {self.device!r}; expected an open device, as of ttnn.open_device, or None"
            )
        for name in ("target_format", "weight_format"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"option {name} is {value!r}; expected a format such as 'bf16', or None")
        if self.watch_weights not in (None, False, True):
            raise TypeError(f"option watch_weights is {self.watch_weights!r}; expected True, False or None")
        self.cache = requested_cache(self.cache)
        self.compile_options()

    @classmethod
    def of(cls, given: Options | Mapping[str, Any] | None) -> Options:
        """Returns options as `torch.compile(options=...)` passes them on: an object of this class, or a dictionary.

        Raises:
            TypeError: another kind of object, or an option of another type.
            ValueError: a name that is no option, or what the pipeline does not take.
        """
        if given is None:
            return cls()
        if isinstance(given, Options):
            return given
        if not isinstance(given, Mapping):
            raise TypeError(f"options is {type(given).__name__}; expected TorchTtnnOption or a dictionary")
        known = [f.name for f in fields(cls)]
        if unknown := [name for name in given if name not in known]:
            raise ValueError(f"option {unknown[0]!r} is not known; known: {', '.join(known)}")
        return cls(**given)

    def compile_options(self) -> CompileOptions:
        """Returns the options of the pipeline from TTIR to TTNN: all that are set, including those that the front end
        adds.

        Raises:
            TypeError: `pipeline` is of another type.
            OptionError: an option, or a value, that the pipeline does not take.
        """
        named = {option: getattr(self, name) for name, option in TRANSLATED.items()}
        return framework_options().with_(named).with_(self.pipeline)

# SPDX-License-Identifier: Apache-2.0
"""Registration of the plugin with JAX."""

from __future__ import annotations

import ctypes
import warnings
from pathlib import Path
from typing import Any

PLATFORM = "tt"
# The plugin speaks one version of PJRT's C API, and JAX's front ends are read as this one writes them.
JAX_VERSION = "0.10.2"


def library_path() -> Path:
    """Returns the shared library of the plugin.

    Raises:
        FileNotFoundError: it was not built.
    """
    path = Path(__file__).parent / "pjrt_plugin_tt.so"  # next to this file or, in the build folder, the link to it
    if not path.exists():
        raise FileNotFoundError(
            f"{path} does not exist: the PJRT plugin was not built. `make build` builds it, with the network, from "
            "which its C header is fetched, or with TTMLIR_PJRT_INCLUDE; `make demo` does not"
        )
    return path


def _enable_donation_and_cache() -> None:
    """Enables donation of arrays and the cache of programs, which JAX reserves to platforms that it knows by name."""
    from jax._src import compilation_cache
    from jax._src.interpreters import mlir

    if PLATFORM not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(PLATFORM)
    known = compilation_cache.is_cache_used

    def is_cache_used(backend: Any) -> bool:
        if backend.platform != PLATFORM:
            return bool(known(backend))
        return bool(compilation_cache._is_cache_enabled())

    compilation_cache.is_cache_used = is_cache_used


def _make_client() -> Any:
    """Creates a client of the platform. Callbacks get their arguments as arrays of the CPU, which always exists."""
    from jax._src import config, xla_bridge

    client = xla_bridge.make_pjrt_c_api_client(PLATFORM)
    requested = config.jax_platforms.value
    if requested and "cpu" not in requested.split(","):
        xla_bridge._backends["cpu"] = xla_bridge._init_backend("cpu")
    return client


def initialize() -> None:
    """Registers the platform `tt`. Called by JAX when it looks for plugins.

    Warns:
        UserWarning: this is another version of JAX than the plugin is made for.
    """
    import jax
    from jax._src import xla_bridge

    from . import arithmetic, callbacks, host_linalg, linalg, shardings

    if jax.__version__ != JAX_VERSION:
        warnings.warn(
            f"jax {jax.__version__} is installed, and the plugin for tt is made for jax {JAX_VERSION}: "
            f"pip install jax=={JAX_VERSION} jaxlib=={JAX_VERSION}",
            stacklevel=2,
        )
    path = str(library_path())
    xla_bridge._nonexperimental_plugins.add(PLATFORM)  # else JAX warns programs that do not use it
    # Below the CPU: programs run on simulated chips when they ask for them.
    xla_bridge.register_plugin(PLATFORM, priority=-1, library_path=path, factory=_make_client)
    _enable_donation_and_cache()
    arithmetic.register(PLATFORM)
    linalg.register(PLATFORM)
    host_linalg.register(PLATFORM)
    library = ctypes.CDLL(path)
    shardings.register(PLATFORM, library)
    callbacks.register(PLATFORM, library)

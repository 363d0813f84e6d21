# SPDX-License-Identifier: Apache-2.0
"""Enumerations of devices, placement and tracing."""

from __future__ import annotations

import enum
from typing import TypeVar

Member = TypeVar("Member", bound="Named")


class Named(enum.Enum):
    """An enumeration whose members print as `Class.Member` and travel as text."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def to_json(self) -> str:
        return self.name

    @classmethod
    def from_json(cls: type[Member], text: str) -> Member:
        """Returns the member of this name.

        Raises:
            ValueError: there is none; names those that there are.
        """
        if text not in cls.__members__:
            raise ValueError(f"{cls.__name__} has no member {text!r}; known: {', '.join(cls.__members__)}")
        return cls[text]


# What an epoch is about: forward and backward pass, steps of optimizers.
FORWARD, BACKWARD, OPTIMIZER = "fwd", "bwd", "opt"
EPOCH_TYPES = (FORWARD, BACKWARD, OPTIMIZER)


class BackendDevice(Named):
    """Architectures of chips."""

    Grayskull = 1
    Wormhole_B0 = 2
    Blackhole = 3


class BackendType(Named):
    """The back end of programs: all but NoBackend, which compiles only, run on the simulated chip. Silicon and Versim
    run in a thread of their own, the others in the calling thread, as sequential mode does."""

    Golden = 0
    Silicon = 1
    Model = 2
    Versim = 3
    Emulation = 4
    NoBackend = 5


# Types whose programs run in the calling thread.
SEQUENTIAL = frozenset({BackendType.Golden, BackendType.Model, BackendType.Emulation})


class DeviceMode(Named):
    CompileAndRun = 0
    CompileOnly = 1
    RunOnly = 2


class PerfTraceLevel(Named):
    NONE = 0
    LIGHT = 1
    VERBOSE = 2


class CompileDepth(Named):
    """Stages of the compiler, in order. What is below FULL compiles the same, and does not run in `pybuda.verify`."""

    INIT_COMPILE = 0
    GENERATE_INITIAL_GRAPH = 1
    POST_INITIAL_GRAPH_PASS = 2
    CONSTEVAL_GRAPH = 3
    POST_PATTERN_MATCHER = 4
    OPTIMIZED_GRAPH = 5
    AUTOGRAD = 6
    POST_AUTOGRAD_PASS = 7
    PRE_LOWERING_PASS = 8
    BUDA_GRAPH_PRE_PLACER = 9
    BALANCER_PASS = 10
    PRE_NETLIST_PASS = 11
    GENERATE_NETLIST = 12
    BACKEND_GOLDEN_VERIFY = 13
    FULL = 14


class DRAMPlacementAlgorithm(Named):
    """The distribution of queues over channels of DRAM."""

    ROUND_ROBIN = 0
    ROUND_ROBIN_FLIP_FLOP = 1
    GREATEST_CAPACITY = 2
    CLOSEST = 3

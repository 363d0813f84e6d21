# SPDX-License-Identifier: Apache-2.0
"""Enums of the library that no op of the dialect has."""

from __future__ import annotations

from enum import Enum


class Arch(Enum):
    """Names an architecture."""

    WORMHOLE_B0 = 2
    BLACKHOLE = 3


class DumpTensorMode(Enum):
    """Says which values of a distributed tensor a file gets."""

    DISTRIBUTED_GATHER = 0
    LOCAL = 1


class EmbeddingsType(Enum):
    """Says what is special about the indices of an embedding."""

    GENERIC = 0
    PADDED = 1
    BINARY = 2


class GeluVariant(Enum):
    """Says which formula gelu uses."""

    Accurate = 0
    FastLut = 1
    Tanh = 2


class ShardStrategy(Enum):
    """Says how a tensor is cut into shards."""

    HEIGHT = 1
    WIDTH = 2
    BLOCK = 3


class SigmoidMode(Enum):
    """Says how exactly sigmoid is computed on the hardware."""

    FastApproximate = 0
    AccurateWithFastExp = 1
    Accurate = 2


class TileReshapeMapMode(Enum):
    """Says whether the map of a reshape of tiles is kept on the hardware."""

    CACHE = 0
    RECREATE = 1


class ThrottleLevel(Enum):
    """Says how much slower products are, to save power on the hardware."""

    NO_THROTTLE = 0
    LEVEL_1 = 1
    LEVEL_2 = 2
    LEVEL_3 = 3
    LEVEL_4 = 4
    LEVEL_5 = 5

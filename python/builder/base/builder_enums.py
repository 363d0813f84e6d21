# SPDX-License-Identifier: Apache-2.0
"""Enums of op attributes; a member's value is what MLIR's attribute prints."""

from __future__ import annotations

from enum import Enum


class _Keyword(Enum):
    def __str__(self) -> str:
        return self.value


class ReduceType(_Keyword):
    Sum = "sum"
    Mean = "mean"
    Max = "max"
    Min = "min"
    Std = "std"
    Var = "var"
    Prod = "prod"
    Invalid = "invalid"


class MeshShardType(_Keyword):
    Identity = "identity"
    Replicate = "replicate"
    Maximal = "maximal"
    Devices = "devices"


class MeshShardDirection(_Keyword):
    FullToShard = "full_to_shard"
    ShardToFull = "shard_to_full"


class AttentionMaskType(_Keyword):
    NoMask = "none"
    Causal = "causal"
    Arbitrary = "arbitrary"


__all__ = ["AttentionMaskType", "MeshShardDirection", "MeshShardType", "ReduceType"]

# SPDX-License-Identifier: Apache-2.0
"""Enums of the library that no op of the dialect has."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ..enums import numbered

# By enum: what its members say, and their names. Values count up from 0; `NAME=3` sets one.
_ROWS = {
    "Arch": ("Names an architecture.", "WORMHOLE_B0=2 BLACKHOLE QUASAR"),
    "BcastOpDim": ("Says along which dimensions bcast repeats its second operand: rows, columns or both.", "H W HW"),
    "BcastOpMath": ("Says what bcast computes.", "ADD SUB MUL"),
    "BinaryOpType": (
        "Names a function of two tensors.",
        """
        ADD SUB MUL GT LT LE GE EQ NE SQUARED_DIFFERENCE BIAS_GELU LOGADDEXP LOGICAL_AND LOGICAL_OR LOGICAL_XOR
        LDEXP LOGADDEXP2 DIV DIV_FLOOR DIV_TRUNC REMAINDER FMOD RSUB POWER BITWISE_XOR BITWISE_AND BITWISE_OR
        LEFT_SHIFT RIGHT_SHIFT LOGICAL_RIGHT_SHIFT QUANT REQUANT DEQUANT MAXIMUM MINIMUM GCD LCM ADDALPHA
        SUBALPHA XLOGY HYPOT ATAN2 NEXTAFTER WHERE_TST WHERE_TTS ISCLOSE SITU_GLU
        """,
    ),
    "ChunkGdnWyInverse": (
        "Says how chunk_gated_delta_rule inverts the triangular matrix of a chunk.",
        "AUTO HORNER FORWARD_SUBSTITUTION",
    ),
    "CoreType": (
        "Says what a core of the chip is for.",
        """
        ARC DRAM ACTIVE_ETH IDLE_ETH PCIE TENSIX ROUTER_ONLY SECURITY L2CPU DISPATCH HARVESTED ETH WORKER COUNT
        UNSPECIFIED
        """,
    ),
    "D2DStageGateMode": ("Says whether a gate between stages closes after each transfer.", "KeepOpen CloseOnTransit"),
    "DataMovementProcessor": (
        "Names a processor of a core that moves data.",
        "RISCV_0 RISCV_1 RISCV_2 RISCV_3 RISCV_4 RISCV_5 RISCV_6 RISCV_7",
    ),
    "DispatchAlgorithm": (
        "Says how tokens travel to the devices of their experts.",
        "BROADCAST SPARSE_UNICAST SPARSE_MCAST_LINEAR SPARSE_MCAST_SHORTEST_PATH SPARSE_MCAST_SPLIT_BW",
    ),
    "DispatchCoreAxis": ("Says whether cores for dispatch are a row or a column.", "ROW COL"),
    "DispatchCoreType": ("Says which cores dispatch.", "WORKER ETH"),
    "DistributedLayerNormStage": (
        "Says which half of a distributed normalization runs.",
        "NOT_DISTRIBUTED PRE_ALL_GATHER POST_ALL_GATHER",
    ),
    "DumpTensorMode": ("Says which values of a distributed tensor a file gets.", "DISTRIBUTED_GATHER LOCAL"),
    "EmbeddingsType": ("Says what is special about the indices of an embedding.", "GENERIC PADDED BINARY"),
    "FabricConfig": (
        "Says how the chips of a mesh are connected.",
        """
        DISABLED FABRIC_1D_NEIGHBOR_EXCHANGE FABRIC_1D FABRIC_1D_RING FABRIC_2D FABRIC_2D_TORUS_X
        FABRIC_2D_TORUS_Y FABRIC_2D_TORUS_XY CUSTOM
        """,
    ),
    "FabricManagerMode": ("Says who starts and stops the fabric.", "ENABLED INIT_FABRIC TERMINATE_FABRIC DEFAULT"),
    "FabricReliabilityMode": (
        "Says whether the fabric starts when links are down.",
        "STRICT_INIT RELAXED_INIT DYNAMIC_RECONFIG",
    ),
    "FabricTensixConfig": ("Says whether worker cores help the fabric.", "DISABLED MUX"),
    "FabricType": (
        "Says in which directions the links of a mesh close to a ring.",
        "MESH=1 TORUS_X TORUS_Y=4 TORUS_XY=6",
    ),
    "FabricUDMMode": (
        "Says whether the fabric moves data for cores that run no kernel of its own.",
        "DISABLED ENABLED",
    ),
    "GeluVariant": ("Says which formula gelu uses.", "Accurate FastLut Tanh"),
    "H2DMode": ("Says whether the host pushes data to a socket or the device pulls it.", "HOST_PUSH DEVICE_PULL"),
    "LayerNormType": ("Names a normalization of rows.", "LAYERNORM RMSNORM"),
    "LossReductionMode": ("Says what is made of the losses of elements.", "NONE MEAN SUM"),
    "MMSignalAggregatorMode": ("Says whether signals between a product and a collective are gathered.", "Auto On Off"),
    "McastCoreOrder": ("Says in which order cores are counted.", "RowMajor ColumnMajor"),
    "McastDataReady": ("Says what tells a receiver that data is there.", "Flag Counter"),
    "McastSenderPlacement": (
        "Says whether all groups of receivers have their sender at the same place.",
        "Uniform Staggered",
    ),
    "NOC": ("Names a network on the chip.", "NOC_0 RISCV_0_default=0 NOC_1 RISCV_1_default=1"),
    "NOC_MODE": ("Says whether a processor keeps to one network.", "DM_DEDICATED_NOC DM_DYNAMIC_NOC"),
    "PaddingMode": ("Says what stands around an image.", "Zeros Replicate"),
    "RGBRange": ("Says between which numbers the colours of an image lie.", "MinusOneToOne ZeroToOne"),
    "RoutedExpertActivation": ("Names the activation of an expert.", "Silu SwiGluOai SituGlu ClampedSiluGlu"),
    "ShardShapeAlignment": ("Says whether shards are rounded up to whole tiles.", "NONE REQUIRED RECOMMENDED"),
    "ShardStrategy": ("Says how a tensor is cut into shards.", "HEIGHT=1 WIDTH BLOCK"),
    "SigmoidMode": (
        "Says how exactly sigmoid is computed on the hardware.",
        "FastApproximate AccurateWithFastExp Accurate",
    ),
    "SocketEndpoint": ("Says which end of a socket this is.", "SENDER RECEIVER"),
    "SparseKVFormat": ("Says in which format a cache of sparse attention is kept.", "BF16 FP8_E4M3 SCALED_FP8"),
    "ThrottleLevel": (
        "Says how much slower products are, to save power on the hardware.",
        "NO_THROTTLE LEVEL_1 LEVEL_2 LEVEL_3 LEVEL_4 LEVEL_5",
    ),
    "TileReshapeMapMode": ("Says whether the map of a reshape of tiles is kept on the hardware.", "CACHE RECREATE"),
    "TransferMode": (
        "Says whether data goes to several cores at once or from one to the next.",
        "Multicast ChainUnicast",
    ),
    "UnpackToDestMode": ("Says whether operands in float32 go past the source registers.", "UnpackToDestFp32 Default"),
    "WorkerMode": ("Says how the cores of a collective share tokens.", "DIRECT MUX_TOKEN_SPLIT MUX_PAYLOAD_SPLIT"),
    "YUVColorSpace": ("Names the standard that an image in YUV follows.", "BT601 BT709 BT2020"),
    "YUVFormat": ("Says how the planes of an image in YUV lie.", "YUV420Planar"),
    "YUVRange": ("Says whether an image in YUV has all values of a byte.", "Full Limited"),
}


def _made(name: str, text: str, names: str) -> Any:
    result: Any = Enum(name, numbered(names), module=__name__)  # type: ignore[misc]
    result.__doc__ = text
    return result


MODES: dict[str, Any] = {name: _made(name, *row) for name, row in _ROWS.items()}
globals().update(MODES)

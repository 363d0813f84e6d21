# SPDX-License-Identifier: Apache-2.0
"""Says how kernels send data to groups of cores, and how gates between programs lie in memory."""

from __future__ import annotations

from _ttmlir_runtime.ttnn import CoreCoord, CoreRangeSet

from .modes import NOC, McastCoreOrder, McastDataReady, McastSenderPlacement, TransferMode
from .records import Record, field

__all__ = [
    "D2DStageGateConfig",
    "McastConfig",
    "McastExplicitFixedSenderConfig",
    "McastFixedSenderConfig",
    "McastRotatingSenderConfig",
]


class McastConfig(Record):
    """Says by which network data goes to a group, and how sender and receivers agree."""

    noc = field(NOC, NOC.RISCV_0_default, by_name=True)
    handshake = field(bool, True, by_name=True)
    handshake_cores = field(CoreRangeSet, None, by_name=True)
    data_ready = field(McastDataReady, McastDataReady.Flag, by_name=True)
    irregular_receiver_set_mode = field(TransferMode, TransferMode.Multicast, by_name=True)


class McastFixedSenderConfig(Record):
    """Says that one core of each group sends, by its place in the group."""

    sender_index = field(int, 0, by_name=True, least=0)
    placement = field(McastSenderPlacement, McastSenderPlacement.Uniform, by_name=True)


class McastExplicitFixedSenderConfig(Record):
    """Holds the core that sends, for each group."""

    senders_per_group = field([CoreCoord])


class McastRotatingSenderConfig(Record):
    """Says that the cores of a group send in turn."""

    sender_cores = field(CoreRangeSet, None)
    sender_order = field(McastCoreOrder, None, by_name=True)


class D2DStageGateConfig(Record):
    """Holds the number of gates between two stages, and where their words lie, in bytes."""

    num_gates = field(int, least=1)
    slot_id_offset_bytes = field(int, least=0)
    gate_mode_offset_bytes = field(int, least=0)

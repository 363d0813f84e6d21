//===- shards.h - shards of tensors that name a layout alone ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/sim/chip.h"

namespace tt::ttnn {

/// Chooses grid and shard of a spec whose memory is sharded but says no more: as many cores of the chip as have equal
/// parts, of whole tiles in tile layout. Leaves others as they are.
void completeShards(const sim::ChipDesc &chip, TensorSpec &spec);

} // namespace tt::ttnn

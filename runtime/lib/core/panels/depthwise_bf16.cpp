//===- depthwise_bf16.cpp - depthwise convolutions -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Needs AVX512_BF16.
//
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

#include "core/panels/depthwise_lanes.h"

namespace tt::ttnn::panels::pairs {

Depthwise findDepthwise(int64_t columns, int64_t stride) { return choose(columns, stride); }

} // namespace tt::ttnn::panels::pairs

#endif

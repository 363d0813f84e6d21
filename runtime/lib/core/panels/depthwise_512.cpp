//===- depthwise_512.cpp - depthwise convolutions -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Needs AVX-512 F, BW and VL.
//
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

#include "core/panels/depthwise_lanes.h"

namespace tt::ttnn::panels::avx512 {

Depthwise findDepthwise(int64_t columns, int64_t stride) { return choose(columns, stride); }

} // namespace tt::ttnn::panels::avx512

#endif

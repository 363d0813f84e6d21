//===- calls.cpp - ops that run another program of the binary --------------===//
// SPDX-License-Identifier: Apache-2.0
//
// They have no kernel: the executor knows them by name (see lib/program).
//
//===----------------------------------------------------------------------===//

#include "core/op.h"

namespace tt::ttnn {

std::vector<OpInfo> callOps() {
  return {
      {"ttcore.load_cached", nullptr, nullptr, noCost},
      {"ttcore.while", nullptr, nullptr, noCost},
      {"ttcore.case", nullptr, nullptr, noCost},
      {"ttnn.capture_or_execute_trace", nullptr, nullptr, noCost},
  };
}

} // namespace tt::ttnn

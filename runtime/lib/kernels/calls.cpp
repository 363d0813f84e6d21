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
      {"ttcore.load_cached"},
      {"ttcore.while"},
      {"ttcore.case"},
      {"ttnn.capture_or_execute_trace"},
  };
}

} // namespace tt::ttnn

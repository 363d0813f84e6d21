//===- fabric.h - what a program sends between chips ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/runtime/binary.h"
#include "tt/ttnn/fabric.h"

namespace tt::runtime {

/// An op that sends something to other chips; of a program that has stages, a stage and one value for one later stage.
struct OpSends {
  uint32_t op = 0;
  std::vector<ttnn::Send> sends;
  double fabricNs = 0; // what the clock takes for it, which overlaps with the op's other work
};

/// The ops of a program that send something, in order. Nothing is run or planned. Throws Error for a program that is
/// not there or of a TTMetal file, OpError naming program and op where an op names no chips of the mesh, DeviceError
/// for an architecture that is not simulated.
std::vector<OpSends> sends(const Binary &binary, size_t program, Arch arch);

} // namespace tt::runtime

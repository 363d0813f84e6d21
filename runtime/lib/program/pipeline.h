//===- pipeline.h - programs that run as stages -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Stages are on sub-meshes of the device. A stage processes one micro-batch at a time: it begins when its chips have
// finished the previous one, and all inputs of this one have arrived; then its chips send the results on. Stages run at
// the same time on the chips' clock, one after another on the host.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/runtime/run.h"
#include "tt/ttnn/fabric.h"

namespace tt::runtime {

/// A transfer of one tensor of a micro-batch from chips of one stage to those of a later one.
struct StageTransfer {
  uint32_t from = 0, to = 0; // stages
  uint32_t output = 0;
  std::vector<ttnn::Send> sends;
  double ns = 0; // of the clock, with a launch
};
std::vector<StageTransfer> transfersOf(const Binary &binary, const Program &program, const sim::ChipDesc &chip);

/// Runs a program with stages; its outputs are host tensors. The caller holds the device's run mutex.
Tensors runPipeline(const Binary &binary, size_t program, const Device &device, std::span<const Tensor> inputs,
                    const Hooks *hooks, RunReport &report);
/// Estimates a run of a pipeline.
RunReport estimatePipeline(const Binary &binary, size_t program, const Device &device);

} // namespace tt::runtime

//===- fabric.cpp - what a program sends between chips --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/runtime/fabric.h"
#include "program/pipeline.h"
#include "tt/sim/chip.h"
#include "ttmlir/costs/CostModel.h"

namespace tt::runtime {

std::vector<OpSends> sends(const Binary &binary, size_t programIndex, Arch arch) {
  if (binary.identifier() != "TTNN")
    throw Error(binary.fileName() + ": what the programs of a TTMetal file send is not known before they have run");
  const Program &program = binary.program(programIndex);
  const sim::ChipDesc &chip = sim::chip(arch);
  std::vector<OpSends> found;
  if (program.pipeline)
    for (StageTransfer &transfer : transfersOf(binary, program, chip))
      found.push_back({transfer.from, std::move(transfer.sends), transfer.ns - chip.speed.launchNs});
  for (uint32_t op = 0; op < program.operations.size(); ++op) {
    const Operation &operation = program.operations[op];
    try {
      std::vector<ttnn::Send> sends = ttnn::sendsOf(program.call(operation));
      if (sends.empty())
        continue;
      const ttnn::Cost sent = ttnn::fabricCostOf(program.call(operation));
      const double ns = ttmlir::cost::timesOf(chip.speed, static_cast<double>(chip.cores()), sent).fabricNs;
      found.push_back({op, std::move(sends), ns});
    } catch (const OpError &error) {
      throw OpError("program \"" + std::string(program.name) + "\": op " + std::to_string(op) + ": " + error.what());
    }
  }
  return found;
}

} // namespace tt::runtime

//===- TTMetalOps.cpp - verifiers of TTMetal ops --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttmetal;

/// Returns the parts that the two kinds of configurations share; nothing for another attribute.
static std::optional<std::pair<FlatSymbolRefAttr, KernelArgsAttr>> kernelOf(Attribute config) {
  if (auto noc = dyn_cast<NocConfigAttr>(config))
    return std::pair(noc.getKernelSymbol(), noc.getKernelArgs());
  if (auto compute = dyn_cast<ComputeConfigAttr>(config))
    return std::pair(compute.getKernelSymbol(), compute.getKernelArgs());
  return std::nullopt;
}

LogicalResult EnqueueProgramOp::verify() {
  if (getCbPorts().size() != getCbs().size())
    return emitOpError() << "cb_ports has " << getCbPorts().size() << " entries for " << getCbs().size() << " cbs";
  DenseSet<int64_t> seen;
  constexpr int64_t ports = 32;
  for (int64_t port : getCbPorts())
    if (port < 0 || port >= ports || !seen.insert(port).second)
      return emitOpError() << "cb_ports has " << port << (port < 0 || port >= ports ? "; expected 0 to 31" : " twice");
  for (auto [index, config] : llvm::enumerate(getKernelConfigs())) {
    auto kernel = kernelOf(config);
    if (!kernel)
      return emitOpError() << "kernelConfigs[" << index << "] is " << config
                           << "; expected #ttmetal.noc_config or #ttmetal.compute_config";
    for (ArrayRef<KernelArgAttr> arguments : {kernel->second.getRtArgs(), kernel->second.getCtArgs()})
      for (KernelArgAttr argument : arguments) {
        const bool isPort = argument.getType() == KernelArgType::CBPort;
        const size_t count = isPort ? getCbs().size() : getBuffers().size();
        if (argument.getOperandIndex() >= count)
          return emitOpError() << "kernelConfigs[" << index << "] has an argument " << argument << "; there are "
                               << count << (isPort ? " cbs" : " buffers");
      }
  }
  return success();
}

LogicalResult EnqueueProgramOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (Attribute config : getKernelConfigs())
    if (auto kernel = kernelOf(config); kernel && !symbols.lookupNearestSymbolFrom(*this, kernel->first))
      return emitOpError() << "kernel " << kernel->first << " is not in the module";
  return success();
}

#define GET_OP_CLASSES
#include "ttmlir/Dialect/TTMetal/IR/TTMetalOps.cpp.inc"

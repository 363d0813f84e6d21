//===- SdyDialect.cpp - the Shardy dialect --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bytecode.h"
#include "Verify.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::sdy;

#include "ttmlir/Dialect/Sdy/IR/SdyOpsDialect.cpp.inc"

void SdyDialect::initialize() {
  registerAttributes();
  addInterface(makeBytecode(this));
  addOperations<
#define GET_OP_LIST
#include "ttmlir/Dialect/Sdy/IR/SdyOps.cpp.inc"
      >();
}

static constexpr StringLiteral kShardingAttr = "sdy.sharding";
static constexpr StringLiteral kShardingRuleAttr = "sdy.sharding_rule";

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  auto emitError = [&] { return op->emitOpError() << attribute.getName().getValue() << ' '; };
  if (attribute.getName() == kShardingAttr) {
    auto shardings = dyn_cast<TensorShardingPerValueAttr>(attribute.getValue());
    if (!shardings)
      return emitError() << "is " << attribute.getValue() << "; expected #sdy.sharding_per_value";
    return verifyShardings(emitError, shardings, op->getResultTypes(), op);
  }
  if (attribute.getName() == kShardingRuleAttr) {
    auto rule = dyn_cast<OpShardingRuleAttr>(attribute.getValue());
    if (!rule)
      return emitError() << "is " << attribute.getValue() << "; expected #sdy.op_sharding_rule";
    if (rule.getOperandMappings().size() != op->getNumOperands() ||
        rule.getResultMappings().size() != op->getNumResults())
      return emitError() << "maps " << rule.getOperandMappings().size() << " operands and "
                         << rule.getResultMappings().size() << " results; the op has " << op->getNumOperands()
                         << " and " << op->getNumResults();
    auto checkRanks = [&](ArrayRef<TensorMappingAttr> mappings, TypeRange types, StringRef what) -> LogicalResult {
      for (auto [index, entry] : llvm::enumerate(llvm::zip_equal(mappings, types))) {
        auto [mapping, type] = entry;
        // Types of tensors in portable artifacts have shapes that only VHLO knows.
        if (type.getDialect().getNamespace() == "vhlo")
          continue;
        auto shaped = dyn_cast<ShapedType>(type);
        size_t rank = shaped && shaped.hasRank() ? shaped.getRank() : 0;
        if (mapping.getDimMappings().size() != rank)
          return emitError() << "maps " << mapping.getDimMappings().size() << " dimensions of " << what << ' ' << index
                             << ", which is " << type;
      }
      return success();
    };
    return failure(failed(checkRanks(rule.getOperandMappings(), op->getOperandTypes(), "operand")) ||
                   failed(checkRanks(rule.getResultMappings(), op->getResultTypes(), "result")));
  }
  return success();
}

/// The sharding of a function argument or result.
static LogicalResult verifyFunctionValue(Operation *op, NamedAttribute attribute, StringRef what, unsigned index,
                                         ArrayRef<Type> types) {
  if (attribute.getName() != kShardingAttr)
    return success();
  auto emitError = [&] {
    return op->emitOpError() << what << ' ' << index << ": " << attribute.getName().getValue() << ' ';
  };
  auto sharding = dyn_cast<TensorShardingAttr>(attribute.getValue());
  if (!sharding)
    return emitError() << "is " << attribute.getValue() << "; expected #sdy.sharding";
  return index < types.size() ? verifySharding(emitError, sharding, types[index], op) : success();
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyFunctionValue(op, attribute, "argument", index,
                             function ? function.getArgumentTypes() : ArrayRef<Type>());
}

LogicalResult SdyDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                      NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyFunctionValue(op, attribute, "result", index, function ? function.getResultTypes() : ArrayRef<Type>());
}

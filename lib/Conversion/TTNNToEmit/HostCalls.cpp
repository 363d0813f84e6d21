//===- HostCalls.cpp - calls of functions of the host ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Emitter.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;

/// The file of the host's functions, among those of constants.
static constexpr StringLiteral hostFunctionsFile = "host_functions.so";

/// Whether the op calls a function that is part of the program.
bool Emitter::isNative(Operation *op) const {
  auto call = dyn_cast<debug::HostCallOp>(op);
  return call && native && native->functions.contains(call.getFunction());
}

/// A call states its result types: no rule knows them.
LogicalResult Emitter::convertHostCall(debug::HostCallOp op) {
  SmallVector<std::string> results;
  for (OpResult result : op->getResults()) {
    auto layout = ttnn::TTNNLayoutAttr::of(result.getType());
    if (!layout)
      return op.emitOpError() << "result " << result.getResultNumber() << " is " << result.getType()
                              << "; expected a tensor with a #ttnn.ttnn_layout (run ttnn-layout first)";
    SmallVector<std::string> shape = llvm::map_to_vector(cast<RankedTensorType>(result.getType()).getShape(),
                                                         [](int64_t size) { return std::to_string(size); });
    results.push_back(syntax.make("HostResult", {syntax.list(shape), syntax.dataType(layout.getDataType()),
                                                 syntax.layout(layout.getLayout()), syntax.memory(layout)}));
  }
  Call created;
  created.callee = syntax.path("host_call");
  if (syntax.language == Language::Cpp && op->getNumResults() != 1)
    created.callee += "<" + std::to_string(op->getNumResults()) + ">";
  auto add = [&](StringRef name, Argument::Kind kind, std::string text = "") {
    Argument &argument = created.arguments.emplace_back();
    argument.name = name;
    argument.kind = kind;
    argument.text = std::move(text);
  };
  add("library", Argument::Kind::Text, tensorPath(hostFunctionsFile));
  add("function", Argument::Kind::Text, syntax.string(op.getFunction()));
  add("tensors", Argument::Kind::Tensors);
  add("results", Argument::Kind::Text, syntax.list(results));
  add("device", Argument::Kind::Device);
  SmallVector<SmallVector<Value, 1>> operands(created.arguments.size());
  llvm::append_range(operands[2], llvm::map_range(op.getOperands(), [&](Value value) { return values.lookup(value); }));
  map(*op, call(op.getLoc(), created, operands, device, op->getNumResults(), namesOf(*op)));
  return success();
}

void Emitter::addHostFunctions() {
  if (!native)
    return;
  auto type = RankedTensorType::get(static_cast<int64_t>(native->library.size()), builder.getI8Type());
  auto code = cast<DenseIntElementsAttr>(DenseElementsAttr::getFromRawBuffer(type, native->library));
  files.push_back(
      builder.getNamedAttr(hostFunctionsFile, builder.getDictionaryAttr(builder.getNamedAttr("code", code))));
}

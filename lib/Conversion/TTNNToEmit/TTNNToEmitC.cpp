//===- TTNNToEmitC.cpp - lowering of TTNN to EmitC ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"

#include "Emitter.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTTTNNTOEMITC
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;

namespace {
class CppEmitter : public Emitter {
public:
  CppEmitter(ModuleOp module, const EmitOptions &options) : Emitter(module, Language::Cpp, options) {}

private:
  Type type(StringRef name) { return emitc::OpaqueType::get(builder.getContext(), name); }
  Attribute expression(const Twine &text) { return emitc::OpaqueAttr::get(builder.getContext(), text.str()); }
  void verbatim(const Twine &text) { emitc::VerbatimOp::create(builder, module.getLoc(), builder.getStringAttr(text)); }
  SmallVector<Value> build(Location location, StringRef callee, ArrayRef<Value> operands, ArrayRef<Attribute> arguments,
                           unsigned count, ArrayRef<std::string> names);
  Value list(Location location, ArrayRef<Value> values, StringRef type = "std::vector<ttnn::Tensor>");
  static std::string arrayType(unsigned count) { return "std::array<ttnn::Tensor, " + std::to_string(count) + ">"; }

  void begin(bool hasTensorFiles, ArrayRef<std::string> evaluatedOnce) override;
  void finish(ArrayRef<Function> programs) override;
  void define(const std::string &name, const std::string &text) override {
    emitc::VerbatimOp::create(builder, module.getLoc(), text)->setAttr(namesAttr, namesAttribute(name));
  }
  SmallVector<Value> beginFunction(const Function &function) override;
  void endFunction(const Function &function, ArrayRef<Value> results, Location location) override;
  SmallVector<Value> call(Location location, const Call &call, ArrayRef<SmallVector<Value, 1>> operands, Value device,
                          unsigned count, ArrayRef<std::string> names) override;
  SmallVector<Value> callCached(Location location, const Function &callee, ArrayRef<Value> operands, Value device,
                                unsigned count, ArrayRef<std::string> names) override;
  SmallVector<Value> callFunction(Location location, const Function &callee, ArrayRef<Value> operands,
                                  ArrayRef<std::string> names) override;
  SmallVector<Value> callControl(Location location, Value index, ArrayRef<const Function *> callees,
                                 ArrayRef<Value> operands, Value device, unsigned count,
                                 ArrayRef<std::string> names) override;
  std::string tensorPath(StringRef file) const override {
    return adjacentPath((options.tensorDirectory + "/" + file).str());
  }
  std::string adjacentPath(StringRef file) const override {
    return "ttnn::beside(__FILE__, " + syntax.string(file) + ")";
  }
};
} // namespace

void CppEmitter::begin(bool, ArrayRef<std::string>) {
  SmallVector<StringRef> headers = {hasControl ? "ttnn/control.hpp" : "ttnn/program.hpp", "ttnn/ttnn.hpp"};
  if (native)
    headers.insert(headers.begin(), "ttnn/host_call.hpp");
  if (hasKernels())
    headers.insert(headers.begin(), "ttnn/generic_op.hpp");
  for (StringRef header : headers)
    emitc::IncludeOp::create(builder, module.getLoc(), builder.getStringAttr(header), builder.getUnitAttr());
}

SmallVector<Value> CppEmitter::beginFunction(const Function &function) {
  SmallVector<std::string> names = function.arguments;
  SmallVector<Type> arguments(names.size(), type("ttnn::Tensor"));
  if (function.takesList()) {
    // Callers of a program pass one list.
    names = {function.lists.size() == 1 ? function.lists.front().name : "inputs", "device"};
    arguments = {type("std::vector<ttnn::Tensor>"), Type()};
  }
  if (function.takesDevice)
    arguments.back() = type("ttnn::Device");
  SmallVector<Type> results;
  if (function.isCalled && function.results > 1)
    results.push_back(type(arrayType(function.results)));
  else if (function.returnsList || function.results > 1)
    results.push_back(type("std::vector<ttnn::Tensor>"));
  else
    results.assign(function.results, type("ttnn::Tensor"));
  auto created =
      emitc::FuncOp::create(builder, function.location, function.name, builder.getFunctionType(arguments, results));
  created->setAttr(namesAttr, namesAttribute(names));
  builder.setInsertionPointToStart(created.addEntryBlock());
  if (!function.takesList())
    return SmallVector<Value>(created.getArguments().begin(), created.getArguments().end());
  SmallVector<Value> values;
  ArrayRef<std::string> inputs = ArrayRef(function.arguments).drop_back();
  for (auto [index, name] : llvm::enumerate(inputs))
    llvm::append_range(values, build(function.location, "ttnn::input", created.getArgument(0),
                                     {builder.getIndexAttr(0), expression(std::to_string(index))}, 1, name));
  values.push_back(created.getArgument(1));
  return values;
}

/// Tensors as one value; if it is used once, the translation writes it as `{a, b}` at the use.
Value CppEmitter::list(Location location, ArrayRef<Value> values, StringRef name) {
  return emitc::CallOpaqueOp::create(builder, location, type(name), "ttnn::tensors", values).getResult(0);
}

void CppEmitter::endFunction(const Function &function, ArrayRef<Value> results, Location location) {
  Value returned;
  if (function.isCalled && results.size() > 1)
    returned = list(location, results, arrayType(results.size()));
  else if (function.returnsList || results.size() > 1)
    returned = list(location, results);
  else if (!results.empty())
    returned = results.front();
  emitc::ReturnOp::create(builder, location, returned);
}

SmallVector<Value> CppEmitter::build(Location location, StringRef callee, ArrayRef<Value> operands,
                                     ArrayRef<Attribute> arguments, unsigned count, ArrayRef<std::string> names) {
  auto created = emitc::CallOpaqueOp::create(builder, location, SmallVector<Type>(count, type("ttnn::Tensor")), callee,
                                             operands, builder.getArrayAttr(arguments));
  if (!names.empty())
    created->setAttr(namesAttr, namesAttribute(names));
  return SmallVector<Value>(created.getResults().begin(), created.getResults().end());
}

SmallVector<Value> CppEmitter::call(Location location, const Call &call, ArrayRef<SmallVector<Value, 1>> operands,
                                    Value device, unsigned count, ArrayRef<std::string> names) {
  // C++ has no named arguments: everything before the last given argument must be given.
  size_t last = call.arguments.size();
  while (last > 0 && call.arguments[last - 1].kind == Argument::Kind::Left)
    --last;
  SmallVector<Value> values;
  SmallVector<Attribute> arguments;
  auto operand = [&](Value value) -> Attribute {
    values.push_back(value);
    return builder.getIndexAttr(values.size() - 1);
  };
  for (auto [argument, given] : llvm::zip(ArrayRef(call.arguments).take_front(last), operands)) {
    switch (argument.kind) {
    case Argument::Kind::Left:
    case Argument::Kind::Text:
      arguments.push_back(expression("/*" + argument.name + "=*/" + argument.text));
      break;
    case Argument::Kind::Tensor:
      arguments.push_back(operand(given.front()));
      break;
    case Argument::Kind::Tensors:
      arguments.push_back(operand(list(location, given)));
      break;
    case Argument::Kind::Device:
      arguments.push_back(operand(device));
      break;
    }
  }
  return build(location, call.callee, values, arguments, count, names);
}

SmallVector<Value> CppEmitter::callCached(Location location, const Function &callee, ArrayRef<Value> operands,
                                          Value device, unsigned count, ArrayRef<std::string> names) {
  SmallVector<Value> values = {list(location, operands)};
  SmallVector<Attribute> arguments = {expression(callee.name), builder.getIndexAttr(0)};
  if (device) {
    values.push_back(device);
    arguments.push_back(builder.getIndexAttr(1));
  }
  std::string name = "ttnn::load_cached";
  if (count > 1)
    name += "<" + std::to_string(count) + ">";
  return build(location, name, values, arguments, count, names);
}

SmallVector<Value> CppEmitter::callControl(Location location, Value index, ArrayRef<const Function *> callees,
                                           ArrayRef<Value> operands, Value device, unsigned count,
                                           ArrayRef<std::string> names) {
  SmallVector<Value> values;
  SmallVector<Attribute> arguments, functions;
  auto give = [&](Value value) {
    arguments.push_back(builder.getIndexAttr(values.size()));
    values.push_back(value);
  };
  for (const Function *callee : callees)
    functions.push_back(expression(callee->name));
  if (index)
    give(index);
  else
    llvm::append_range(arguments, functions);
  give(list(location, operands));
  give(device);
  if (index)
    llvm::append_range(arguments, functions);
  std::string name = index ? "ttnn::switch_case" : "ttnn::while_loop";
  if (count > 1)
    name += "<" + std::to_string(count) + ">";
  return build(location, name, values, arguments, count, names);
}

SmallVector<Value> CppEmitter::callFunction(Location location, const Function &callee, ArrayRef<Value> operands,
                                            ArrayRef<std::string> names) {
  SmallVector<Attribute> arguments;
  for (unsigned i = 0; i < operands.size(); ++i)
    arguments.push_back(builder.getIndexAttr(i));
  return build(location, callee.name, operands, arguments, callee.results, names);
}

void CppEmitter::finish(ArrayRef<Function> programs) {
  // The loader of the program opens a mesh of this shape.
  if (mesh[0] != 1 || mesh[1] != 1)
    verbatim("TTNN_MESH(" + Twine(mesh[0]) + ", " + Twine(mesh[1]) + ")");
  for (const Function &program : programs)
    verbatim("TTNN_PROGRAM(" + program.name + ", create_inputs_for_" + program.name + ")");
  if (options.withMain && !programs.empty())
    verbatim("int main() {\n  return ttnn::run_programs(" + Twine(mesh[0]) + ", " + Twine(mesh[1]) + ");\n}");
}

namespace {
struct ConvertTTNNToEmitC : mlir::tt::impl::ConvertTTNNToEmitCBase<ConvertTTNNToEmitC> {
  using ConvertTTNNToEmitCBase::ConvertTTNNToEmitCBase;
  void runOnOperation() override {
    if (failed(CppEmitter(getOperation(),
                          {!targetDylib, tensorDirectory, loadInputs, inputDirectory, inputPrefix, tuplifyInputs})
                   .run()))
      signalPassFailure();
  }
};
} // namespace

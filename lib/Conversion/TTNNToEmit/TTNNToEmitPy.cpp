//===- TTNNToEmitPy.cpp - lowering of TTNN to EmitPy ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"

#include "Emitter.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTTTNNTOEMITPY
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;

namespace {
class PythonEmitter : public Emitter {
public:
  PythonEmitter(ModuleOp module, const EmitOptions &options) : Emitter(module, Language::Python, options) {}

private:
  Type type(StringRef name) { return emitpy::OpaqueType::get(builder.getContext(), name); }
  Attribute expression(StringRef text) { return emitpy::OpaqueAttr::get(builder.getContext(), text); }
  SmallVector<Value> build(Location location, StringRef callee, ArrayRef<Value> operands, ArrayRef<Attribute> arguments,
                           ArrayRef<std::string> keywords, unsigned count, ArrayRef<std::string> names);

  void begin(bool hasTensorFiles, ArrayRef<std::string> evaluatedOnce) override;
  void finish(ArrayRef<Function> programs) override;
  void goToFileOf(const Function &function) override {
    emitpy::FileOp file = function.isEvaluatedOnce && onceFile ? onceFile : mainFile;
    builder.setInsertionPointToEnd(file ? &file.getBody().front() : module.getBody());
  }
  void define(const std::string &name, const std::string &text) override {
    emitpy::VerbatimOp::create(builder, module.getLoc(), text)->setAttr(namesAttr, namesAttribute(name));
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
  std::string tensorPath(StringRef file) const override { return "TENSORS / " + syntax.string(file); }
  std::string adjacentPath(StringRef file) const override { return "Path(__file__).parent / " + syntax.string(file); }

  void beginFile(bool usesPath, bool hasTensorFiles);
  bool isOneDevice() const { return mesh[0] == 1 && mesh[1] == 1; }
  std::string meshShape() const {
    return "ttnn.MeshShape(" + std::to_string(mesh[0]) + ", " + std::to_string(mesh[1]) + ")";
  }

  /// The files of a split program; null otherwise.
  emitpy::FileOp mainFile, onceFile;
};
} // namespace

/// Names of the files, which are names of Python modules.
static constexpr StringLiteral mainId = "main", onceId = "consteval";

void PythonEmitter::beginFile(bool usesPath, bool hasTensorFiles) {
  Location location = module.getLoc();
  if (usesPath)
    emitpy::ImportOp::create(builder, location, builder.getStringAttr("pathlib"), builder.getStrArrayAttr({"Path"}));
  emitpy::ImportOp::create(builder, location, builder.getStringAttr("ttnn"), ArrayAttr());
  if (hasTensorFiles)
    emitpy::GlobalOp::create(builder, location, "TENSORS",
                             cast<emitpy::OpaqueAttr>(expression(adjacentPath(options.tensorDirectory))));
}

void PythonEmitter::begin(bool hasTensorFiles, ArrayRef<std::string> evaluatedOnce) {
  Location location = module.getLoc();
  bool isSplit = options.splitFiles && !evaluatedOnce.empty();
  if (options.splitFiles)
    mainFile = emitpy::FileOp::create(builder, location, mainId);
  if (isSplit) {
    onceFile = emitpy::FileOp::create(builder, location, onceId);
    builder.setInsertionPointToEnd(&onceFile.getBody().front());
    beginFile(hasTensorFiles, hasTensorFiles);
  }
  if (mainFile)
    builder.setInsertionPointToEnd(&mainFile.getBody().front());
  // Programs read the constants that must be fresh in every run.
  bool ownTensors = hasTensorFiles && (!isSplit || readsTensors());
  beginFile(ownTensors || options.loadInputs, ownTensors);
  if (isSplit)
    emitpy::ImportOp::create(builder, location, builder.getStringAttr(onceId), namesAttribute(evaluatedOnce));
  // The loader of the program opens a mesh of this shape.
  if (!isOneDevice())
    emitpy::GlobalOp::create(builder, location, "MESH_SHAPE", cast<emitpy::OpaqueAttr>(expression(meshShape())));
}

SmallVector<Value> PythonEmitter::beginFunction(const Function &function) {
  SmallVector<std::string> names = function.arguments;
  SmallVector<Type> arguments(names.size(), type("ttnn.Tensor"));
  if (function.takesList()) {
    names = llvm::map_to_vector(function.lists, [](const TupleForm::List &list) { return list.name; });
    arguments.assign(names.size() + 1, type("list[ttnn.Tensor]"));
    names.push_back("device");
  }
  if (function.takesDevice)
    arguments.back() = type("ttnn.MeshDevice");
  SmallVector<Type> results;
  if (function.returnsList)
    results.assign(std::max<size_t>(function.groups.size(), 1), type("list[ttnn.Tensor]"));
  else
    results.assign(function.results, type("ttnn.Tensor"));
  // The source function still has its name; it is erased when all are done.
  auto created =
      func::FuncOp::create(builder, function.location, function.name, builder.getFunctionType(arguments, results));
  created->setAttr(namesAttr, namesAttribute(names));
  builder.setInsertionPointToStart(created.addEntryBlock());
  if (!function.takesList())
    return SmallVector<Value>(created.getArguments().begin(), created.getArguments().end());
  SmallVector<Value> values;
  ArrayRef<std::string> rest = function.arguments;
  for (auto [index, list] : llvm::enumerate(function.lists)) {
    ArrayRef<std::string> items = rest.take_front(list.elements);
    rest = rest.drop_front(list.elements);
    if (items.empty())
      continue;
    auto unpacked = emitpy::UnpackOp::create(
        builder, function.location, SmallVector<Type>(items.size(), type("ttnn.Tensor")), created.getArgument(index));
    unpacked->setAttr(namesAttr, namesAttribute(items));
    llvm::append_range(values, unpacked.getItems());
  }
  values.push_back(created.getArguments().back());
  return values;
}

void PythonEmitter::endFunction(const Function &function, ArrayRef<Value> results, Location location) {
  SmallVector<Value> returned(results);
  if (function.returnsList) {
    SmallVector<unsigned> groups = function.groups;
    if (groups.empty())
      groups.push_back(results.size());
    returned.clear();
    for (unsigned size : groups) {
      returned.push_back(
          emitpy::ListOp::create(builder, location, type("list[ttnn.Tensor]"), results.take_front(size)));
      results = results.drop_front(size);
    }
  }
  func::ReturnOp::create(builder, location, returned);
}

SmallVector<Value> PythonEmitter::build(Location location, StringRef callee, ArrayRef<Value> operands,
                                        ArrayRef<Attribute> arguments, ArrayRef<std::string> keywords, unsigned count,
                                        ArrayRef<std::string> names) {
  bool isNamed = llvm::any_of(keywords, [](const std::string &keyword) { return !keyword.empty(); });
  auto created =
      emitpy::CallOpaqueOp::create(builder, location, SmallVector<Type>(count, type("ttnn.Tensor")), callee, operands,
                                   builder.getArrayAttr(arguments), isNamed ? namesAttribute(keywords) : ArrayAttr());
  if (!names.empty())
    created->setAttr(namesAttr, namesAttribute(names));
  return SmallVector<Value>(created.getResults().begin(), created.getResults().end());
}

SmallVector<Value> PythonEmitter::call(Location location, const Call &call, ArrayRef<SmallVector<Value, 1>> operands,
                                       Value device, unsigned count, ArrayRef<std::string> names) {
  SmallVector<Value> values;
  SmallVector<Attribute> arguments;
  SmallVector<std::string> keywords;
  auto operand = [&](Value value) -> Attribute {
    values.push_back(value);
    return builder.getIndexAttr(values.size() - 1);
  };
  for (auto [argument, given] : llvm::zip(call.arguments, operands)) {
    switch (argument.kind) {
    case Argument::Kind::Left:
      continue;
    case Argument::Kind::Tensor:
      arguments.push_back(operand(given.front()));
      break;
    case Argument::Kind::Tensors:
      arguments.push_back(builder.getArrayAttr(llvm::map_to_vector(given, operand)));
      break;
    case Argument::Kind::Device:
      arguments.push_back(operand(device));
      break;
    case Argument::Kind::Text:
      arguments.push_back(expression(argument.text));
      break;
    }
    keywords.push_back(argument.isKeyword ? argument.name.str() : "");
  }
  return build(location, call.callee, values, arguments, keywords, count, names);
}

SmallVector<Value> PythonEmitter::callCached(Location location, const Function &callee, ArrayRef<Value> operands,
                                             Value device, unsigned count, ArrayRef<std::string> names) {
  SmallVector<Value> values(operands);
  SmallVector<Attribute> items;
  for (unsigned i = 0; i < operands.size(); ++i)
    items.push_back(builder.getIndexAttr(i));
  SmallVector<Attribute> arguments = {expression(callee.name), builder.getArrayAttr(items)};
  if (device) {
    arguments.push_back(builder.getIndexAttr(values.size()));
    values.push_back(device);
  }
  return build(location, "ttnn.load_cached", values, arguments, {}, count, names);
}

SmallVector<Value> PythonEmitter::callControl(Location location, Value index, ArrayRef<const Function *> callees,
                                              ArrayRef<Value> operands, Value device, unsigned count,
                                              ArrayRef<std::string> names) {
  SmallVector<Value> values;
  SmallVector<Attribute> arguments, functions;
  auto give = [&](Value value) -> Attribute {
    values.push_back(value);
    return builder.getIndexAttr(values.size() - 1);
  };
  for (const Function *callee : callees)
    functions.push_back(expression(callee->name));
  if (index) {
    arguments.push_back(give(index));
    arguments.push_back(builder.getArrayAttr(functions));
    arguments.push_back(builder.getArrayAttr(llvm::map_to_vector(operands, give)));
  } else {
    llvm::append_range(arguments, functions);
    for (ArrayRef<Value> part : {operands.take_front(count), operands.drop_front(count)})
      arguments.push_back(builder.getArrayAttr(llvm::map_to_vector(part, give)));
  }
  arguments.push_back(give(device));
  return build(location, index ? "ttnn.switch_case" : "ttnn.while_loop", values, arguments, {}, count, names);
}

SmallVector<Value> PythonEmitter::callFunction(Location location, const Function &callee, ArrayRef<Value> operands,
                                               ArrayRef<std::string> names) {
  SmallVector<Attribute> arguments;
  for (unsigned i = 0; i < operands.size(); ++i)
    arguments.push_back(builder.getIndexAttr(i));
  return build(location, callee.name, operands, arguments, {}, callee.results, names);
}

void PythonEmitter::finish(ArrayRef<Function> programs) {
  if (!options.withMain || programs.empty())
    return;
  if (mainFile)
    builder.setInsertionPointToEnd(&mainFile.getBody().front());
  std::string text = "def main():\n    device = ttnn.open_mesh_device(" + (isOneDevice() ? meshShape() : "MESH_SHAPE") +
                     ")\n    try:\n";
  for (const Function &program : programs) {
    std::string inputs = "create_inputs_for_" + program.name + "(" + (program.inputsTakeDevice ? "device" : "") + ")";
    text += "        print(\"" + program.name + ":\", " + program.name + "(" + (program.lists.size() == 1 ? "" : "*") +
            inputs + (program.takesDevice ? ", device" : "") + "))\n";
  }
  text += "    finally:\n        ttnn.close_mesh_device(device)\n\n\nif __name__ == \"__main__\":\n    main()\n";
  emitpy::VerbatimOp::create(builder, module.getLoc(), text);
}

namespace {
struct ConvertTTNNToEmitPy : mlir::tt::impl::ConvertTTNNToEmitPyBase<ConvertTTNNToEmitPy> {
  using ConvertTTNNToEmitPyBase::ConvertTTNNToEmitPyBase;
  void runOnOperation() override {
    if (failed(PythonEmitter(getOperation(), {!targetModule, tensorDirectory, loadInputs, inputDirectory, inputPrefix,
                                              tuplifyInputs, splitFiles})
                   .run()))
      signalPassFailure();
  }
};
} // namespace

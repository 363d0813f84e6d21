//===- Emitter.cpp - shared emitter of TTNN functions ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Emitter.h"

#include "Inputs.h"

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTCore/Transforms/Stages.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GetDeviceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LoadTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Traces.h"
#include "ttmlir/Target/Emit/TensorFiles.h"
#include "ttmlir/Target/TTNN/Lowered.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Emitter::usesDevice(func::FuncOp function) const {
  return !function.getBody().getOps<ttnn::GetDeviceOp>().empty() ||
         // The placement of results is stated with the device.
         llvm::any_of(function.getBody().getOps(), [&](Operation &op) { return isNative(&op); }) ||
         // A tensor is read onto the device of the program.
         !function.getBody().getOps<ttnn::LoadTensorOp>().empty() ||
         llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<ttnn::DeviceType>);
}

/// The functions that a loop or a branch runs.
static SmallVector<StringRef> controlled(Operation *op) {
  if (auto loop = dyn_cast<ttcore::WhileOp>(op))
    return {loop.getCond(), loop.getBody()};
  if (auto branch = dyn_cast<ttcore::CaseOp>(op))
    return llvm::map_to_vector(branch.getBranches().getAsRange<FlatSymbolRefAttr>(),
                               [](FlatSymbolRefAttr name) { return name.getValue(); });
  return {};
}

/// A splat constant with at least this many elements is created once and not in every run.
static constexpr int64_t cheapElements = 4096;

/// Whether an op, here or in a called function, writes a value in place: it must then be fresh in every run.
static bool isWritten(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto generic = dyn_cast<ttnn::GenericOp>(user)) // kernels write the last tensor
      return use.getOperandNumber() + 1 == generic.getInputsAndOutputs().size();
    if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(user, call.getCalleeAttr());
      return !callee || callee.isExternal() || isWritten(callee.getArgument(use.getOperandNumber()));
    }
    return !isa<ttnn::DeallocateOp>(user) && !isMemoryEffectFree(user);
  });
}

/// Returns constants that would be read from files, or filled, in every run as results of a function that is called
/// once. There is no function if there are no such constants.
func::FuncOp Emitter::hoistConstants(func::FuncOp program) {
  SmallVector<ttnn::ConstantOp> constants;
  for (auto constant : program.getOps<ttnn::ConstantOp>()) {
    bool isCheap = isa<SplatElementsAttr>(constant.getValue()) && constant.getValue().getNumElements() <= cheapElements;
    if (!isCheap && !isWritten(constant->getResult(0)))
      constants.push_back(constant);
  }
  if (constants.empty())
    return {};
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(program);
  SmallVector<Type> types =
      llvm::map_to_vector(constants, [](ttnn::ConstantOp op) { return op->getResult(0).getType(); });
  std::string name = (program.getSymName() + "_constants").str();
  while (module.lookupSymbol(name))
    name += "_";
  auto function = func::FuncOp::create(builder, program.getLoc(), name, builder.getFunctionType({}, types));
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  SmallVector<Value> values;
  SmallVector<std::string> names;
  for (ttnn::ConstantOp constant : constants) {
    for (Value operand : constant->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, builder.clone(*operand.getDefiningOp())->getResult(0));
    values.push_back(builder.clone(*constant, mapping)->getResult(0));
    names.push_back(nameOf(constant.getLoc()));
    if (names.back().empty())
      names.back() = "constant";
  }
  func::ReturnOp::create(builder, program.getLoc(), values);

  builder.setInsertionPointToStart(&program.getBody().front());
  auto cached = ttcore::LoadCachedOp::create(builder, program.getLoc(), types, name, ValueRange());
  cached->setAttr(namesAttr, namesAttribute(names));
  for (auto [constant, result] : llvm::zip(constants, cached.getResults())) {
    // They stay.
    for (Operation *user : llvm::make_early_inc_range(constant->getResult(0).getUsers()))
      if (isa<ttnn::DeallocateOp>(user))
        user->erase();
    constant->getResult(0).replaceAllUsesWith(result);
    constant.erase();
  }
  return function;
}

LogicalResult Emitter::collect() {
  NameScope names(syntax.language);
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      return function.emitOpError() << "has no body; a program cannot call it";
    if (!llvm::hasSingleElement(function.getBody()))
      return function.emitOpError() << "has " << llvm::range_size(function.getBody()) << " blocks; a program has one";
    // The inputs of a program are named after the values that replace them.
    std::string name;
    SmallVector<unsigned> groups;
    if (auto program = function->getAttrOfType<StringAttr>(inputsOfAttr)) {
      auto found = functions.find(program);
      if (found == functions.end())
        return function.emitOpError() << "has " << inputsOfAttr << " = " << program
                                      << "; expected the name of a function before it";
      Function &entry = found->second;
      name = names.give("create_inputs_for_" + entry.name);
      entry.inputsTakeDevice = usesDevice(function);
      if (entry.lists.size() > 1)
        groups = llvm::map_to_vector(entry.lists, [](const TupleForm::List &list) { return list.elements; });
    } else {
      name = names.give(function.getSymName());
    }
    const bool makesInputs = function->hasAttr(inputsOfAttr), isProgram = !makesInputs && !function.isPrivate();
    TupleForm form = tuples.lookup(function.getSymName());
    if (isProgram && options.listInputs) {
      if (form.arguments.empty()) {
        auto isTensor = [](Type type) { return !isa<ttnn::DeviceType>(type); };
        form.arguments.push_back(
            {"inputs", static_cast<unsigned>(llvm::count_if(function.getArgumentTypes(), isTensor))});
      }
      form.returnsTuple = true;
    }
    Function entry{.name = std::move(name),
                   .arguments = {},
                   .takesDevice = usesDevice(function) || !form.arguments.empty(),
                   .results = function.getNumResults(),
                   .returnsList = makesInputs || form.returnsTuple,
                   .lists = std::move(form.arguments),
                   .groups = std::move(groups),
                   .location = function.getLoc()};
    for (BlockArgument argument : function.getArguments())
      if (!isa<ttnn::DeviceType>(argument.getType()))
        entry.arguments.push_back(argumentName(function, argument));
    if (entry.takesDevice)
      entry.arguments.push_back("device");
    functions.try_emplace(function.getSymName(), std::move(entry));
  }
  return collectKernels(names);
}

bool Emitter::readsTensors() {
  bool any = false;
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (auto found = functions.find(function.getSymName()); found != functions.end() && !found->second.isEvaluatedOnce)
      for (Operation &op : function.getOps()) {
        auto constant = dyn_cast<ttnn::ConstantOp>(op);
        any |= (constant && !isa<SplatElementsAttr>(constant.getValue())) || isNative(&op);
      }
  return any;
}

/// Results of a called function may need a device that only this function knows; callees come first.
void Emitter::passDevices(ArrayRef<func::FuncOp> sources) {
  auto find = [&](StringRef name) -> Function * {
    auto found = functions.find(name);
    return found == functions.end() ? nullptr : &found->second;
  };
  auto takeDevice = [](Function &function) {
    if (!function.takesDevice)
      function.arguments.push_back("device");
    function.takesDevice = true;
  };
  for (func::FuncOp source : sources) {
    Function &caller = *find(source.getSymName());
    for (Operation &op : source.getBody().front()) {
      for (StringRef name : controlled(&op))
        takeDevice(*find(name)), takeDevice(caller);
      auto cached = dyn_cast<ttcore::LoadCachedOp>(op);
      auto call = dyn_cast<func::CallOp>(op);
      Function *callee = cached ? find(cached.getCallee()) : call ? find(call.getCallee()) : nullptr;
      if (!callee)
        continue;
      (cached ? callee->isEvaluatedOnce : callee->isCalled) = true;
      if (callee->takesDevice)
        takeDevice(caller);
    }
  }
}

LogicalResult Emitter::run() {
  // Files, traces and tuples are optional ways to write a program.
  FailureOr<bool> joined = joinFiles(module);
  if (failed(joined))
    return failure();
  if (failed(callTraced(module)) || failed(ttnn::replayTraces(module)))
    return failure();
  options.splitFiles |= *joined;
  FailureOr<llvm::StringMap<TupleForm>> forms = flattenTuples(module);
  if (failed(forms))
    return failure();
  tuples = std::move(*forms);
  if (failed(checkLowered(module, syntax.language == Language::Python ? Written::Python : Written::Cpp,
                          /*stillTTNN=*/true)))
    return failure();
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (function->hasAttr(ttcore::stagesMeshName) || function->hasAttr(ttcore::microBatchesName))
      return function.emitOpError() << "has stages or works on micro-batches, which only a flatbuffer says; compile it "
                                       "without pipeline-stages and micro-batches";
  FailureOr<std::optional<ttnn::NativeCode>> code = ttnn::compileHostFunctions(module);
  if (failed(code))
    return failure();
  native = std::move(*code);
  if (!options.loadInputs && (!options.inputDirectory.empty() || options.inputPrefix != EmitOptions().inputPrefix))
    module.emitWarning() << "tensor-load-directory and tensor-load-file-prefix have no effect without "
                         << "load-input-tensors-from-disk";
  SmallVector<func::FuncOp> programs, sources;
  // A function comes after those that it runs.
  DenseSet<Operation *> placed;
  std::function<void(func::FuncOp)> place = [&](func::FuncOp function) {
    if (!placed.insert(function).second)
      return;
    function.walk([&](Operation *op) {
      SmallVector<StringRef> names = controlled(op);
      hasControl |= !names.empty();
      if (auto call = dyn_cast<func::CallOp>(op))
        names.push_back(call.getCallee());
      for (StringRef name : names)
        if (auto callee = module.lookupSymbol<func::FuncOp>(name); callee && callee.isPrivate())
          place(callee);
    });
    // Values that every iteration of a loop reads are read once.
    if (function.isPrivate() &&
        llvm::any_of(*SymbolTable::getSymbolUses(function, module),
                     [](SymbolTable::SymbolUse use) { return use.getUser()->hasTrait<trait::ControlsFlow>(); }))
      if (func::FuncOp constants = hoistConstants(function))
        sources.push_back(constants);
    (function.isPrivate() ? sources : programs).push_back(function);
  };
  mesh = meshOf(module);
  if (mesh.size() != 2)
    return module.emitError() << "the mesh of the device has " << mesh.size() << " axes; expected rows and columns";
  InputBuilder inputs(module, options.loadInputs
                                  ? std::optional(InputFiles{options.inputDirectory, options.inputPrefix})
                                  : std::nullopt);
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (!function->hasAttr(inputsOfAttr))
      place(function);
  // Constants are named by their purpose, and so are their files.
  module.walk([&](ttnn::ConstantOp constant) {
    if (isa<SplatElementsAttr>(constant.getValue()) || !nameOf(constant.getLoc()).empty())
      return;
    if (std::string name = nameByUse(constant->getResult(0)); !name.empty())
      constant->setLoc(NameLoc::get(builder.getStringAttr(name)));
  });
  // Called functions come first; each program is followed by its inputs.
  for (func::FuncOp program : programs) {
    if (program.isExternal())
      continue;
    if (failed(checkArguments(program)))
      return failure();
    if (func::FuncOp constants = hoistConstants(program))
      sources.push_back(constants);
    sources.push_back(program);
    sources.push_back(inputs.functionOf(program));
  }
  if (failed(collect()))
    return failure();

  passDevices(sources);
  bool hasTensorFiles = native.has_value();
  module.walk([&](ttnn::ConstantOp op) { hasTensorFiles |= !isa<SplatElementsAttr>(op.getValue()); });
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<std::string> evaluatedOnce;
  for (func::FuncOp function : sources)
    if (const Function &entry = functions.find(function.getSymName())->second; entry.isEvaluatedOnce)
      evaluatedOnce.push_back(entry.name);
  begin(hasTensorFiles, evaluatedOnce);
  for (func::FuncOp function : sources)
    if (failed(convert(function)))
      return failure();
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Function> emitted;
  for (func::FuncOp program : programs)
    emitted.push_back(functions.find(program.getSymName())->second);
  finish(emitted);

  // Erases converted ops, and the descriptions of the device.
  for (func::FuncOp function : llvm::reverse(sources))
    function.erase();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<ttcore::CPUModuleOp, ttcore::DeviceOp>(op))
      op.erase();
  addHostFunctions();
  module->setAttrs(ArrayRef<NamedAttribute>());
  if (!files.empty())
    module->setAttr(tensorFilesAttr, builder.getDictionaryAttr(files));
  return success();
}

LogicalResult Emitter::convert(func::FuncOp source) {
  const Function &function = functions.find(source.getSymName())->second;
  values.clear();
  goToFileOf(function);
  defineKernels(source);
  SmallVector<Value> arguments = beginFunction(function);
  device = function.takesDevice ? arguments.pop_back_val() : Value();
  unsigned next = 0;
  for (BlockArgument argument : source.getArguments())
    values[argument] = isa<ttnn::DeviceType>(argument.getType()) ? device : arguments[next++];
  for (Operation &op : source.getBody().front().without_terminator())
    if (failed(convert(op)))
      return failure();
  Operation *terminator = source.getBody().front().getTerminator();
  SmallVector<Value> results;
  for (Value result : terminator->getOperands()) {
    if (!values.contains(result) || values.lookup(result) == device)
      return terminator->emitOpError() << "returns " << result.getType() << "; a program returns tensors";
    results.push_back(values.lookup(result));
  }
  endFunction(function, results, terminator->getLoc());
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

SmallVector<std::string> Emitter::namesOf(Operation &op) const {
  if (auto noted = op.getAttrOfType<ArrayAttr>(namesAttr))
    return llvm::map_to_vector(noted.getAsRange<StringAttr>(), [](StringAttr name) { return name.str(); });
  std::string name = nameOf(op.getLoc());
  if (SmallVector<StringRef> each = resultNames(&op); each.size() == op.getNumResults())
    return llvm::map_to_vector(
        each, [&](StringRef result) { return name.empty() ? result.str() : name + "_" + result.str(); });
  // Kept values are weights in some form.
  if (isa<ttcore::LoadCachedOp>(op) && name.empty())
    return llvm::map_to_vector(op.getResults(), [](OpResult result) {
      std::string use = nameByUse(result);
      return use.empty() ? "constant" : use;
    });
  return name.empty() ? SmallVector<std::string>() : SmallVector<std::string>(op.getNumResults(), name);
}

void Emitter::map(Operation &op, ArrayRef<Value> results) {
  for (auto [from, to] : llvm::zip(op.getResults(), results))
    values[from] = to;
}

LogicalResult Emitter::convert(Operation &op) {
  if (isa<ttnn::GetDeviceOp>(op)) {
    values[op.getResult(0)] = device;
    return success();
  }
  if (auto constant = dyn_cast<ttnn::ConstantOp>(op))
    return convertConstant(constant);
  if (auto cached = dyn_cast<ttcore::LoadCachedOp>(op))
    return convertLoadCached(cached);
  if (auto callee = dyn_cast<func::CallOp>(op))
    return convertCall(callee);
  if (op.hasTrait<trait::ControlsFlow>())
    return convertControl(op);
  if (isNative(&op))
    return convertHostCall(cast<debug::HostCallOp>(op));
  if (auto generic = dyn_cast<ttnn::GenericOp>(op))
    return convertGeneric(generic), success();
  FailureOr<Call> created = callOf(&op, syntax);
  if (failed(created))
    return failure();
  // Inputs that are read from files are named relative to the program.
  if (auto load = dyn_cast<ttnn::LoadTensorOp>(op); load && op.getParentOp()->hasAttr(inputsOfAttr))
    created->arguments.front().text = adjacentPath(load.getFilePath());
  SmallVector<SmallVector<Value, 1>> operands;
  for (const Argument &argument : created->arguments)
    operands.emplace_back(llvm::map_range(argument.operands, [&](Value value) { return values.lookup(value); }));
  map(op, call(op.getLoc(), *created, operands, device, op.getNumResults(), namesOf(op)));
  return success();
}

/// The file of a constant, named by its op. Equal constants share it.
std::string Emitter::fileOf(ttnn::ConstantOp op) {
  auto layout = ttnn::TTNNLayoutAttr::of(op->getResult(0).getType());
  auto dtype = ttcore::DataTypeAttr::get(op.getContext(), layout.getDataType());
  auto tensorLayout = ttnn::LayoutAttr::get(op.getContext(), layout.getLayout());
  std::string &file = fileNames[{op.getValue(), builder.getArrayAttr({dtype, tensorLayout})}];
  if (!file.empty())
    return file;
  std::string base = identifierOf(nameOf(op.getLoc()));
  if (base.empty())
    base = "constant";
  unsigned number = usedFiles[StringRef(base).lower()]++;
  file = (number ? base + "_" + std::to_string(number) : base) + ".tensorbin";
  files.push_back(builder.getNamedAttr(
      file,
      builder.getDictionaryAttr({builder.getNamedAttr("dtype", dtype), builder.getNamedAttr("layout", tensorLayout),
                                 builder.getNamedAttr("value", op.getValue())})));
  return file;
}

LogicalResult Emitter::convertConstant(ttnn::ConstantOp op) {
  auto layout = ttnn::TTNNLayoutAttr::of(op->getResult(0).getType());
  if (!layout)
    return op.emitOpError() << "result 0 is " << op->getResult(0).getType()
                            << "; expected a tensor with a #ttnn.ttnn_layout (run ttnn-layout first)";
  // As the library's op for it, next to the constant, during the conversion.
  OperationState state(op.getLoc(), "");
  state.addTypes(op->getResultTypes());
  state.addOperands(op->getOperands());
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  std::string file;
  if (splat) {
    state.name = OperationName(ttnn::FullOp::getOperationName(), op.getContext());
    state.addAttribute(
        "shape", ttnn::ShapeAttr::get(op.getContext(), cast<RankedTensorType>(op->getResult(0).getType()).getShape()));
    Attribute value = splat.getSplatValue<Attribute>();
    if (auto boolean = dyn_cast<BoolAttr>(value))
      value = builder.getI32IntegerAttr(boolean.getValue());
    else if (auto number = dyn_cast<FloatAttr>(value))
      value = builder.getF32FloatAttr(static_cast<float>(number.getValueAsDouble()));
    else if (auto number = dyn_cast<IntegerAttr>(value))
      value = builder.getI64IntegerAttr(number.getType().isUnsignedInteger() ? number.getValue().getZExtValue()
                                                                             : number.getValue().getSExtValue());
    state.addAttribute("fill_value", value);
  } else {
    state.name = OperationName(ttnn::LoadTensorOp::getOperationName(), op.getContext());
    file = fileOf(op);
    state.addAttribute("file_path", builder.getStringAttr(file));
  }
  Operation *stand = OpBuilder(op).create(state);
  FailureOr<Call> created = callOf(stand, syntax);
  stand->erase();
  if (failed(created))
    return failure();
  if (!splat)
    created->arguments.front().text = tensorPath(file);
  SmallVector<std::string> names = namesOf(*op);
  if (names.empty() && !splat)
    names = {StringRef(file).split('.').first.str()};
  SmallVector<SmallVector<Value, 1>> operands(created->arguments.size());
  map(*op, call(op.getLoc(), *created, operands, device, 1, names));
  return success();
}

FailureOr<const Emitter::Function *> Emitter::findCallee(Operation *op, StringRef name) {
  auto found = functions.find(name);
  if (found == functions.end())
    return op->emitOpError() << "calls '" << name << "', which is not there";
  return &found->second;
}

LogicalResult Emitter::convertLoadCached(ttcore::LoadCachedOp op) {
  FailureOr<const Function *> callee = findCallee(op, op.getCallee());
  if (failed(callee))
    return failure();
  SmallVector<Value> operands = llvm::map_to_vector(op.getInputs(), [&](Value value) { return values.lookup(value); });
  map(*op, callCached(op.getLoc(), **callee, operands, (*callee)->takesDevice ? device : Value(), op->getNumResults(),
                      namesOf(*op)));
  return success();
}

LogicalResult Emitter::convertCall(func::CallOp op) {
  FailureOr<const Function *> callee = findCallee(op, op.getCallee());
  if (failed(callee))
    return failure();
  if ((*callee)->takesList())
    return op.emitOpError() << "calls the program '" << op.getCallee() << "', which takes its inputs as a list";
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    if (!isa<ttnn::DeviceType>(operand.getType()))
      operands.push_back(values.lookup(operand));
  if ((*callee)->takesDevice)
    operands.push_back(device);
  map(*op, callFunction(op.getLoc(), **callee, operands, namesOf(*op)));
  return success();
}

LogicalResult Emitter::convertControl(Operation &op) {
  SmallVector<const Function *> callees;
  for (StringRef name : controlled(&op)) {
    FailureOr<const Function *> callee = findCallee(&op, name);
    if (failed(callee))
      return failure();
    if ((*callee)->takesList())
      return op.emitOpError() << "runs the program '" << name << "', which takes its inputs as a list";
    callees.push_back(*callee);
  }
  SmallVector<Value> operands =
      llvm::map_to_vector(op.getOperands(), [&](Value value) { return values.lookup(value); });
  Value index;
  if (isa<ttcore::CaseOp>(op)) {
    index = operands.front();
    operands.erase(operands.begin());
  }
  map(op, callControl(op.getLoc(), index, callees, operands, device, op.getNumResults(), namesOf(op)));
  return success();
}

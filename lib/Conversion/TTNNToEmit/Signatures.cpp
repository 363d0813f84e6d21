//===- Signatures.cpp - programs that take and return tuples --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Signatures.h"

#include "Inputs.h"

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/CaptureOrExecuteTraceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GetDeviceOp.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tt {
#define GEN_PASS_DEF_TTNNPREPAREMODULEFOREXPORT
#define GEN_PASS_DEF_TTNNSPLITFORWARDFUNCARGSBYTYPE
#define GEN_PASS_DEF_TTNNTUPLIFYTENSORS
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;

static void updateType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setFunctionType(
      FunctionType::get(function.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
}

/// The entry points, and the functions that create their inputs. Functions that others call are not changed.
static SmallVector<func::FuncOp> signaturesOf(ModuleOp module, bool withInputs) {
  SmallVector<func::FuncOp> programs = programsOf(module);
  llvm::erase_if(programs, [&](func::FuncOp each) { return !SymbolTable::symbolKnownUseEmpty(each, module); });
  if (!withInputs)
    return programs;
  for (func::FuncOp program : llvm::to_vector(programs))
    for (auto function : module.getOps<func::FuncOp>())
      if (function->getAttr(inputsOfAttr) == program.getSymNameAttr() && !function.isExternal())
        programs.push_back(function);
  return programs;
}

/// Merges some arguments into one, at the position of the first, or at the head if there are none.
static void joinArguments(func::FuncOp function, ArrayRef<unsigned> numbers, StringRef name) {
  MLIRContext *context = function.getContext();
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  SmallVector<Type> types;
  SmallVector<Attribute> elements;
  for (unsigned number : numbers) {
    types.push_back(function.getArgument(number).getType());
    DictionaryAttr attributes = function.getArgAttrDict(number);
    elements.push_back(attributes ? attributes : builder.getDictionaryAttr({}));
  }
  NamedAttribute noted[] = {builder.getNamedAttr(elementsAttr, builder.getArrayAttr(elements)),
                            builder.getNamedAttr("ttir.name", builder.getStringAttr(name))};
  const unsigned place = numbers.empty() ? 0 : numbers.front();
  (void)function.insertArgument(place, TupleType::get(context, types), DictionaryAttr::get(context, noted),
                                function.getLoc());
  BitVector gone(function.getNumArguments());
  for (auto [index, number] : llvm::enumerate(numbers)) {
    BlockArgument old = function.getArgument(number + 1);
    auto element = ttcore::GetTupleElementOp::create(builder, old.getLoc(), old.getType(), function.getArgument(place),
                                                     static_cast<int32_t>(index));
    old.replaceAllUsesWith(element.getResult());
    gone.set(number + 1);
  }
  (void)function.eraseArguments(gone);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

namespace {
struct TuplifyTensors : tt::impl::TTNNTuplifyTensorsBase<TuplifyTensors> {
  using Base::Base;
  void runOnOperation() override {
    for (func::FuncOp function : signaturesOf(getOperation(), /*withInputs=*/true)) {
      const bool makesInputs = function->hasAttr(inputsOfAttr);
      if (!function.getBody().hasOneBlock() || llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<TupleType>) ||
          llvm::any_of(function.getResultTypes(), llvm::IsaPred<TupleType>))
        continue;
      SmallVector<unsigned> tensors;
      for (BlockArgument argument : function.getArguments())
        if (isa<RankedTensorType>(argument.getType()))
          tensors.push_back(argument.getArgNumber());
      if (!makesInputs && (!tensors.empty() || tuplifyInputIfEmpty))
        joinArguments(function, tensors, "inputs");
      Operation *end = function.getBody().front().getTerminator();
      const bool isEmpty = end->getNumOperands() == 0;
      if ((!makesInputs || !isEmpty || tuplifyInputIfEmpty) &&
          llvm::all_of(end->getOperandTypes(), llvm::IsaPred<RankedTensorType>)) {
        OpBuilder builder(end);
        auto tuple = TupleType::get(&getContext(), end->getOperandTypes());
        Value results = ttcore::TupleOp::create(builder, end->getLoc(), tuple, end->getOperands());
        // Attributes of single results have no place on a tuple.
        function.removeResAttrsAttr();
        end->setOperands(results);
      }
      updateType(function);
    }
  }
};

struct PrepareModuleForExport : tt::impl::TTNNPrepareModuleForExportBase<PrepareModuleForExport> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> programs = signaturesOf(module, /*withInputs=*/false);
    for (func::FuncOp program : programs)
      if (program.getBody().hasOneBlock())
        takeDevice(program);
    // The entry point of a program in C++ or Python is named `main` itself.
    if (programs.size() != 1 || programs.front().getSymName() != "main" || module.lookupSymbol("forward"))
      return;
    for (auto function : module.getOps<func::FuncOp>())
      if (function->getAttr(inputsOfAttr) == programs.front().getSymNameAttr())
        function->setAttr(inputsOfAttr, StringAttr::get(&getContext(), "forward"));
    programs.front().setSymName("forward");
  }

private:
  /// The device is the last argument; ops that obtain it elsewhere use this one.
  static void takeDevice(func::FuncOp program) {
    MLIRContext *context = program.getContext();
    if (!llvm::any_of(program.getArgumentTypes(), llvm::IsaPred<ttnn::DeviceType>))
      (void)program.insertArgument(program.getNumArguments(), ttnn::DeviceType::get(context),
                                   DictionaryAttr::get(context), program.getLoc());
    auto isDevice = [](BlockArgument argument) { return isa<ttnn::DeviceType>(argument.getType()); };
    BlockArgument device = *llvm::find_if(program.getArguments(), isDevice);
    program.walk([&](ttnn::GetDeviceOp get) {
      get.getResult().replaceAllUsesWith(device);
      get.erase();
    });
  }
};

struct SplitForwardFuncArgsByType : tt::impl::TTNNSplitForwardFuncArgsByTypeBase<SplitForwardFuncArgsByType> {
  void runOnOperation() override {
    for (func::FuncOp function : signaturesOf(getOperation(), /*withInputs=*/false)) {
      auto isTuple = [](Type type) { return isa<TupleType>(type); };
      if (function.getBody().hasOneBlock() && llvm::count_if(function.getArgumentTypes(), isTuple) == 1 &&
          isTuple(function.getArgumentTypes().front()))
        split(function);
    }
  }

private:
  static bool isWeight(Attribute element) {
    auto attributes = dyn_cast<DictionaryAttr>(element);
    auto type =
        attributes ? attributes.getAs<ttcore::ArgumentTypeAttr>(ttcore::argumentTypeName) : ttcore::ArgumentTypeAttr();
    return type &&
           (type.getValue() == ttcore::ArgumentType::Parameter || type.getValue() == ttcore::ArgumentType::Constant);
  }

  static void split(func::FuncOp function) {
    MLIRContext *context = function.getContext();
    BlockArgument all = function.getArgument(0);
    auto elements = function.getArgAttrOfType<ArrayAttr>(0, elementsAttr);
    auto types = cast<TupleType>(all.getType()).getTypes();
    if (!elements || elements.size() != types.size() || llvm::none_of(elements, isWeight) ||
        !llvm::all_of(all.getUsers(), llvm::IsaPred<ttcore::GetTupleElementOp>))
      return;
    Builder builder(context);
    SmallVector<Type> parts[2];
    SmallVector<Attribute> notes[2];
    SmallVector<unsigned> places;
    for (auto [type, element] : llvm::zip_equal(types, elements)) {
      const size_t part = isWeight(element);
      places.push_back(parts[part].size());
      parts[part].push_back(type);
      notes[part].push_back(element);
    }
    for (size_t part : {0, 1}) {
      NamedAttribute noted[] = {builder.getNamedAttr(elementsAttr, builder.getArrayAttr(notes[part])),
                                builder.getNamedAttr("ttir.name", builder.getStringAttr(part ? "weights" : "inputs"))};
      (void)function.insertArgument(part + 1, TupleType::get(context, parts[part]), DictionaryAttr::get(context, noted),
                                    all.getLoc());
    }
    for (Operation *user : llvm::make_early_inc_range(all.getUsers())) {
      auto get = cast<ttcore::GetTupleElementOp>(user);
      const auto index = static_cast<unsigned>(get.getIndex());
      get.setOperand(function.getArgument(isWeight(elements[index]) ? 2 : 1));
      get.setIndex(places[index]);
    }
    (void)function.eraseArgument(0);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// For the conversions
//===----------------------------------------------------------------------===//

/// The elements of an argument as separate arguments in its place.
static LogicalResult flattenArgument(func::FuncOp function, unsigned number, TupleForm &form) {
  BlockArgument tuple = function.getArgument(number);
  auto types = cast<TupleType>(tuple.getType()).getTypes();
  auto elements = function.getArgAttrOfType<ArrayAttr>(number, elementsAttr);
  auto name = function.getArgAttrOfType<StringAttr>(number, "ttir.name");
  form.arguments.push_back({name ? name.str() : "inputs", static_cast<unsigned>(types.size())});
  for (auto [index, type] : llvm::enumerate(types)) {
    if (!isa<RankedTensorType>(type))
      return function.emitOpError() << "argument " << number << " is " << tuple.getType() << "; element " << index
                                    << " is " << type << ", expected a tensor";
    DictionaryAttr attributes;
    if (elements && index < elements.size())
      attributes = dyn_cast<DictionaryAttr>(elements[index]);
    (void)function.insertArgument(number + 1 + index, type,
                                  attributes ? attributes : DictionaryAttr::get(function.getContext()),
                                  UnknownLoc::get(function.getContext()));
  }
  for (Operation *user : llvm::make_early_inc_range(tuple.getUsers())) {
    auto get = dyn_cast<ttcore::GetTupleElementOp>(user);
    if (!get)
      return user->emitOpError() << "takes argument " << number
                                 << ", which is a tuple; a program reads its elements by "
                                 << ttcore::GetTupleElementOp::getOperationName();
    BlockArgument element = function.getArgument(number + 1 + static_cast<unsigned>(get.getIndex()));
    element.setLoc(get.getLoc());
    get.getResult().replaceAllUsesWith(element);
    get.erase();
  }
  return function.eraseArgument(number);
}

FailureOr<llvm::StringMap<TupleForm>> emit::flattenTuples(ModuleOp module) {
  llvm::StringMap<TupleForm> forms;
  for (auto function : module.getOps<func::FuncOp>()) {
    auto isTuple = [](Type type) { return isa<TupleType>(type); };
    const bool takes = llvm::any_of(function.getArgumentTypes(), isTuple);
    const bool returns = llvm::any_of(function.getResultTypes(), isTuple);
    if ((!takes && !returns) || function.isExternal() || !function.getBody().hasOneBlock())
      continue;
    if (!SymbolTable::symbolKnownUseEmpty(function, module))
      return function.emitOpError() << "takes or returns tuples and is called; expected tensors";
    TupleForm form;
    for (unsigned number = 0; takes && number < function.getNumArguments();) {
      Type type = function.getArgument(number).getType();
      if (!isTuple(type)) {
        if (!isa<ttnn::DeviceType>(type))
          return function.emitOpError() << "argument " << number << " is " << type
                                        << " next to a tuple; expected tuples and the device";
        ++number;
        continue;
      }
      if (failed(flattenArgument(function, number, form)))
        return failure();
      number += form.arguments.back().elements;
    }
    Operation *end = function.getBody().front().getTerminator();
    if (returns) {
      auto tuple = end->getNumOperands() == 1 ? end->getOperand(0).getDefiningOp<ttcore::TupleOp>() : ttcore::TupleOp();
      if (!tuple)
        return end->emitOpError() << "returns a tuple; expected one alone, made by "
                                  << ttcore::TupleOp::getOperationName();
      end->setOperands(tuple->getOperands());
      if (tuple->use_empty())
        tuple->erase();
      function.removeResAttrsAttr();
      form.returnsTuple = true;
    }
    updateType(function);
    forms[function.getSymName()] = std::move(form);
  }
  return forms;
}

LogicalResult emit::callTraced(ModuleOp module) {
  SymbolTableCollection symbols;
  SmallVector<ttnn::CaptureOrExecuteTraceOp> traces;
  module.walk([&](ttnn::CaptureOrExecuteTraceOp op) { traces.push_back(op); });
  SetVector<Operation *> unused;
  for (ttnn::CaptureOrExecuteTraceOp op : traces) {
    auto traced = dyn_cast_or_null<func::FuncOp>(op.lookupTraced(symbols).getOperation());
    if (!traced)
      return failure();
    for (FlatSymbolRefAttr name :
         {op.getAllocateSlotsCalleeAttr(), op.getCaptureCalleeAttr(), op.getExecuteCalleeAttr()})
      if (Operation *function = symbols.lookupNearestSymbolFrom(op, name))
        unused.insert(function);
    OpBuilder builder(op);
    op->replaceAllUsesWith(func::CallOp::create(builder, op.getLoc(), traced, op.getInputs()));
    op->erase();
  }
  for (Operation *function : unused)
    function->erase();
  return success();
}

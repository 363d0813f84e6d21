//===- Inputs.cpp - functions that make the inputs of programs ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Inputs.h"

#include "Calls.h"

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DistributeTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/FromDeviceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GetDeviceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LoadTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/RandOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ZerosOp.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CAPTUREMESHSHAPE
#define GEN_PASS_DEF_TTNNCREATEINPUTGENERATORS
#define GEN_PASS_DEF_TTNNLOADINPUTTENSORS
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;

SmallVector<int64_t> emit::meshOf(ModuleOp module) {
  if (auto device = module.lookupSymbol<ttcore::DeviceOp>(ttcore::defaultDeviceName))
    return ttcore::rowsAndColumns(device.getDeviceAttr().getMeshShape());
  auto noted = module->getAttrOfType<DenseI64ArrayAttr>(meshShapeAttr);
  if (noted && noted.size() == 2 && llvm::all_of(noted.asArrayRef(), [](int64_t size) { return size > 0; }))
    return SmallVector<int64_t>(noted.asArrayRef());
  return {1, 1};
}

SmallVector<func::FuncOp> emit::programsOf(ModuleOp module) {
  auto isMarked = [](func::FuncOp function) {
    auto type = function->getAttrOfType<StringAttr>(ttcore::functionTypeName);
    return type && type.getValue() == ttcore::forwardDeviceType;
  };
  SmallVector<func::FuncOp> programs;
  bool marked = false;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    marked |= isMarked(function);
    if (!function.isExternal() && !function.isPrivate() && !function->hasAttr(inputsOfAttr))
      programs.push_back(function);
  }
  if (marked)
    llvm::erase_if(programs, [&](func::FuncOp program) { return !isMarked(program); });
  return programs;
}

LogicalResult emit::checkArguments(func::FuncOp program) {
  for (Type type : program.getArgumentTypes())
    if (!isa<ttnn::DeviceType>(type) && !ttnn::TTNNLayoutAttr::of(type))
      return program.emitOpError() << "takes " << type
                                   << "; expected tensors with a #ttnn.ttnn_layout (run ttnn-layout first)";
  return success();
}

std::string emit::argumentName(func::FuncOp function, BlockArgument argument) {
  if (auto given = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ttir.name"))
    return given.str();
  std::string name = nameOf(argument.getLoc());
  return name.empty() ? "arg" + std::to_string(argument.getArgNumber()) : name;
}

/// The tensor that a program takes in shards, whole and on the host; null if it does not, with the dimension that each
/// axis of the mesh splits.
static RankedTensorType wholeOf(func::FuncOp program, BlockArgument argument, ArrayRef<int64_t> mesh,
                                SmallVectorImpl<int64_t> &dims) {
  auto noted = program.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), ttcore::shardDimsName);
  auto type = cast<RankedTensorType>(argument.getType());
  ttnn::TTNNLayoutAttr layout = ttnn::TTNNLayoutAttr::of(type);
  if (!noted || !layout || noted.size() > static_cast<int64_t>(mesh.size()))
    return {};
  dims.assign(mesh.size() - noted.size(), -1);
  llvm::append_range(dims, noted.asArrayRef());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [devices, dim] : llvm::zip(mesh, dims))
    if (dim >= 0 && dim < type.getRank())
      shape[dim] *= devices;
  // No tensor is that large.
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }) || !ttnn::collapsedShape(shape, ttnn::Layout::Tile))
    return {};
  layout = layout.withMesh({}).withShape(shape).withBufferType(shape, ttnn::BufferType::SystemMemory);
  return ttnn::withLayout(RankedTensorType::get(shape, type.getElementType()), layout);
}

/// The input of a program: read from a file, random floats, or zeros of other types, which are valid indices and
/// booleans. A sharded input is created as one tensor and distributed.
Value InputBuilder::createInput(func::FuncOp program, BlockArgument argument, unsigned number,
                                function_ref<Value()> meshDevice) {
  MLIRContext *context = builder.getContext();
  auto type = cast<RankedTensorType>(argument.getType());
  std::string name = argumentName(program, argument);
  SmallVector<int64_t> dims;
  RankedTensorType whole = wholeOf(program, argument, mesh, dims);
  auto make = [&](StringRef op, RankedTensorType result, ArrayRef<Value> operands, StringRef suffix,
                  ArrayRef<NamedAttribute> attributes) {
    OperationState state(NameLoc::get(builder.getStringAttr(name + suffix.str())), op);
    state.addTypes(result);
    state.addOperands(operands);
    state.addAttributes(attributes);
    return builder.create(state)->getResult(0);
  };
  auto attribute = [&](StringRef key, Attribute value) { return builder.getNamedAttr(key, value); };
  auto isOnDevice = [](RankedTensorType of) {
    ttnn::TTNNLayoutAttr layout = ttnn::TTNNLayoutAttr::of(of);
    return layout && layout.isOnDevice();
  };

  RankedTensorType first = whole ? whole : type;
  StringRef suffix = whole ? "_whole" : "";
  SmallVector<Value, 1> device;
  if (isOnDevice(first))
    device.push_back(meshDevice());
  auto shape = ttnn::ShapeAttr::get(context, first.getShape());
  Value created;
  if (files) {
    std::string folder = files->directory + (files->directory.empty() ? "" : "/");
    auto path = builder.getStringAttr(folder + files->prefix + std::to_string(number) + ".tensorbin");
    created = make(ttnn::LoadTensorOp::getOperationName(), first, device, suffix, attribute("file_path", path));
  } else if (ttnn::TTNNLayoutAttr layout = ttnn::TTNNLayoutAttr::of(type);
             layout && isa<FloatType>(type.getElementType()) &&
             ttnn::collapsedShape(first.getShape(), ttnn::Layout::Tile)) { // no device has a larger one
    auto seed = builder.getIntegerAttr(builder.getIntegerType(32, /*isSigned=*/false), number);
    // Random numbers are created on a device.
    if (whole)
      layout = layout.withMesh({}).withShape(whole.getShape());
    if (!layout.isOnDevice())
      layout = layout.withBufferType(first.getShape(), ttnn::BufferType::DRAM);
    RankedTensorType drawn = ttnn::withLayout(first, layout);
    created = make(ttnn::RandOp::getOperationName(), drawn, meshDevice(), suffix,
                   {attribute("size", shape), attribute("seed", seed)});
    if (!isOnDevice(first))
      created = make(ttnn::FromDeviceOp::getOperationName(), first, created, "_host", {});
  } else {
    created = make(ttnn::ZerosOp::getOperationName(), first, device, suffix, attribute("shape", shape));
  }
  if (!whole)
    return created;
  SmallVector<ttnn::PlacementAttr> placements = llvm::map_to_vector(dims, [&](int64_t dim) {
    return dim < 0 ? ttnn::PlacementAttr::get(context, ttnn::PlacementType::Replicate, {})
                   : ttnn::PlacementAttr::get(context, ttnn::PlacementType::Shard, builder.getI64IntegerAttr(dim));
  });
  auto mapper = ttnn::MeshMapperConfigAttr::get(context, placements, {});
  return make(ttnn::DistributeTensorOp::getOperationName(), type, {created, meshDevice()}, "",
              attribute("mapper_config", mapper));
}

/// A function of TTNN ops that creates inputs for a program.
func::FuncOp InputBuilder::create(func::FuncOp program) {
  builder.setInsertionPointAfter(program);
  SmallVector<Type> types;
  for (Type type : program.getArgumentTypes())
    if (!isa<ttnn::DeviceType>(type))
      types.push_back(type);
  Location loc = program.getLoc();
  std::string name = ("create_inputs_for_" + program.getSymName()).str();
  while (module.lookupSymbol(name))
    name += "_";
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, types));
  function->setAttr(ttcore::functionTypeName, builder.getStringAttr(ttcore::inputGeneratorType));
  function->setAttr(inputsOfAttr, builder.getStringAttr(program.getSymName()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value device;
  auto meshDevice = [&] {
    if (!device)
      device = ttnn::GetDeviceOp::create(builder, loc, ttnn::DeviceType::get(builder.getContext()),
                                         ttnn::MeshShapeAttr(), ttnn::MeshOffsetAttr());
    return device;
  };
  SmallVector<Value> inputs;
  for (BlockArgument argument : program.getArguments())
    if (!isa<ttnn::DeviceType>(argument.getType()))
      inputs.push_back(createInput(program, argument, inputs.size(), meshDevice));
  func::ReturnOp::create(builder, loc, inputs);
  return function;
}

func::FuncOp InputBuilder::functionOf(func::FuncOp program) {
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (function->getAttr(inputsOfAttr) == program.getSymNameAttr())
      return function;
  return create(program);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

static LogicalResult makeInputs(ModuleOp module, std::optional<InputFiles> files) {
  InputBuilder producer(module, std::move(files));
  for (func::FuncOp program : programsOf(module)) {
    if (failed(checkArguments(program)))
      return failure();
    producer.functionOf(program);
  }
  return success();
}

namespace {
struct CaptureMeshShape : tt::impl::CaptureMeshShapeBase<CaptureMeshShape> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.lookupSymbol<ttcore::DeviceOp>(ttcore::defaultDeviceName) && !module->hasAttr(meshShapeAttr))
      module->setAttr(meshShapeAttr, DenseI64ArrayAttr::get(module.getContext(), meshOf(module)));
  }
};

struct CreateInputGenerators : tt::impl::TTNNCreateInputGeneratorsBase<CreateInputGenerators> {
  void runOnOperation() override {
    if (failed(makeInputs(getOperation(), std::nullopt)))
      signalPassFailure();
  }
};

struct LoadInputTensors : tt::impl::TTNNLoadInputTensorsBase<LoadInputTensors> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(makeInputs(getOperation(), InputFiles{directory, prefix})))
      signalPassFailure();
  }
};
} // namespace

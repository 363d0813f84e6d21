//===- Layout.cpp - assignment of layouts ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Transforms/Distribution.h"

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv1dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ToLayoutOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TransposeOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNLAYOUT
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// The limits of a flatbuffer's tensors; sums and products over shapes this small fit into 64 bits.
static constexpr int64_t maxRank = 16, maxElements = int64_t(1) << 44;

/// Whether `value` is only used as the full side of mesh_shards.
static bool staysOnHost(Value value) {
  auto goesToMesh = [](Operation *user) { return isMeshShard(user, ttcore::MeshShardDirection::FullToShard); };
  if (Operation *op = value.getDefiningOp())
    return isMeshShard(op, ttcore::MeshShardDirection::ShardToFull) &&
           llvm::all_of(value.getUsers(),
                        [&](Operation *user) { return isa<func::ReturnOp>(user) || goesToMesh(user); });
  return !value.use_empty() && llvm::all_of(value.getUsers(), goesToMesh);
}

/// Whether tiles of a tensor would be mostly padding, and would take much memory: a kernel of 1 x 1 takes 1,024 times
/// its size in tiles.
static bool isMostlyPadding(ArrayRef<int64_t> shape, ttcore::DataType dataType) {
  constexpr int64_t tileSide = 32, aligned = 32; // bytes, of a row in DRAM
  constexpr int64_t ratio = 8, much = int64_t(1) << 20;
  if (shape.size() < 2 || shape.back() >= tileSide || shape[shape.size() - 2] >= tileSide)
    return false;
  const auto inTile = static_cast<int64_t>(ttcore::tileBytes(dataType)), element = inTile / (tileSide * tileSide);
  const int64_t inRows = shape[shape.size() - 2] * llvm::alignTo(shape.back() * element, aligned);
  std::optional<int64_t> bytes = inTile;
  for (int64_t size : shape.drop_back(2))
    bytes = bytes ? llvm::checkedMul(*bytes, size) : bytes;
  return inTile >= ratio * inRows && (!bytes || *bytes >= much);
}

/// A kernel of 1 x 1 that is an argument of the program and read as a matrix.
static bool isKernelAsMatrix(ttir::ReshapeOp op) {
  auto from = cast<RankedTensorType>(op.getInput().getType()), to = cast<RankedTensorType>(op.getType());
  return isa<BlockArgument>(op.getInput()) && from.getRank() > 3 && to.getRank() == 2 && !from.getEncoding() &&
         !to.getEncoding() && from.getShape().take_back(2) == ArrayRef<int64_t>({1, 1}) &&
         llvm::all_of(op.getInput().getUsers(), llvm::IsaPred<ttir::ReshapeOp>) &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<ttir::LinearOp, ttir::MatmulOp, ttir::ToLayoutOp>);
}

/// Moves such matrices to the device by a separate op, so that they can be reshaped on the host.
static void shapeKernelsOnHost(func::FuncOp function) {
  for (auto op : llvm::to_vector(function.getBody().front().getOps<ttir::ReshapeOp>())) {
    if (!isKernelAsMatrix(op))
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Location own = ttcore::withoutSourceNumber(op.getLoc());
    auto place = ttir::EmptyOp::create(builder, own, op.getType());
    auto placed = ttir::ToLayoutOp::create(builder, op.getLoc(), TypeRange(op.getType()), op.getResult(), place,
                                           ttcore::MetalLayoutAttr());
    op->setLoc(own);
    op.getResult().replaceAllUsesExcept(placed->getResult(0), placed);
  }
}

namespace {
/// Weights and biases of convolutions, and the values from which they are computed or rearranged, if nothing else reads
/// them.
///
/// The library prepares weights from rows on the host. As tiles on the device, a kernel of 1 x 1 would take the memory
/// of one of 32 x 32, and so would every step of a weight's scaling.
class ConvolutionWeights {
public:
  /// isCalled: arguments are where other functions have them.
  ConvolutionWeights(func::FuncOp function, bool isCalled) {
    Block &body = function.getBody().front();
    // Users come before what they use.
    for (Operation &op : llvm::reverse(body))
      if (isOnHost(&op) && isReadByConvolutions(op.getResult(0)))
        values.insert(op.getResult(0));
    for (BlockArgument argument : body.getArguments())
      if (!isCalled && isa<RankedTensorType>(argument.getType()) && isReadByConvolutions(argument))
        values.insert(argument);
    // An op with an operand on the device is computed there, and its other operands are moved there.
    for (Operation &op : body) {
      auto isAbsent = [&](Value operand) { return !values.contains(operand); };
      if (op.getNumResults() == 1 && values.contains(op.getResult(0)) && llvm::any_of(op.getOperands(), isAbsent))
        remove(op.getResult(0));
    }
  }
  bool contains(Value value) const { return values.contains(value); }

private:
  bool isOnHost(Operation *op) {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0)
      return false;
    // The order of a kernel's dimensions is changed in each run if its weights are an input.
    if (op->hasTrait<trait::Rearranges>())
      return true;
    return constants.isConstant(op->getResult(0)) &&
           (ttcore::isConstantCreation(op) || op->hasTrait<trait::Elementwise>() || isa<ttir::BroadcastOp>(op));
  }

  bool isReadByConvolutions(Value value) const {
    // Its shards may lie on several devices.
    if (cast<RankedTensorType>(value.getType()).getEncoding())
      return false;
    return !value.use_empty() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user->hasTrait<trait::Convolves>())
        return use.getOperandNumber() > 0;
      if (auto placed = dyn_cast<ttir::ToLayoutOp>(user))
        if (auto shaped = value.getDefiningOp<ttir::ReshapeOp>(); shaped && isKernelAsMatrix(shaped))
          return use.getOperandNumber() == 0;
      return user->getNumResults() == 1 && values.contains(user->getResult(0));
    });
  }

  /// Removes a value, the values computed from it, and the values from which those are computed.
  void remove(Value value) {
    SmallVector<Value> open = {value};
    while (!open.empty()) {
      Value next = open.pop_back_val();
      if (!values.erase(next))
        continue;
      for (Operation *user : next.getUsers())
        llvm::append_range(open, user->getResults());
      if (Operation *op = next.getDefiningOp())
        llvm::append_range(open, op->getOperands());
    }
  }

  ttcore::ConstantAnalysis constants;
  DenseSet<Value> values;
};

struct AssignLayouts : ttnn::impl::TTNNLayoutBase<AssignLayouts> {
  using TTNNLayoutBase::TTNNLayoutBase;

  void runOnOperation() override {
    mesh = ttcore::distributedOver(getOperation());
    called.clear();
    getOperation()->walk([&](Operation *op) {
      auto add = [&](FlatSymbolRefAttr name) { called.insert(name.getAttr()); };
      if (auto loop = dyn_cast<ttcore::WhileOp>(op))
        add(loop.getCondAttr()), add(loop.getBodyAttr());
      else if (auto branches = dyn_cast<ttcore::CaseOp>(op))
        for (Attribute name : branches.getBranches())
          add(cast<FlatSymbolRefAttr>(name));
      else if (auto call = dyn_cast<func::CallOp>(op))
        add(call.getCalleeAttr());
    });
    Distribution distribution(getOperation());
    distribution.distributeOperands(getOperation());
    WalkResult result = getOperation()->walk([&](func::FuncOp function) {
      return failed(assignIn(function, distribution)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult assignIn(func::FuncOp function, const Distribution &distribution) {
    if (function.isExternal())
      return assignSignature(function);
    shapeKernelsOnHost(function);
    ConvolutionWeights weights(function, called.contains(function.getSymNameAttr()));
    WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<ttcore::GetGlobalOp>(op)) {
        op->emitOpError("is not lowered to TTNN: what a program reads is its arguments");
        return WalkResult::interrupt();
      }
      for (auto [index, value] : llvm::enumerate(op->getResults()))
        if (failed(assign(value, distribution.contains(value), weights,
                          [&] { return op->emitOpError() << "result " << index; })))
          return WalkResult::interrupt();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            if (failed(assign(argument, distribution.contains(argument), weights,
                              [&] { return op->emitOpError() << "argument " << argument.getArgNumber(); })))
              return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    Operation *terminator = function.getBody().back().getTerminator();
    function.setFunctionType(
        FunctionType::get(&getContext(), function.getBody().getArgumentTypes(), terminator->getOperandTypes()));
    return success();
  }

  LogicalResult assignSignature(func::FuncOp function) {
    SmallVector<Type> inputs, results;
    auto convert = [&](TypeRange from, SmallVector<Type> &to, StringRef what) -> LogicalResult {
      for (auto [index, type] : llvm::enumerate(from)) {
        FailureOr<Type> assigned = layOut(type, /*distributed=*/false, /*onHost=*/false,
                                          [&] { return function.emitOpError() << what << ' ' << index; });
        if (failed(assigned))
          return failure();
        to.push_back(*assigned);
      }
      return success();
    };
    if (failed(convert(function.getArgumentTypes(), inputs, "argument")) ||
        failed(convert(function.getResultTypes(), results, "result")))
      return failure();
    function.setFunctionType(FunctionType::get(&getContext(), inputs, results));
    return success();
  }

  LogicalResult assign(Value value, bool distributed, const ConvolutionWeights &weights,
                       function_ref<InFlightDiagnostic()> emitError) const {
    const bool onHost = staysOnHost(value) || weights.contains(value);
    FailureOr<Type> type = layOut(value.getType(), distributed, onHost, emitError);
    if (failed(type))
      return failure();
    value.setType(*type);
    return success();
  }

  FailureOr<Type> layOut(Type type, bool distributed, bool onHost, function_ref<InFlightDiagnostic()> emitError) const {
    if (isa<TupleType, ttcore::DictType>(type))
      return emitError() << " is " << type << "; programs of TTNN take and give tensors, each by itself";
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || isa_and_nonnull<TTNNLayoutAttr, TTNNNDLayoutAttr, TraceIdAttr>(tensor.getEncoding()))
      return type;
    if (tensor.getEncoding() && !isa<ttcore::TensorMeshAttr>(tensor.getEncoding()))
      return emitError() << " is " << type << ", whose encoding TTNN does not have";
    std::optional<ttcore::DataType> dataType = getDataType(tensor);
    if (!dataType)
      return emitError() << " is " << type << "; no data format of the chip holds its elements";
    if (!tensor.hasStaticShape())
      return emitError() << " is " << type << "; expected static sizes";
    if (tensor.getRank() > maxRank)
      return emitError() << " is " << type << "; the runtime has tensors of up to " << maxRank << " dimensions";
    std::optional<int64_t> elements = 1;
    if (!llvm::is_contained(tensor.getShape(), 0))
      for (int64_t size : tensor.getShape())
        elements = elements ? llvm::checkedMul(*elements, size) : elements;
    if (elements && *elements > maxElements)
      return emitError() << " is " << type << "; the runtime has tensors of up to " << maxElements << " elements";

    // Block formats are tiled in any memory.
    const bool inRows = onHost || (!openSizes && isMostlyPadding(tensor.getShape(), *dataType));
    Layout order = inRows && !ttcore::isBlockFormat(*dataType) ? Layout::RowMajor : Layout::Tile;
    auto layout = TTNNLayoutAttr::get(type.getContext(), tensor.getShape(), *dataType, order,
                                      onHost ? BufferType::SystemMemory : BufferType::DRAM,
                                      distributed || tensor.getEncoding() ? mesh : ttcore::TensorMeshAttr());
    if (!layout)
      return emitError() << " is " << type << "; its size exceeds 64 bits";
    return Type(withLayout(tensor, layout));
  }

  ttcore::TensorMeshAttr mesh;
  DenseSet<StringAttr> called;
};
} // namespace

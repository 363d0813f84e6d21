//===- TTIRToD2M.cpp - lowering of TTIR to D2M ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTIRToD2M/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"

#include "Caches.h"

#include "ttmlir/Dialect/TTCore/Transforms/Frontends.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TTNNMetalLayoutCastOp.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Dialect/TTNN/Transforms/Distribution.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::tt {
#define GEN_PASS_DEF_TTIRTOD2M
#include "ttmlir/Conversion/TTIRToD2M/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

namespace {
struct TTIRToD2M : tt::impl::TTIRToD2MBase<TTIRToD2M> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ttcore::DeviceOp device = ttcore::lookupDevice(module);
    if (!device) {
      module.emitError() << "module has no ttcore.device @" << ttcore::defaultDeviceName
                         << "; run ttcore-register-device first";
      return signalPassFailure();
    }
    warnOfHost(module);
    ArrayRef<int64_t> grid = device.getDeviceAttr().getWorkerGrid().getShape();
    if (failed(checkOptions(module, grid)))
      return signalPassFailure();
    const SmallVector<int64_t> chosen(overrideDeviceShape.begin(), overrideDeviceShape.end());
    TileTypes types(chosen.empty() ? grid : ArrayRef(chosen), optionsOf(device));
    SymbolTable symbols(module);
    RewritePatternSet set(&getContext());
    addPatterns(set, types, symbols);
    FrozenRewritePatternSet patterns(std::move(set));
    ConversionTarget target(getContext());
    target.addLegalDialect<arith::ArithDialect, d2m::D2MDialect, memref::MemRefDialect, scf::SCFDialect,
                           ttnn::TTNNDialect>();
    target.addDynamicallyLegalOp<ttir::TTNNMetalLayoutCastOp>(
        [](ttir::TTNNMetalLayoutCastOp op) -> std::optional<bool> {
          return isBuffer(op) ? std::optional(true) : std::nullopt;
        });
    target.addLegalOp<func::FuncOp, UnrealizedConversionCastOp>();
    // Patterns decide of what has places.
    target.markUnknownOpDynamicallyLegal([&](Operation *op) -> std::optional<bool> {
      return reasonOf(op, types).empty() ? std::nullopt : std::optional(true);
    });
    target.addDynamicallyLegalOp<func::ReturnOp>([](func::ReturnOp op) -> std::optional<bool> {
      return llvm::any_of(op.getOperandTypes(),
                          [](Type type) { return isa<RankedTensorType>(type) && !ttnn::TTNNLayoutAttr::of(type); })
                 ? std::nullopt
                 : std::optional(true);
    });
    if (!ttnnMode)
      markDistributed(module);
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!function.isExternal() && failed(convert(function, types, target, patterns)))
        return signalPassFailure();
  }

private:
  LoweringOptions optionsOf(ttcore::DeviceOp device) {
    LoweringOptions options;
    options.streamBuffers = numStreamBuffers;
    options.foldsLayouts = !disableToLayoutFolding;
    options.collapses = collapseTensors2D;
    options.takesTensors = ttnnMode;
    ArrayRef<int64_t> mesh = device.getDeviceAttr().getMeshShape();
    if (mesh.size() == 2)
      options.mesh = {mesh[0], mesh[1]};
    options.columnsFirst = !matmulInterchange.empty() && matmulInterchange[0] == 1;
    options.accumulatesInL1 = !disableL1Acc;
    options.blocks = testBufferSizePolicy;
    // Nine tenths of what there is: other buffers lie between those of a product. d2m-allocate checks the options.
    auto system = getOperation()->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName);
    int64_t available = 0;
    if (availableL1AddrRange.size() == 2)
      available = availableL1AddrRange[1] - availableL1AddrRange[0];
    else if (testAssumel1Capacity > 0 && system && !system.getChipDescs().empty())
      available = testAssumel1Capacity - static_cast<int64_t>(system.getChipDescs().front().getL1UnreservedBase());
    if (available > 0)
      options.coreBytes = std::min(options.coreBytes, available / 10 * 9);
    return options;
  }

  LogicalResult checkOptions(ModuleOp module, ArrayRef<int64_t> grid) {
    const bool isGrid =
        overrideDeviceShape.empty() || (overrideDeviceShape.size() == grid.size() &&
                                        llvm::all_of(llvm::zip(overrideDeviceShape, grid), [](auto sizes) {
                                          return std::get<0>(sizes) >= 1 && std::get<0>(sizes) <= std::get<1>(sizes);
                                        }));
    if (!isGrid)
      return module.emitError() << "override-device-shape="
                                << llvm::formatv("{0:$[,]}", llvm::make_range(overrideDeviceShape.begin(),
                                                                              overrideDeviceShape.end()))
                                       .str()
                                << " is no grid of the device; expected rows and columns, 1,1 to "
                                << llvm::formatv("{0:$[,]}", llvm::make_range(grid.begin(), grid.end())).str();
    const SmallVector<int64_t> loops(matmulInterchange.begin(), matmulInterchange.end());
    if (!loops.empty() && loops != SmallVector<int64_t>{0, 1, 2} && loops != SmallVector<int64_t>{1, 0, 2})
      return module.emitError() << "matmul-interchange=" << llvm::formatv("{0:$[,]}", llvm::iterator_range(loops)).str()
                                << " is no order of the loops of a product; expected 0,1,2 or 1,0,2: steps of K are "
                                   "innermost";
    constexpr unsigned most = 64;
    if (numStreamBuffers < 1 || numStreamBuffers > most)
      return module.emitError() << "num-stream-buffers=" << numStreamBuffers.getValue() << " is not between 1 and "
                                << most;
    return success();
  }

  /// Marks arguments and results of which every chip has its own.
  static void markDistributed(ModuleOp module) {
    const ttnn::Distribution distribution(module);
    Attribute mark = UnitAttr::get(module.getContext());
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.getBody().hasOneBlock())
        continue;
      Block &body = function.getBody().front();
      for (BlockArgument argument : body.getArguments())
        if (distribution.contains(argument))
          function.setArgAttr(argument.getArgNumber(), ttmetal::distributedName, mark);
      for (auto [number, value] : llvm::enumerate(body.getTerminator()->getOperands()))
        if (distribution.contains(value) && number < function.getNumResults())
          function.setResultAttr(static_cast<unsigned>(number), ttmetal::distributedName, mark);
    }
  }

  /// An op that is marked for the host is computed anyway, and the user should know.
  static void warnOfHost(ModuleOp module) {
    module.walk([](Operation *op) {
      if (!op->hasAttr(ttir::ShouldHoistAttr::attrName))
        return WalkResult::advance();
      op->emitWarning() << "'" << op->getName() << "' is marked " << ttir::ShouldHoistAttr::attrName
                        << ", but programs of TTMetal have no functions of the host: the chip computes it";
      return WalkResult::interrupt();
    });
  }

  /// Whether an op sees a tensor of TTNN as a buffer, or a buffer as such a tensor.
  static bool isBuffer(Operation *op) {
    auto cast = dyn_cast<ttir::TTNNMetalLayoutCastOp>(op);
    return cast && (isa<MemRefType>(cast.getInput().getType()) || isa<MemRefType>(cast.getType()));
  }

  static InFlightDiagnostic reportLeft(Operation *op) {
    return op->emitError() << "'" << op->getName() << "' is not lowered to D2M";
  }

  /// The reason why an operand or result has no placement on the cores.
  static std::string reasonOf(Operation *op, const TileTypes &types) {
    std::string reason;
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
      if (failed(types.place(type, reason)))
        return reason;
    return {};
  }

  static LogicalResult convert(func::FuncOp function, const TileTypes &types, const ConversionTarget &target,
                               const FrozenRewritePatternSet &patterns) {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError() << "has " << llvm::range_size(function.getBody()) << " blocks; a program has one";
    makeCachesValues(function, types);
    Operation *end = function.getBody().front().getTerminator();
    if (types.options.takesTensors && end->hasAttr(writtenArgumentsName))
      return function.emitOpError() << "writes to argument "
                                    << end->getAttrOfType<DenseI64ArrayAttr>(writtenArgumentsName)[0]
                                    << ", which kernels of TTNN programs (ttnn-mode) do not do";
    if (failed(types.options.takesTensors ? checkCasts(function, types) : convertSignature(function, types)))
      return failure();
    Refusals refusals = convertAll(function, target, patterns, /*inherited=*/{}, /*rollback=*/true);
    reconcileUnrealizedCasts(llvm::to_vector(function.getOps<UnrealizedConversionCastOp>()));
    LogicalResult result = success();
    for (Operation &op : function.getOps()) {
      if (isa_and_present<arith::ArithDialect, d2m::D2MDialect, memref::MemRefDialect, scf::SCFDialect,
                          ttnn::TTNNDialect>(op.getDialect()) ||
          isa<UnrealizedConversionCastOp, func::ReturnOp>(op) || isBuffer(&op))
        continue;
      result = failure();
      std::string reason = refusals.lookup(&op);
      if (reason.empty())
        reason = reasonOf(&op, types);
      InFlightDiagnostic diagnostic = reportLeft(&op);
      if (const ttcore::Frontend *frontend = ttcore::frontendOf(op.getName().getDialectNamespace()))
        diagnostic << "; run " << frontend->pass << " first";
      else if (reason.empty())
        diagnostic << "; cores have no kernels for it";
      else
        diagnostic << ": " << reason;
    }
    return result;
  }

  /// Checks that tensors which enter and leave have a placement on the cores.
  static LogicalResult checkCasts(func::FuncOp function, const TileTypes &types) {
    for (auto cast : function.getOps<ttir::TTNNMetalLayoutCastOp>())
      for (Type type : {cast.getInput().getType(), cast.getType()}) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        std::string reason;
        if (tensor && !ttnn::TTNNLayoutAttr::of(tensor) && failed(types.place(tensor, reason)))
          return reportLeft(function) << ": " << reason;
      }
    return success();
  }

  /// Arguments and results are on the host. An argument is sent to the device before its first use.
  static LogicalResult convertSignature(func::FuncOp function, const TileTypes &types) {
    SmallVector<Type> arguments, results;
    for (auto [given, hosts] :
         {std::pair(function.getArgumentTypes(), &arguments), std::pair(function.getResultTypes(), &results)})
      for (Type type : given) {
        std::string reason;
        FailureOr<Placement> placement = types.place(type, reason);
        if (failed(placement))
          return reportLeft(function) << ": " << reason;
        hosts->push_back(placement->host);
      }
    Block &body = function.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      type = RankedTensorType::get(type.getShape(), type.getElementType());
      Placement placement = placeOf(types, type);
      Operation *first = nullptr;
      for (Operation *user : argument.getUsers()) {
        Operation *at = body.findAncestorOpInBlock(*user);
        if (!first || at->isBeforeInBlock(first))
          first = at;
      }
      argument.setType(placement.host);
      if (!first)
        continue;
      OpBuilder builder(first);
      Value tiled = toDevice(builder, argument.getLoc(), argument, placement);
      Value tensor = UnrealizedConversionCastOp::create(builder, argument.getLoc(), type, tiled).getResult(0);
      argument.replaceUsesWithIf(tensor, [](OpOperand &use) { return !isa<d2m::ToDeviceOp>(use.getOwner()); });
    }
    function.setFunctionType(FunctionType::get(function.getContext(), arguments, results));
    return success();
  }
};
} // namespace

//===- D2MToTTMetal.cpp - lowering of buffers and generics to commands ----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"

#include "../Conversion.h"

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TTNNMetalLayoutCastOp.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTD2MTOTTMETAL
#include "ttmlir/Conversion/D2MToTTMetal/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// Formats whose values do not fit into 16 bits.
static bool isWide(ttcore::DataType type) {
  return type == ttcore::DataType::Float32 || type == ttcore::DataType::Int32 || type == ttcore::DataType::UInt32;
}

//===----------------------------------------------------------------------===//
// Buffers and transfers
//===----------------------------------------------------------------------===//

namespace {
struct LowerAlloc : OpConversionPattern<memref::AllocOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(memref::AllocOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto address = op->getAttrOfType<IntegerAttr>(d2m::addressName);
    if (!address)
      return notifyMatchFailure(rewriter, op, "has no attribute '" + d2m::addressName + "'; run d2m-allocate first");
    rewriter.replaceOpWithNewOp<ttmetal::CreateBufferOp>(op, op.getType(), address);
    return success();
  }
};

struct LowerDealloc : OpConversionPattern<memref::DeallocOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(memref::DeallocOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<ttmetal::DeallocateBufferOp>(op, adaptor.getMemref());
    return success();
  }
};

/// A transfer between host and device, whose destination is an operand.
template <class From, class To> struct LowerTransfer : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    To::create(rewriter, op.getLoc(), adaptor.getInput(), adaptor.getOutput());
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerMeshShard : OpConversionPattern<d2m::MeshShardOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(d2m::MeshShardOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto input = dyn_cast<MemRefType>(adaptor.getInput().getType()), result = dyn_cast<MemRefType>(op.getType());
    if (!input || !result || input.getMemorySpace() || result.getMemorySpace())
      return notifyMatchFailure(rewriter, op, "is not of values of the host");
    rewriter.replaceOpWithNewOp<ttmetal::MeshShardOp>(op, result, adaptor.getInput(), op.getShardTypeAttr(),
                                                      op.getShardDirectionAttr(), op.getShardShapeAttr(),
                                                      op.getShardDimsAttr());
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// All cores of a grid, or the reason why it is not a grid of a chip.
static ttmetal::CoreRangeAttr coresOf(d2m::GenericOp op, ConversionPatternRewriter &rewriter) {
  ArrayRef<int64_t> grid = op.getGrid().getShape();
  if (grid.size() != 2) {
    (void)notifyMatchFailure(rewriter, op,
                             "has a grid of " + Twine(grid.size()) + " dimensions; expected rows and columns");
    return {};
  }
  std::string reason;
  ScopedDiagnosticHandler handler(op.getContext(), [&](Diagnostic &diagnostic) {
    reason = diagnostic.str();
    return success();
  });
  auto cores = ttmetal::CoreRangeAttr::getChecked([&] { return emitError(op.getLoc()); }, op.getContext(),
                                                  ArrayRef<int64_t>{0, 0}, grid);
  if (!cores)
    (void)notifyMatchFailure(rewriter, op, reason);
  return cores;
}

namespace {
struct LowerGeneric : OpConversionPattern<d2m::GenericOp> {
  LowerGeneric(MLIRContext *context, ttmetal::MathFidelity fidelity)
      : OpConversionPattern(context), fidelity(fidelity) {}

  LogicalResult matchAndRewrite(d2m::GenericOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ttmetal::CoreRangeAttr cores = coresOf(op, rewriter);
    if (!cores)
      return failure();
    SmallVector<Value> operands(adaptor.getInputs());
    llvm::append_range(operands, adaptor.getOutputs());
    llvm::append_range(operands, adaptor.getAdditionalArgs());
    auto cbOperands = op->getAttrOfType<DenseI64ArrayAttr>(d2m::cbOperandsName);
    if (!cbOperands)
      return notifyMatchFailure(rewriter, op, "has a thread without a kernel; run d2m-generic-regions-to-funcs first");
    bool wide = op->hasAttr(d2m::f32RegistersName);
    SmallVector<int64_t> ports;
    SmallVector<Value> cbs;
    SmallVector<ttmetal::KernelArgAttr> addresses, arguments;
    SmallVector<ttmetal::UnpackToDestMode> modes;
    auto sources = op->getAttrOfType<DenseI64ArrayAttr>(d2m::sourceOperandsName);
    for (auto [index, operand] : llvm::enumerate(operands)) {
      std::optional<ttmetal::DeviceBuffer> buffer = ttmetal::DeviceBuffer::of(operand.getType());
      if (!buffer)
        return notifyMatchFailure(rewriter, op, [&](Diagnostic &reason) {
          reason << "operand " << index << " is " << operand.getType() << "; expected a buffer of the device";
        });
      wide |= isWide(buffer->dataType());
      addresses.push_back(ttmetal::KernelArgAttr::get(getContext(), ttmetal::KernelArgType::BufferAddress,
                                                      static_cast<uint32_t>(index)));
    }
    for (auto [port, operand] : llvm::enumerate(cbOperands.asArrayRef())) {
      if (operand < 0 || static_cast<size_t>(operand) >= operands.size())
        return notifyMatchFailure(rewriter, op, [&](Diagnostic &reason) {
          reason << d2m::cbOperandsName << "[" << port << "] is " << operand << "; expected an operand, 0 to "
                 << operands.size() - 1;
        });
      cbs.push_back(operands[static_cast<size_t>(operand)]);
      const bool isF32 = ttmetal::DeviceBuffer::of(cbs.back().getType())->dataType() == ttcore::DataType::Float32;
      const bool isSource = sources && llvm::is_contained(sources.asArrayRef(), operand);
      modes.push_back(isF32 && !isSource ? ttmetal::UnpackToDestMode::Fp32 : ttmetal::UnpackToDestMode::Default);
      ports.push_back(static_cast<int64_t>(port));
      arguments.push_back(
          ttmetal::KernelArgAttr::get(getContext(), ttmetal::KernelArgType::CBPort, static_cast<uint32_t>(port)));
    }
    while (!modes.empty() && modes.back() == ttmetal::UnpackToDestMode::Default)
      modes.pop_back();
    // Data movement kernels access an operand that is not a circular buffer by its address.
    if (cbs.size() == operands.size())
      addresses.clear();
    auto computeArgs = ttmetal::KernelArgsAttr::get(getContext(), {}, arguments);
    if (op->hasAttr(d2m::compileTimeArgsName)) { // behind the ports
      llvm::append_range(arguments, addresses);
      addresses.clear();
    }
    if (auto accessors = op->getAttrOfType<DenseI64ArrayAttr>(d2m::tensorAccessorsName))
      for (int64_t operand : accessors.asArrayRef())
        arguments.push_back(ttmetal::KernelArgAttr::get(getContext(), ttmetal::KernelArgType::TensorAccessorArgs,
                                                        static_cast<uint32_t>(operand)));
    auto kernelArgs = ttmetal::KernelArgsAttr::get(getContext(), addresses, arguments);
    SmallVector<Attribute> configs;
    for (auto thread : op.getThreads().getAsRange<d2m::ThreadAttr>()) {
      auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(thread.getKernelSymbol());
      if (!symbol)
        return notifyMatchFailure(rewriter, op,
                                  "has a thread without a kernel; run d2m-generic-regions-to-funcs first");
      if (thread.getThreadType() == d2m::ThreadType::Compute)
        configs.push_back(ttmetal::ComputeConfigAttr::get(getContext(), symbol, cores, computeArgs, fidelity, wide,
                                                          /*dst_full_sync_en=*/false, /*math_approx_mode=*/false,
                                                          modes));
      else
        configs.push_back(ttmetal::NocConfigAttr::get(getContext(), symbol, cores, kernelArgs,
                                                      thread.getDmCoreIndex() == 1 ? ttmetal::NocIndex::Noc1
                                                                                   : ttmetal::NocIndex::Noc0));
    }
    ttmetal::EnqueueProgramOp::create(rewriter, op.getLoc(), operands, cbs, rewriter.getDenseI64ArrayAttr(ports),
                                      rewriter.getArrayAttr(configs));
    rewriter.eraseOp(op);
    return success();
  }

private:
  ttmetal::MathFidelity fidelity;
};

struct ConvertD2MToTTMetal : tt::impl::ConvertD2MToTTMetalBase<ConvertD2MToTTMetal> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<LowerAlloc, LowerDealloc, LowerMeshShard, LowerTransfer<d2m::ToDeviceOp, ttmetal::EnqueueWriteBufferOp>,
            LowerTransfer<d2m::ToHostOp, ttmetal::EnqueueReadBufferOp>>(context);
    set.add<LowerGeneric>(context, mathFidelity);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addLegalDialect<ttmetal::TTMetalDialect, ttnn::TTNNDialect>();
    target.addLegalOp<ttir::TTNNMetalLayoutCastOp>(); // convert-d2m-to-ttnn lowers it
    target.addLegalOp<func::FuncOp, func::ReturnOp>();
    // Buffers of the host stay; patterns handle the others.
    target.addDynamicallyLegalDialect<memref::MemRefDialect>([](Operation *op) -> std::optional<bool> {
      bool onDevice = isa<memref::AllocOp, memref::DeallocOp>(op) &&
                      llvm::any_of(llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                                            llvm::to_vector(op->getResultTypes())),
                                   ttmetal::isDeviceBuffer);
      return onDevice ? std::nullopt : std::optional(true);
    });
    // Threads become kernels, each by itself: convert-d2m-to-ttkernel.
    getOperation()->walk([&](func::FuncOp function) {
      if (!function.isExternal() && !function->hasAttr(ttkernel::threadName))
        convert(function, target);
    });
  }

private:
  void convert(func::FuncOp function, const ConversionTarget &target) {
    Refusals refusals = convertAll(function, target, patterns);
    for (Operation &op : function.getOps()) {
      if (target.isLegal(&op))
        continue;
      signalPassFailure();
      if (auto refusal = refusals.find(&op); refusal != refusals.end())
        op.emitOpError() << refusal->second;
      else
        op.emitError() << "'" << op.getName() << "' is not lowered to a command";
    }
    function.walk([](func::ReturnOp end) {
      OpBuilder builder(end);
      ttmetal::FinishOp::create(builder, end.getLoc());
    });
  }

  FrozenRewritePatternSet patterns;
};
} // namespace

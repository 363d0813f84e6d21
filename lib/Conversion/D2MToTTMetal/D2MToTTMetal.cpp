//===- D2MToTTMetal.cpp - lowering of buffers and generics to commands ----===//

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"
#include "ttmlir/Dialect/D2M/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

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

namespace {
struct ConvertD2MToTTMetal : tt::impl::ConvertD2MToTTMetalBase<ConvertD2MToTTMetal> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || function->hasAttr(ttkernel::threadName))
        continue;
      SmallVector<Operation *> ops;
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (op->getParentOp() == function)
          ops.push_back(op);
      });
      for (Operation *op : ops)
        if (failed(convert(op)))
          return signalPassFailure();
    }
  }

private:
  LogicalResult convert(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](memref::AllocOp alloc) {
          if (!ttmetal::isDeviceBuffer(alloc.getType()))
            return success();
          auto address = alloc->getAttrOfType<IntegerAttr>(d2m::addressName);
          if (!address)
            return LogicalResult(alloc.emitOpError()
                                 << "has no attribute '" << d2m::addressName << "'; run d2m-allocate first");
          auto buffer = ttmetal::CreateBufferOp::create(builder, loc, alloc.getType(), address);
          alloc.replaceAllUsesWith(buffer.getResult());
          alloc.erase();
          return success();
        })
        .Case([&](memref::DeallocOp dealloc) {
          if (ttmetal::isDeviceBuffer(dealloc.getMemref().getType())) {
            ttmetal::DeallocateBufferOp::create(builder, loc, dealloc.getMemref());
            dealloc.erase();
          }
          return success();
        })
        .Case([&](d2m::ToDeviceOp transfer) {
          ttmetal::EnqueueWriteBufferOp::create(builder, loc, transfer.getInput(), transfer.getOutput());
          transfer.erase();
          return success();
        })
        .Case([&](d2m::ToHostOp transfer) {
          ttmetal::EnqueueReadBufferOp::create(builder, loc, transfer.getInput(), transfer.getOutput());
          transfer.erase();
          return success();
        })
        .Case([&](d2m::GenericOp generic) { return convertGeneric(generic); })
        .Case([&](func::ReturnOp) {
          ttmetal::FinishOp::create(builder, loc);
          return success();
        })
        .Default([&](Operation *) {
          if (isa_and_nonnull<memref::MemRefDialect, ttmetal::TTMetalDialect>(op->getDialect()))
            return success();
          return LogicalResult(op->emitError() << "'" << op->getName() << "' is not lowered to a command");
        });
  }

  LogicalResult convertGeneric(d2m::GenericOp generic) {
    OpBuilder builder(generic);
    MLIRContext *context = &getContext();
    ArrayRef<int64_t> grid = generic.getGrid().getShape();
    if (grid.size() != 2)
      return generic.emitOpError() << "has a grid of " << grid.size() << " dimensions; expected rows and columns";
    auto cores = ttmetal::CoreRangeAttr::getChecked([&] { return generic.emitOpError(); }, context,
                                                    ArrayRef<int64_t>{0, 0}, grid);
    if (!cores)
      return failure();
    SmallVector<Value> operands(generic.getInputs());
    llvm::append_range(operands, generic.getOutputs());
    bool wide = false;
    SmallVector<int64_t> ports;
    SmallVector<ttmetal::KernelArgAttr> arguments;
    for (auto [index, operand] : llvm::enumerate(operands)) {
      std::optional<ttmetal::DeviceBuffer> buffer = ttmetal::DeviceBuffer::of(operand.getType());
      if (!buffer)
        return generic.emitOpError() << "operand " << index << " is " << operand.getType()
                                     << "; expected a buffer of the device";
      wide |= isWide(buffer->dataType());
      ports.push_back(static_cast<int64_t>(index));
      arguments.push_back(
          ttmetal::KernelArgAttr::get(context, ttmetal::KernelArgType::CBPort, static_cast<uint32_t>(index)));
    }
    auto kernelArgs = ttmetal::KernelArgsAttr::get(context, {}, arguments);
    SmallVector<Attribute> configs;
    for (auto thread : generic.getThreads().getAsRange<d2m::ThreadAttr>()) {
      auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(thread.getKernelSymbol());
      if (!symbol)
        return generic.emitOpError() << "has a thread without a kernel; run d2m-generic-regions-to-funcs first";
      if (thread.getThreadType() == d2m::ThreadType::Compute)
        configs.push_back(ttmetal::ComputeConfigAttr::get(context, symbol, cores, kernelArgs, mathFidelity, wide,
                                                          /*dst_full_sync_en=*/false, /*math_approx_mode=*/false));
      else
        configs.push_back(ttmetal::NocConfigAttr::get(context, symbol, cores, kernelArgs,
                                                      thread.getDmCoreIndex() == 1 ? ttmetal::NocIndex::Noc1
                                                                                   : ttmetal::NocIndex::Noc0));
    }
    ttmetal::EnqueueProgramOp::create(builder, generic.getLoc(), operands, operands,
                                      builder.getDenseI64ArrayAttr(ports), builder.getArrayAttr(configs));
    generic.erase();
    return success();
  }
};
} // namespace

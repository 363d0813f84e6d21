//===- LinalgToLLVM.cpp - from linalg on tensors to the LLVM dialect ------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTIRToLinalg/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Pipelines.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/TensorToLinalg/TensorToLinalgPass.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::tt {
#define GEN_PASS_DEF_COPIESTOLINALG
#define GEN_PASS_DEF_LLVMBFLOATASBITS
#define GEN_PASS_DEF_LLVMEMITCALLINGCONVENTIONWRAPPERFUNCS
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

void tt::createLinalgToLLVMPipeline(OpPassManager &manager, const LinalgToLLVMPipelineOptions &options) {
  // Ops of other dialects on tensors, element by element, and padding.
  manager.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  manager.addPass(createConvertTensorToLinalgPass());
  manager.addNestedPass<func::FuncOp>(createDefineHostArithmetic());
  // A machine computes in f32 and f64.
  manager.addNestedPass<func::FuncOp>(math::createMathExtendToSupportedTypes());
  manager.addNestedPass<func::FuncOp>(createLowerHostMath());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  manager.addNestedPass<func::FuncOp>(arith::createArithEmulateUnsupportedFloats(emulate));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  // Runs before two conversions are merged: no CPU converts integers to bf16.
  manager.addPass(arith::createArithExpandOpsPass(expand));
  auto simplify = [&] {
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  };
  if (options.optimizations) {
    simplify();
    manager.addNestedPass<func::FuncOp>(createLinalgElementwiseOpFusionPass());
    simplify();
  }
  // Results are written to buffers of the caller; nothing else is written.
  manager.addNestedPass<func::FuncOp>(createPrepareHostArguments());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  bufferization::BufferResultsToOutParamsPassOptions outs;
  outs.hoistStaticAllocs = outs.modifyPublicFunctions = true;
  manager.addPass(bufferization::createBufferResultsToOutParamsPass(outs));
  bufferization::buildBufferDeallocationPipeline(manager);
  manager.addPass(createConvertBufferizationToMemRefPass());
  // Loops over scalars.
  manager.addNestedPass<func::FuncOp>(createCopiesToLinalg());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  if (options.optimizations)
    simplify();
  manager.addPass(createSCFToControlFlowPass());
  // Functions of the C library: they are accurate near 0 where LLVM's expansions are not.
  manager.addPass(createConvertMathToLibmPass());
  manager.addNestedPass<func::FuncOp>(createConvertMathToLLVMPass());
  manager.addPass(arith::createArithExpandOpsPass(expand));
  manager.addPass(createLowerAffinePass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createArithToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(functions));
  manager.addPass(createConvertControlFlowToLLVMPass());
  // Runs first: it names the ops between whose types and LLVM's types casts are left.
  manager.addPass(createLLVMEmitCallingConventionWrapperFuncs());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addNestedPass<LLVM::LLVMFuncOp>(createLLVMBFloatAsBits());
}

void tt::registerLinalgToLLVMPipeline() {
  // By name, for pipelines given as text.
  arith::registerArithEmulateUnsupportedFloatsPass();
  arith::registerArithExpandOpsPass();
  math::registerMathExtendToSupportedTypesPass();
  bufferization::registerBufferizationPasses();
  memref::registerMemRefPasses();
  registerConvertElementwiseToLinalgPass();
  registerConvertLinalgToLoopsPass();
  registerLinalgElementwiseOpFusionPass();
  // Registered one by one: the header that declares all registrations includes every dialect of MLIR.
  registerPass([] { return createArithToLLVMConversionPass(); });
  registerPass([] { return createConvertBufferizationToMemRefPass(); });
  registerPass([] { return createConvertControlFlowToLLVMPass(); });
  registerPass([] { return createConvertFuncToLLVMPass(); });
  registerPass([] { return createConvertIndexToLLVMPass(); });
  registerPass([] { return createConvertMathToLLVMPass(); });
  registerPass([] { return createConvertMathToLibmPass(); });
  registerPass([] { return createConvertTensorToLinalgPass(); });
  registerPass([] { return createFinalizeMemRefToLLVMConversionPass(); });
  registerPass([] { return createLowerAffinePass(); });
  registerPass([] { return createReconcileUnrealizedCastsPass(); });
  registerPass([] { return createSCFToControlFlowPass(); });
  ttcore::registerPipeline<LinalgToLLVMPipelineOptions>(
      "linalg-to-llvm-pipeline", "Lower linalg on tensors to the LLVM dialect, for functions of the host",
      ttcore::Inside::None, createLinalgToLLVMPipeline);
}

void tt::addHostPasses(OpPassManager &manager) {
  OpPassManager &host = manager.nest<ttcore::CPUModuleOp>().nest<ModuleOp>();
  host.addPass(createConvertTTIRToLinalg());
  createLinalgToLLVMPipeline(host, LinalgToLLVMPipelineOptions());
  manager.addPass(createLowerCPUHoistedCalls());
}

void tt::registerHostDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, bufferization::BufferizationDialect, cf::ControlFlowDialect, linalg::LinalgDialect,
              LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
}

namespace {
struct CopiesToLinalg : tt::impl::CopiesToLinalgBase<CopiesToLinalg> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) {
      auto isRow = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getLayout().isIdentity(); };
      if (isa<MemRefType>(copy.getSource().getType()) && isa<MemRefType>(copy.getTarget().getType()) &&
          !(isRow(copy.getSource()) && isRow(copy.getTarget())))
        copies.push_back(copy);
    });
    for (memref::CopyOp copy : copies) {
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    }
  }
};

struct BFloatAsBits : tt::impl::LLVMBFloatAsBitsBase<BFloatAsBits> {
  void runOnOperation() override {
    Type bits = IntegerType::get(&getContext(), 16);
    bool changed = false;
    auto retype = [&](Value value) {
      if (!value.getType().isBF16())
        return;
      value.setType(bits);
      changed = true;
    };
    getOperation()->walk([&](Operation *op) {
      if (auto constant = dyn_cast<LLVM::ConstantOp>(op))
        if (auto value = dyn_cast<FloatAttr>(constant.getValue()); value && value.getType().isBF16())
          constant.setValueAttr(IntegerAttr::get(bits, value.getValue().bitcastToAPInt()));
      llvm::for_each(op->getResults(), retype);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), retype);
    });
    if (!changed)
      markAllAnalysesPreserved();
    getOperation()->walk([](LLVM::BitcastOp cast) {
      if (cast.getArg().getType() == cast.getType()) {
        cast.replaceAllUsesWith(cast.getArg());
        cast.erase();
      }
    });
  }
};

struct EmitWrappers : tt::impl::LLVMEmitCallingConventionWrapperFuncsBase<EmitWrappers> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkLowered(module)))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>())) {
      std::string name = (function.getSymName() + hostWrapperSuffix).str();
      // The C library has the functions that buffers need, such as malloc.
      if (function.isExternal() || function.getSymName().ends_with(hostWrapperSuffix) || module.lookupSymbol(name))
        continue;
      LLVM::LLVMFunctionType type = function.getFunctionType();
      auto isPointer = [](Type each) { return isa<LLVM::LLVMPointerType>(each); };
      if (!isa<LLVM::LLVMVoidType>(type.getReturnType()) || !llvm::all_of(type.getParams(), isPointer))
        continue;
      builder.setInsertionPointToEnd(module.getBody());
      Location loc = function.getLoc();
      auto wrapper = LLVM::LLVMFuncOp::create(
          builder, loc, name, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {pointer}));
      Block *body = wrapper.addEntryBlock(builder);
      builder.setInsertionPointToStart(body);
      SmallVector<Value> arguments;
      for (unsigned i = 0; i < type.getNumParams(); ++i) {
        Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, body->getArgument(0),
                                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
        arguments.push_back(LLVM::LoadOp::create(builder, loc, pointer, place));
      }
      LLVM::CallOp::create(builder, loc, function, arguments);
      LLVM::ReturnOp::create(builder, loc, ValueRange());
    }
  }

private:
  /// Reports ops for which no pass had a lowering.
  static LogicalResult checkLowered(ModuleOp module) {
    WalkResult result = module.walk([&](Operation *op) {
      StringRef dialect = op->getName().getDialectNamespace();
      if (dialect == "llvm" || op == module || isa<UnrealizedConversionCastOp>(op))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName() << "' is not lowered to LLVM: the host has no code for it";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace

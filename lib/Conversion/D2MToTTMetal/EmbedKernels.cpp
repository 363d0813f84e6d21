//===- EmbedKernels.cpp - the sources of kernels in generic ops -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"

#include "ttmlir/Dialect/TTNN/IR/Ops/GenericOp.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Target/TTMetal/KernelText.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tt {
#define GEN_PASS_DEF_TTNNEMBEDKERNELS
#include "ttmlir/Conversion/D2MToTTMetal/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

namespace {
struct EmbedKernels : tt::impl::TTNNEmbedKernelsBase<EmbedKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    sources.clear();
    SmallVector<ttnn::GenericOp> generics;
    module.walk([&](ttnn::GenericOp generic) { generics.push_back(generic); });
    if (generics.empty())
      return markAllAnalysesPreserved();
    for (ttnn::GenericOp generic : generics)
      if (failed(embed(generic)))
        return signalPassFailure();
    for (auto &[name, source] : sources)
      module.lookupSymbol(name)->erase();
  }

private:
  FailureOr<StringAttr> sourceOf(ttnn::GenericOp generic, SymbolRefAttr symbol) {
    StringAttr &source = sources[symbol.getLeafReference()];
    if (source)
      return source;
    auto kernel = getOperation().lookupSymbol<func::FuncOp>(symbol.getLeafReference());
    if (!kernel || kernel.isExternal()) {
      sources.erase(symbol.getLeafReference());
      return generic.emitOpError() << "runs " << symbol << ", which is no function of the module with a body";
    }
    FailureOr<std::string> text = ttmetal::kernelText(kernel);
    if (failed(text))
      return failure();
    return source = StringAttr::get(&getContext(), *text);
  }

  template <class To, class From> FailureOr<Attribute> moved(ttnn::GenericOp generic, From kernel) {
    FailureOr<StringAttr> source = sourceOf(generic, kernel.getSymbolRef());
    if (failed(source))
      return failure();
    return Attribute(To::get(&getContext(), *source, kernel.getCoreRanges(), kernel.getCommonRtArgs(),
                             kernel.getRtArgs(), kernel.getCtArgs()));
  }

  LogicalResult embed(ttnn::GenericOp generic) {
    auto program = dyn_cast<ttnn::ProgramAttr>(generic.getProgram());
    if (!program)
      return generic.emitOpError() << "has programs of a mesh; expected a #ttnn.program";
    SmallVector<Attribute> kernels;
    for (Attribute kernel : program.getKernels()) {
      using namespace ttnn;
      FailureOr<Attribute> embedded =
          TypeSwitch<Attribute, FailureOr<Attribute>>(kernel)
              .Case([&](ReadKernelAttr read) { return moved<SourceReadKernelAttr>(generic, read); })
              .Case([&](WriteKernelAttr write) { return moved<SourceWriteKernelAttr>(generic, write); })
              // A reader uses the first network, a writer the second.
              .Case([&](DataMovementKernelAttr move) {
                return move.getNocIndex() == ttcore::NocIndex::Noc0 ? moved<SourceReadKernelAttr>(generic, move)
                                                                    : moved<SourceWriteKernelAttr>(generic, move);
              })
              .Case([&](ComputeKernelAttr compute) -> FailureOr<Attribute> {
                FailureOr<StringAttr> source = sourceOf(generic, compute.getSymbolRef());
                if (failed(source))
                  return failure();
                return Attribute(SourceComputeKernelAttr::get(
                    &getContext(), *source, compute.getCoreRanges(), compute.getMathFidelity(),
                    compute.getFp32DestAccEn(), compute.getDstFullSyncEn(), compute.getUnpackToDestModes(),
                    compute.getBfp8PackPrecise(), compute.getMathApproxMode(), compute.getCommonRtArgs(),
                    compute.getRtArgs(), compute.getCtArgs()));
              })
              .Default([](Attribute other) { return FailureOr<Attribute>(other); });
      if (failed(embedded))
        return failure();
      kernels.push_back(*embedded);
    }
    generic.setProgramAttr(ttnn::ProgramAttr::get(&getContext(), kernels, program.getCbs(), program.getSemaphores()));
    return success();
  }

  DenseMap<StringAttr, StringAttr> sources; // by the names of kernels
};
} // namespace

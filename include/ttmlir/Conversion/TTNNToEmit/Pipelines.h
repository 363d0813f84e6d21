//===- Pipelines.h - from TTIR or TTNN to programs for people ---*- C++ -*-===//
#ifndef TTMLIR_CONVERSION_TTNNTOEMIT_PIPELINES_H
#define TTMLIR_CONVERSION_TTNNTOEMIT_PIPELINES_H

#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"

namespace mlir::tt {

/// What the conversions of TTNN to a language take; `withoutMain` is called differently for each.
struct EmitPipelineOptions {
  EmitPipelineOptions(detail::PassOptions &owner, StringRef withoutMain)
      : withoutMain(owner, withoutMain, llvm::cl::desc("Without main: others load the program"), llvm::cl::init(false)),
        tensorDirectory(owner, "tensor-directory", llvm::cl::desc("Folder of constants, seen from that of the program"),
                        llvm::cl::init("tensors")),
        loadInputs(owner, "load-input-tensors-from-disk", llvm::cl::desc("Inputs are read from files and not made up"),
                   llvm::cl::init(false)),
        inputDirectory(owner, "tensor-load-directory",
                       llvm::cl::desc("Folder of the inputs' files, seen from that of the program"),
                       llvm::cl::init("")),
        inputPrefix(owner, "tensor-load-file-prefix",
                    llvm::cl::desc("The file of an input is this, the input's number and .tensorbin"),
                    llvm::cl::init("arg")) {}

  detail::PassOptions::Option<bool> withoutMain;
  detail::PassOptions::Option<std::string> tensorDirectory;
  detail::PassOptions::Option<bool> loadInputs;
  detail::PassOptions::Option<std::string> inputDirectory;
  detail::PassOptions::Option<std::string> inputPrefix;
};

struct TTNNToEmitCOptions : PassPipelineOptions<TTNNToEmitCOptions> {
  EmitPipelineOptions emit{*this, "target-dylib"};
};
struct TTNNToEmitPyOptions : PassPipelineOptions<TTNNToEmitPyOptions> {
  EmitPipelineOptions emit{*this, "target-module"};
};
struct TTIRToEmitCOptions : ttnn::TTIRToTTNNPipelineOptions {
  EmitPipelineOptions emit{*this, "target-dylib"};
};
struct TTIRToEmitPyOptions : ttnn::TTIRToTTNNPipelineOptions {
  EmitPipelineOptions emit{*this, "target-module"};
};

/// Registers ttir-to-emitc-pipeline, ttir-to-emitpy-pipeline, ttnn-common-to-emitc-pipeline and
/// ttnn-common-to-emitpy-pipeline.
void registerTTNNToEmitPipelines();

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_TTNNTOEMIT_PIPELINES_H

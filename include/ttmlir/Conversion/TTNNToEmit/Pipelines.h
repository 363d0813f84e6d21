//===- Pipelines.h - pipelines to EmitC and EmitPy --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_TTNNTOEMIT_PIPELINES_H
#define TTMLIR_CONVERSION_TTNNTOEMIT_PIPELINES_H

#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"

namespace mlir::tt {

/// Options of the conversions of TTNN to a language; `withoutMain` has another name for each.
struct EmitPipelineOptions {
  EmitPipelineOptions(ttcore::DescribedOptions &owner, StringRef withoutMain)
      : withoutMain(owner, withoutMain, llvm::cl::desc("Without main: others load the program"), llvm::cl::init(false)),
        tensorDirectory(owner, "tensor-directory", llvm::cl::desc("Folder of constants, seen from that of the program"),
                        llvm::cl::init("tensors")),
        loadInputs(owner, "load-input-tensors-from-disk",
                   llvm::cl::desc("Read inputs from files instead of generating them"), llvm::cl::init(false)),
        inputDirectory(owner, "tensor-load-directory",
                       llvm::cl::desc("Folder of the inputs' files, seen from that of the program"),
                       llvm::cl::init("")),
        inputPrefix(owner, "tensor-load-file-prefix",
                    llvm::cl::desc("The file of an input is this, the input's number and .tensorbin"),
                    llvm::cl::init("arg")),
        tuplifyInputs(
            owner, "tuplify-input-if-empty",
            llvm::cl::desc("Programs take their inputs as one list, also if there are none, and return a list"),
            llvm::cl::init(false)),
        recoverStructure(owner, "try-recover-structure",
                         llvm::cl::desc("Make functions of the parts that the names of ops tell"),
                         llvm::cl::init(false)) {}

  ttcore::DescribedOptions::Option<bool> withoutMain;
  ttcore::DescribedOptions::Option<std::string> tensorDirectory;
  ttcore::DescribedOptions::Option<bool> loadInputs;
  ttcore::DescribedOptions::Option<std::string> inputDirectory;
  ttcore::DescribedOptions::Option<std::string> inputPrefix;
  ttcore::DescribedOptions::Option<bool> tuplifyInputs;
  ttcore::DescribedOptions::Option<bool> recoverStructure;
};

/// Python can be more than one file.
struct EmitPyPipelineOptions : EmitPipelineOptions {
  explicit EmitPyPipelineOptions(ttcore::DescribedOptions &owner)
      : EmitPipelineOptions(owner, "target-module"),
        splitFiles(owner, "split-files",
                   llvm::cl::desc("What is evaluated once goes into a file of its own, `consteval`"),
                   llvm::cl::init(false)) {}

  ttcore::DescribedOptions::Option<bool> splitFiles;
};

struct TTNNToEmitCOptions : ttcore::PipelineOptions<TTNNToEmitCOptions> {
  EmitPipelineOptions emit{*this, "target-dylib"};
};
struct TTNNToEmitPyOptions : ttcore::PipelineOptions<TTNNToEmitPyOptions> {
  EmitPyPipelineOptions emit{*this};
};
struct TTIRToEmitCOptions : ttnn::TTIRToTTNNPipelineOptions {
  EmitPipelineOptions emit{*this, "target-dylib"};
};
struct TTIRToEmitPyOptions : ttnn::TTIRToTTNNPipelineOptions {
  EmitPyPipelineOptions emit{*this};
};

/// Registers ttir-to-emitc-pipeline, ttir-to-emitpy-pipeline, ttnn-common-to-emitc-pipeline and
/// ttnn-common-to-emitpy-pipeline.
void registerTTNNToEmitPipelines();

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_TTNNTOEMIT_PIPELINES_H

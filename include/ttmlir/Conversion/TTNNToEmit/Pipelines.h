//===- Pipelines.h - pipelines to EmitC and EmitPy --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_TTNNTOEMIT_PIPELINES_H
#define TTMLIR_CONVERSION_TTNNTOEMIT_PIPELINES_H

#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"

namespace mlir::tt {

/// The options of the conversions from TTNN to a language; `withoutMain` has a different name in each.
struct EmitPipelineOptions {
  EmitPipelineOptions(ttcore::DescribedOptions &owner, StringRef withoutMain)
      : withoutMain(owner, withoutMain, llvm::cl::desc("Omit main: another program loads this one"),
                    llvm::cl::init(false)),
        tensorDirectory(owner, "tensor-directory",
                        llvm::cl::desc("Folder of constants, relative to the program's folder"),
                        llvm::cl::init("tensors")),
        loadInputs(owner, "load-input-tensors-from-disk",
                   llvm::cl::desc("Read inputs from files instead of generating them"), llvm::cl::init(false)),
        inputDirectory(owner, "tensor-load-directory",
                       llvm::cl::desc("Folder of the inputs' files, relative to the program's folder"),
                       llvm::cl::init("")),
        inputPrefix(owner, "tensor-load-file-prefix",
                    llvm::cl::desc("Prefix of the inputs' files: the input's number and .tensorbin follow"),
                    llvm::cl::init("arg")),
        tuplifyInputs(
            owner, "tuplify-input-if-empty",
            llvm::cl::desc("Pass the inputs of programs as one list, also if there are none, and return a list"),
            llvm::cl::init(false)),
        recoverStructure(owner, "try-recover-structure",
                         llvm::cl::desc("Outline functions for the parts in the names of ops"), llvm::cl::init(false)) {
  }

  ttcore::DescribedOptions::Option<bool> withoutMain;
  ttcore::DescribedOptions::Option<std::string> tensorDirectory;
  ttcore::DescribedOptions::Option<bool> loadInputs;
  ttcore::DescribedOptions::Option<std::string> inputDirectory;
  ttcore::DescribedOptions::Option<std::string> inputPrefix;
  ttcore::DescribedOptions::Option<bool> tuplifyInputs;
  ttcore::DescribedOptions::Option<bool> recoverStructure;
};

/// A Python program can have several files.
struct EmitPyPipelineOptions : EmitPipelineOptions {
  explicit EmitPyPipelineOptions(ttcore::DescribedOptions &owner)
      : EmitPipelineOptions(owner, "target-module"),
        splitFiles(owner, "split-files",
                   llvm::cl::desc("Write const-eval functions to a file of their own, `consteval`"),
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

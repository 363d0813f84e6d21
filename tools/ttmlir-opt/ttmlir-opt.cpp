//===- ttmlir-opt.cpp - runs passes over modules --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Version.h"

#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"
#include "ttmlir/Dialect/Vhlo/Transforms/PortableArtifact.h"
#include "ttmlir/InitAll.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

/// Diagnostics omit the op at which they are, which may be a module with all its weights, unless
/// --mlir-print-op-on-diagnostic requests it.
static void keepDiagnosticsShort() {
  mlir::registerMLIRContextCLOptions();
  auto &options = llvm::cl::getRegisteredOptions();
  if (auto found = options.find("mlir-print-op-on-diagnostic"); found != options.end())
    static_cast<llvm::cl::opt<bool> *>(found->second)->setInitialValue(false);
}

/// Whether a pass reads one module, or its functions, and leaves modules inside of it unchanged.
static bool isOfOneModule(mlir::Pass &pass) {
  // Passes nested by their names are one without a name.
  return pass.getArgument().empty() || pass.getOpName() == mlir::ModuleOp::getOperationName();
}

/// Passes that are separate options run on the module of the file: other modules inside of it are errors. With
/// --pass-pipeline, the caller states the modules on which passes run.
static mlir::MlirOptMainConfig withCheckedModules(mlir::MlirOptMainConfig config) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto pipeline = options.find("pass-pipeline");
  if (pipeline != options.end() && pipeline->second->getNumOccurrences() > 0)
    return config;
  auto setUp = [config](mlir::PassManager &manager) {
    mlir::PassManager named(manager.getContext(), manager.getOpAnchorName(), manager.getNesting());
    if (failed(config.setupPassPipeline(named)))
      return mlir::failure();
    if (manager.getOpAnchorName() == mlir::ModuleOp::getOperationName() &&
        llvm::any_of(named.getPasses(), isOfOneModule))
      manager.addPass(mlir::tt::ttcore::createTTCoreCheckModules());
    return config.setupPassPipeline(manager);
  };
  return config.setPassPipelineSetupFn(setUp);
}

/// A flatbuffer or ONNX file among the arguments would be printed as the line that cannot be read.
static bool refuseOtherFiles(llvm::ArrayRef<char *> arguments) {
  bool isOutput = false;
  for (llvm::StringRef path : arguments) {
    bool skipped = isOutput || path.starts_with("-") || !llvm::sys::fs::is_regular_file(path);
    isOutput = path == "-o";
    if (skipped)
      continue;
    if (path.ends_with(".onnx")) {
      llvm::errs() << path << ": is an ONNX file, not a module; `ttmlir-import-onnx " << path
                   << " -o model.mlir` makes one of it\n";
      return true;
    }
    auto head = llvm::MemoryBuffer::getFileSlice(path, /*MapSize=*/12, /*Offset=*/0);
    // The identifier is after the size of the file and the offset of the root.
    if (!head || (*head)->getBuffer().substr(8) != "TTNN")
      continue;
    llvm::errs() << path
                 << ": is a flatbuffer, not a module; `ttrt read --section mlir` prints the one it was made of\n";
    return true;
  }
  return false;
}

/// The StableHLO module of a portable artifact, as MLIR's own bytecode; other input is unchanged. Null after an error.
static std::unique_ptr<llvm::MemoryBuffer> readArtifact(std::unique_ptr<llvm::MemoryBuffer> input,
                                                        const mlir::DialectRegistry &registry) {
  if (!mlir::vhlo::isPortableArtifact(input->getBuffer()))
    return input;
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::vhlo::deserializePortableArtifact(input->getBuffer(), &context);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (!module || failed(mlir::writeBytecodeToFile(*module, stream)))
    return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy(bytes, input->getBufferIdentifier());
}

/// Writes the portable artifact of a module that is given as bytecode.
static mlir::LogicalResult writeArtifact(llvm::StringRef bytecode, llvm::StringRef version, llvm::raw_ostream &output,
                                         const mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto copy = llvm::MemoryBuffer::getMemBufferCopy(bytecode);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(copy->getBuffer(), &context);
  if (!module)
    return mlir::failure();
  mlir::FailureOr<std::string> bytes = mlir::vhlo::serializePortableArtifact(*module, version);
  if (failed(bytes))
    return mlir::failure();
  output << *bytes;
  return mlir::success();
}

static mlir::LogicalResult run(llvm::StringRef input, llvm::StringRef output, std::optional<llvm::StringRef> artifact,
                               mlir::DialectRegistry &registry) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> out = file ? mlir::openOutputFile(output, &error) : nullptr;
  if (!out) {
    llvm::errs() << error << '\n';
    return mlir::failure();
  }
  file = readArtifact(std::move(file), registry);
  if (!file)
    return mlir::failure();
  mlir::MlirOptMainConfig config = withCheckedModules(mlir::MlirOptMainConfig::createFromCLOptions());
  if (artifact) {
    std::string bytecode;
    llvm::raw_string_ostream stream(bytecode);
    config.emitBytecode(true);
    if (failed(mlir::MlirOptMain(stream, std::move(file), registry, config)) ||
        failed(writeArtifact(bytecode, *artifact, out->os(), registry)))
      return mlir::failure();
  } else if (failed(mlir::MlirOptMain(out->os(), std::move(file), registry, config))) {
    return mlir::failure();
  }
  out->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  ttmlir::tools::setVersion("ttmlir-opt");
  if (refuseOtherFiles(llvm::ArrayRef(argv + 1, argc > 0 ? argc - 1 : 0)))
    return 1;
  keepDiagnosticsShort();
  mlir::DialectRegistry registry;
  mlir::tt::registerAllDialects(registry);
  mlir::tt::registerAllPasses();
  const std::string current = mlir::vhlo::Version::current().str();
  llvm::cl::opt<std::string> emit(
      "emit-portable-artifact", llvm::cl::ValueOptional, llvm::cl::value_desc("version"),
      llvm::cl::desc("Write StableHLO as a portable artifact of a version, the current one if none is given"));
  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "optimizer and pass driver of the TT dialects\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  std::optional<llvm::StringRef> version;
  if (emit.getNumOccurrences() > 0)
    version = emit.empty() ? llvm::StringRef(current) : llvm::StringRef(emit);
  return mlir::asMainReturnCode(run(input, output, version, registry));
}

//===- TensorFiles.cpp - tensor files of emitted programs -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/Emit/TensorFiles.h"

#include "ttmlir/Target/Emit/Text.h"
#include "ttmlir/Target/OutputFile.h"
#include "ttmlir/Target/TTNN/TensorFile.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tt;

static LogicalResult writeFile(Operation *module, StringRef path, DictionaryAttr tensor) {
  auto emitError = [&] { return module->emitError() << llvm::sys::path::filename(path) << ": "; };
  auto code = tensor.getAs<DenseIntElementsAttr>("code");
  auto values = tensor.getAs<ElementsAttr>("value");
  auto dtype = tensor.getAs<ttcore::DataTypeAttr>("dtype");
  auto layout = tensor.getAs<ttnn::LayoutAttr>("layout");
  if (!code && (!values || !dtype || !layout))
    return emitError() << "expected a value, a dtype and a layout, or code, in '" << emit::tensorFilesAttr << "'";
  ttmlir::OutputFile file(path.str());
  std::string message = file.message();
  if (file.error() == 0) {
    llvm::raw_fd_ostream os(file.descriptor(), /*shouldClose=*/false);
    if (code) {
      os.write(code.getRawData().data(), code.getRawData().size());
    } else if (failed(ttnn::writeTensorFile(values, dtype.getValue(), layout.getValue(), os, emitError))) {
      os.clear_error();
      return failure();
    }
    os.flush();
    if (!os.has_error() && file.keep() == 0)
      return success();
    message = os.has_error() ? os.error().message() : file.message();
    os.clear_error();
  }
  return emitError() << "cannot be written to " << path << ": " << message;
}

LogicalResult emit::writeTensorFiles(Operation *module, StringRef folder) {
  auto files = module->getAttrOfType<DictionaryAttr>(tensorFilesAttr);
  if (!files || files.empty())
    return success();
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return module->emitError() << "cannot make the folder " << folder << " for constants: " << error.message();
  for (NamedAttribute file : files) {
    auto tensor = dyn_cast<DictionaryAttr>(file.getValue());
    if (!tensor || llvm::sys::path::filename(file.getName()) != file.getName())
      return module->emitError() << "expected names of files and their tensors in '" << tensorFilesAttr << "'";
    SmallString<128> path(folder);
    llvm::sys::path::append(path, file.getName().getValue());
    if (failed(writeFile(module, path, tensor)))
      return failure();
  }
  return success();
}

static llvm::cl::opt<std::string> &directoryOption() {
  static llvm::cl::opt<std::string> option("tensor-directory",
                                           llvm::cl::desc("Folder to write the constants of a program into"));
  return option;
}

void emit::registerTensorDirectoryOption() { directoryOption(); }

LogicalResult emit::writeTensorFilesOfOption(Operation *module) {
  auto files = module->getAttrOfType<DictionaryAttr>(tensorFilesAttr);
  if (!files || files.empty())
    return success();
  const std::string &folder = directoryOption();
  if (folder.empty())
    return module->emitError() << "the program reads " << files.size()
                               << " constants, or code of the host, from files; say with --tensor-directory where to "
                                  "write them";
  return writeTensorFiles(module, folder);
}

//===- Registration.cpp - C API: dialects, passes, translations -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir-c/Registration.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Lowering.h"
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h"
#include "ttmlir/InitAll.h"
#include "ttmlir/Target/Cpp/TranslateToCpp.h"
#include "ttmlir/Target/Emit/TensorFiles.h"
#include "ttmlir/Target/Python/TranslateToPython.h"
#include "ttmlir/Target/TTMetal/TTMetalToFlatbuffer.h"
#include "ttmlir/Target/TTNN/OpenSizes.h"
#include "ttmlir/Target/TTNN/TTNNToFlatbuffer.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"

void ttmlirRegisterAllDialects(MlirDialectRegistry registry) { mlir::tt::registerAllDialects(*unwrap(registry)); }

void ttmlirRegisterAllPasses() {
  static bool once = (mlir::tt::registerAllPasses(), true);
  (void)once;
}

MlirLogicalResult ttmlirTranslateToFlatbuffer(MlirOperation module, MlirStringCallback callback, void *userData) {
  mlir::detail::CallbackOstream stream(callback, userData);
  return wrap(mlir::tt::ttnn::translateTTNNToFlatbuffer(unwrap(module), stream));
}

MlirLogicalResult ttmlirTranslateTTMetalToFlatbuffer(MlirOperation module, MlirStringCallback callback,
                                                     void *userData) {
  mlir::detail::CallbackOstream stream(callback, userData);
  return wrap(mlir::tt::ttmetal::translateTTMetalToFlatbuffer(unwrap(module), stream));
}

MlirLogicalResult ttmlirOpenSizes(intptr_t count, const MlirStringRef *files, intptr_t sizes,
                                  const MlirStringRef *names, const int64_t *bounds, const int64_t *points,
                                  MlirStringCallback callback, TtmlirQuotientCallback quotient, intptr_t *searches,
                                  void *userData) {
  llvm::SmallVector<llvm::StringRef> given;
  llvm::SmallVector<llvm::ArrayRef<int64_t>> at;
  llvm::SmallVector<mlir::tt::ttnn::OpenSize> open;
  for (intptr_t i = 0; i < count; ++i) {
    given.push_back(unwrap(files[i]));
    at.push_back({points + i * sizes, static_cast<size_t>(sizes)});
  }
  for (intptr_t i = 0; i < sizes; ++i)
    open.push_back({unwrap(names[i]).str(), bounds[2 * i], bounds[2 * i + 1]});
  llvm::Expected<mlir::tt::ttnn::OpenFile> created = mlir::tt::ttnn::openSizes(given, open, at);
  if (!created) {
    const std::string text = llvm::toString(created.takeError());
    callback(wrap(llvm::StringRef(text)), userData);
    return mlirLogicalResultFailure();
  }
  callback(wrap(llvm::StringRef(created->data)), userData);
  *searches = static_cast<intptr_t>(created->searches);
  for (const auto &[period, isKnown, place] : created->quotients)
    quotient(period, isKnown, wrap(llvm::StringRef(place)), userData);
  return mlirLogicalResultSuccess();
}

MlirLogicalResult ttmlirTranslateKernelsToCpp(MlirOperation module, MlirStringCallback callback, void *userData) {
  mlir::detail::CallbackOstream stream(callback, userData);
  return wrap(mlir::tt::ttmetal::translateKernelsToCpp(unwrap(module), stream));
}

MlirLogicalResult ttmlirTranslateToCpp(MlirOperation module, MlirStringCallback callback, void *userData) {
  mlir::detail::CallbackOstream stream(callback, userData);
  return wrap(mlir::tt::emit::translateToCpp(unwrap(module), stream));
}

MlirLogicalResult ttmlirTranslateToPython(MlirOperation module, MlirStringRef file, MlirStringCallback callback,
                                          void *userData) {
  mlir::detail::CallbackOstream stream(callback, userData);
  return wrap(mlir::tt::emitpy::translateToPython(unwrap(module), stream, unwrap(file)));
}

MlirLogicalResult ttmlirWriteTensorFiles(MlirOperation module, MlirStringRef folder) {
  return wrap(mlir::tt::emit::writeTensorFiles(unwrap(module), unwrap(folder)));
}

void ttmlirOpLowering(MlirStringRef name, MlirContext context, MlirStringCallback callback, void *userData) {
  llvm::StringRef op = unwrap(name);
  std::string into;
  unwrap(context)->getOrLoadDialect(op.split('.').first); // else the name has no traits
  if (op.starts_with("ttir."))
    into = mlir::tt::ttnn::ttirLowering(op, unwrap(context));
  else if (op.starts_with("stablehlo.") || op.starts_with("chlo."))
    into = mlir::tt::stableHLOLowering(op, unwrap(context));
  if (!into.empty())
    callback(wrap(llvm::StringRef(into)), userData);
}

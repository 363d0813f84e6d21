//===- PortableArtifact.cpp - C API: portable artefacts -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Vhlo/Transforms/PortableArtifact.h"
#include "ttmlir-c/Registration.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;

MlirModule ttmlirDeserializePortableArtifact(MlirContext context, MlirStringRef bytes) {
  return wrap(vhlo::deserializePortableArtifact(unwrap(bytes), unwrap(context)).release());
}

MlirLogicalResult ttmlirSerializePortableArtifact(MlirModule module, MlirStringRef version, MlirStringCallback callback,
                                                  void *userData) {
  FailureOr<std::string> bytes = vhlo::serializePortableArtifact(unwrap(module), unwrap(version));
  if (succeeded(bytes))
    callback(wrap(StringRef(*bytes)), userData);
  return wrap(LogicalResult(bytes));
}

bool ttmlirIsPortableArtifact(MlirStringRef bytes) { return vhlo::isPortableArtifact(unwrap(bytes)); }

void ttmlirPortableArtifactVersion(bool newest, MlirStringCallback callback, void *userData) {
  std::string version = (newest ? vhlo::Version::current() : vhlo::Version::minimum()).str();
  callback(wrap(StringRef(version)), userData);
}

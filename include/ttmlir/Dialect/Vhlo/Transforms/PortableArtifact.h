//===- PortableArtifact.h - StableHLO in files that stay readable -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_VHLO_TRANSFORMS_PORTABLEARTIFACT_H
#define TTMLIR_DIALECT_VHLO_TRANSFORMS_PORTABLEARTIFACT_H

#include "ttmlir/Dialect/Vhlo/IR/Table.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace mlir::vhlo {

/// Whether bytes begin like a portable artifact: bytecode whose producer is StableHLO.
bool isPortableArtifact(StringRef bytes);

/// The version that an artifact states, or nothing for other bytes.
std::optional<Version> portableArtifactVersion(StringRef bytes);

/// The StableHLO module of a portable artifact. Returns null after an error, which is emitted on the context. Loads the
/// dialects that it needs; those of the artifact must be registered.
OwningOpRef<ModuleOp> deserializePortableArtifact(StringRef bytes, MLIRContext *context);

/// The portable artifact of a StableHLO module, which is not changed. `version` is MAJOR.MINOR.PATCH.
FailureOr<std::string> serializePortableArtifact(ModuleOp module, StringRef version);

} // namespace mlir::vhlo

#endif // TTMLIR_DIALECT_VHLO_TRANSFORMS_PORTABLEARTIFACT_H

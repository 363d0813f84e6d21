//===- SystemWriter.h - serialization of the system descriptor --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/BuiltinOps.h"

#include "binary_generated.h"

namespace mlir::tt {

/// The chips and the mesh for which a module is compiled. `mesh` receives rows and columns; the system has as many
/// chips as `whole` if programs are for parts of that.
FailureOr<flatbuffers::Offset<::tt::target::SystemDesc>> writeSystem(ModuleOp module,
                                                                     flatbuffers::FlatBufferBuilder &builder,
                                                                     std::vector<uint32_t> &mesh,
                                                                     std::vector<uint32_t> whole = {});

} // namespace mlir::tt

//===- Precompiled.h - what extensions over MLIR include --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Not to be included: see CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "mlir/Bindings/Python/Globals.h"
#include "mlir/Bindings/Python/IRAttributes.h"
#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/Bindings/Python/IRTypes.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "mlir/Bindings/Python/NanobindUtils.h"

#include <optional>
#include <string>
#include <vector>

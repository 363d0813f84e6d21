//===- ttmlir-lsp-server.cpp - editor support for .mlir files -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Version.h"

#include "ttmlir/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  ttmlir::tools::setVersion("ttmlir-lsp-server");
  mlir::DialectRegistry registry;
  mlir::tt::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

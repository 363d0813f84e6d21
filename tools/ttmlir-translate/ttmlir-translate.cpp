//===- ttmlir-translate.cpp - translation of modules ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Version.h"

#include "ttmlir/InitAll.h"

#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  ttmlir::tools::setVersion("ttmlir-translate");
  mlir::tt::registerAllTranslations();
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "translator of the TT dialects"));
}

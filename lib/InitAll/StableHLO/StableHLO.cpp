//===- StableHLO.cpp - registration of StableHLO --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"
#include "ttmlir/Dialect/Chlo/IR/Chlo.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Pipeline.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h"
#include "ttmlir/Dialect/Vhlo/IR/Vhlo.h"
#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h"
#include "ttmlir/InitStableHLO.h"

#include "mlir/Dialect/Shape/IR/Shape.h"

using namespace mlir;

void tt::registerStableHLODialects(DialectRegistry &registry) {
  registry.insert<stablehlo::StablehloDialect, chlo::ChloDialect, vhlo::VhloDialect, shape::ShapeDialect>();
}

void tt::registerStableHLOPasses() {
  vhlo::registerVhloPasses();
  sdy::registerSdyPasses();
  shlo::registerStableHLOPasses();
  shlo::registerStableHLORewritePasses();
  registerStableHLOToTTIRPasses();
  sdy::registerSdyPipelines();
  shlo::registerStableHLOPipeline();
  registerStableHLOToTTIRPipeline();
}

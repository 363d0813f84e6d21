//===- NothingToDo.cpp - passes that leave programs as they are ----------===//
// SPDX-License-Identifier: Apache-2.0

//
// Passes that the simulated chip does not need; the summary of each states the reason. They accept their options, so
// that command lines and pipelines that name them work.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNALLOCATEDISTRIBUTEDOPBUFFERS
#define GEN_PASS_DEF_TTNNALLOCATEDISTRIBUTEDOPSEMAPHORES
#define GEN_PASS_DEF_TTNNCONFIGURECCLOPS
#define GEN_PASS_DEF_TTNNDECOMPOSITION
#define GEN_PASS_DEF_TTNNDEDUCEMOECOMPUTELAYOUTS
#define GEN_PASS_DEF_TTNNEMITPYWORKAROUNDS
#define GEN_PASS_DEF_TTNNMEMORYMANAGEMENT
#define GEN_PASS_DEF_TTNNPREPARECONSTEVALCACHING
#define GEN_PASS_DEF_TTNNPREPARECONV2DWEIGHTSANDBIAS
#define GEN_PASS_DEF_TTNNPREPARECONV3DWEIGHTS
#define GEN_PASS_DEF_TTNNROWMAJORLAYOUTPROPAGATION
#define GEN_PASS_DEF_TTNNWORKAROUNDS
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;

#define TTNN_NOTHING_TO_DO(name)                                                                                       \
  struct name : ttnn::impl::name##Base<name> {                                                                         \
    using Base::Base;                                                                                                  \
    void runOnOperation() override { markAllAnalysesPreserved(); }                                                     \
  }

namespace {
TTNN_NOTHING_TO_DO(TTNNAllocateDistributedOpBuffers);
TTNN_NOTHING_TO_DO(TTNNAllocateDistributedOpSemaphores);
TTNN_NOTHING_TO_DO(TTNNConfigureCCLOps);
TTNN_NOTHING_TO_DO(TTNNDecomposition);
TTNN_NOTHING_TO_DO(TTNNDeduceMoEComputeLayouts);
TTNN_NOTHING_TO_DO(TTNNEmitPyWorkarounds);
TTNN_NOTHING_TO_DO(TTNNMemoryManagement);
TTNN_NOTHING_TO_DO(TTNNPrepareConstEvalCaching);
TTNN_NOTHING_TO_DO(TTNNPrepareConv2dWeightsAndBias);
TTNN_NOTHING_TO_DO(TTNNPrepareConv3dWeights);
TTNN_NOTHING_TO_DO(TTNNRowMajorLayoutPropagation);
TTNN_NOTHING_TO_DO(TTNNWorkarounds);
} // namespace

#undef TTNN_NOTHING_TO_DO

//===- TTNNPipelines.h - pipelines from TTIR to TTNN ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_PIPELINES_TTNNPIPELINES_H
#define TTMLIR_DIALECT_TTNN_PIPELINES_TTNNPIPELINES_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Dialect/TTNN/Pipelines/AbsentOptions.h"
#include "ttmlir/Dialect/TTNN/Transforms/Options.h"

#include "mlir/Pass/PassOptions.h"

#include <algorithm>

namespace mlir::tt::ttnn {

/// The system and the mesh that programs are made for.
struct TTNNDeviceOptions : PassPipelineOptions<TTNNDeviceOptions> {
  Option<ttcore::Arch> mockSystemDescArch{
      *this, "mock-system-desc-arch", llvm::cl::desc("Chip of a system that no file describes"),
      llvm::cl::values(clEnumValN(ttcore::Arch::WormholeB0, "wormhole_b0", "Wormhole"),
                       clEnumValN(ttcore::Arch::Blackhole, "blackhole", "Blackhole"),
                       clEnumValN(ttcore::Arch::Quasar, "quasar", "Quasar")),
      llvm::cl::init(ttcore::Arch::WormholeB0)};
  Option<std::string> systemDescPath{
      *this, "system-desc-path",
      llvm::cl::desc("File that describes the machine: a #ttcore.system_desc, or JSON of the runtime"),
      llvm::cl::init("")};
  ListOption<int64_t> meshShape{*this, "mesh-shape", llvm::cl::desc("Rows and columns of the mesh")};
  ListOption<std::string> meshTopology{*this, "mesh-topology",
                                       llvm::cl::desc("Links of each mesh axis: ring, linear or disabled")};
};

/// 0, 1 or 2.
struct OptimizationLevelParser : llvm::cl::parser<int> {
  using parser::parser;
  bool parse(llvm::cl::Option &option, StringRef name, StringRef value, int &out);
};

struct TTIRToTTNNPipelineOptions : TTNNDeviceOptions {
  Option<std::string> argumentTypes{*this, "argument-types",
                                    llvm::cl::desc("What the arguments of functions are: main=input,parameter;..."),
                                    llvm::cl::init("")};
  Option<bool> hostConstEval{*this, "enable-cpu-hoisted-const-eval",
                             llvm::cl::desc("What is evaluated once is computed by the host, as far as it can be"),
                             llvm::cl::init(false)};
  Option<bool> cpuFallback{
      *this, "cpu-fallback",
      llvm::cl::desc("Ops that the chip lacks (of arith, linalg, math, scf and tensor, and some of "
                     "TTIR) are computed by the host"),
      llvm::cl::init(false)};
  Option<bool> constEvalInputsOnHost{*this, "enable-const-eval-inputs-to-system-memory",
                                     llvm::cl::desc("Arguments that are only read once stay in the host's memory"),
                                     llvm::cl::init(true)};
  Option<std::string> targetFormat{*this, "target-format",
                                   llvm::cl::desc("Float format to compute in (f32, bf16, bfp_bf8, ...); empty: the "
                                                  "module's own"),
                                   llvm::cl::init("")};
  Option<BFPDtype> weightDtype{*this, "experimental-weight-dtype", llvm::cl::desc("Block format of weights"),
                               TTNN_BLOCK_FORMAT_VALUES, llvm::cl::init(BFPDtype::None)};
  Option<BFPDtype> cacheDtype{*this, "experimental-kv-cache-dtype",
                              llvm::cl::desc("Block format of caches of keys and values"), TTNN_BLOCK_FORMAT_VALUES,
                              llvm::cl::init(BFPDtype::None)};
  Option<OptionalMathFidelity> mathFidelity{*this, "compute-cfg-math-fidelity",
                                            llvm::cl::desc("Phases of a product, for ops that do not say it"),
                                            TTNN_MATH_FIDELITY_VALUES, llvm::cl::init(OptionalMathFidelity::Undefined)};
  Option<OptionalSwitch> mathApproxMode{
      *this, "compute-cfg-math-approx-mode",
      llvm::cl::desc("Functions by faster approximations, for ops that do not say it"), TTNN_SWITCH_VALUES,
      llvm::cl::init(OptionalSwitch::Undefined)};
  Option<OptionalSwitch> fp32DestAccEn{*this, "compute-cfg-fp32-dest-acc-en",
                                       llvm::cl::desc("Sums in f32, for ops that do not say it"), TTNN_SWITCH_VALUES,
                                       llvm::cl::init(OptionalSwitch::Undefined)};
  Option<OptionalSwitch> packerL1Acc{*this, "compute-cfg-packer-l1-acc",
                                     llvm::cl::desc("The packer adds to what lies in L1, for ops that do not say it"),
                                     TTNN_SWITCH_VALUES, llvm::cl::init(OptionalSwitch::Undefined)};
  Option<OptionalSwitch> dstFullSyncEn{
      *this, "compute-cfg-dst-full-sync-en",
      llvm::cl::desc("Registers are handed over as a whole, for ops that do not say it"), TTNN_SWITCH_VALUES,
      llvm::cl::init(OptionalSwitch::Undefined)};
  Option<bool> uniqueLocations{*this, "check-unique-locs",
                               llvm::cl::desc("Refuse a module with two ops of one location"), llvm::cl::init(false)};
  Option<bool> removeDeadValues{*this, "enable-remove-dead-values", llvm::cl::desc("Drop what no result depends on"),
                                llvm::cl::init(false)};
  Option<bool> optimizations{*this, "enable-optimization-passes",
                             llvm::cl::desc("false switches off folding, fusing, erasing and const evaluation at once"),
                             llvm::cl::init(true)};
  Option<bool> implicitBroadcastFolding{*this, "enable-implicit-broadcast-folding-pass",
                                        llvm::cl::desc("Drop broadcasts that elementwise ops do by themselves"),
                                        llvm::cl::init(true)};
  Option<bool> eraseInverseOps{*this, "enable-erase-inverse-ops-pass",
                               llvm::cl::desc("Erase inverse data movement ops"), llvm::cl::init(true)};
  Option<bool> fusing{*this, "enable-fusing-pass", llvm::cl::desc("Make one op of several"), llvm::cl::init(true)};
  Option<bool> fusingConv2dWithMultiply{
      *this, "enable-fusing-conv2d-with-multiply-pattern",
      llvm::cl::desc("Scale the weights of a convolution by what its result is multiplied with"),
      llvm::cl::init(false)};
  Option<bool> openSizes{*this, "open-sizes",
                         llvm::cl::desc("Choose layouts that are the same for other sizes of the inputs"),
                         llvm::cl::init(false)};
  Option<bool> permuteMatmulFusion{
      *this, "enable-permute-matmul-fusion",
      llvm::cl::desc("Take permutes of operands of matmul and linear into their transposition flags"),
      llvm::cl::init(false)};
  Option<bool> quantDequantConversion{*this, "enable-quant-dequant-conversion-pass",
                                      llvm::cl::desc("Move data movement before what dequantizes"),
                                      llvm::cl::init(true)};
  Option<uint32_t> targetBitWidth{*this, "target-bit-width", llvm::cl::desc("Bits that quantised integers must fit"),
                                  llvm::cl::init(32)};
  Option<bool> sliceOfMatmulFusion{*this, "enable-permute-slice-after-matmul-fusion",
                                   llvm::cl::desc("Compute only what a slice takes of a product"),
                                   llvm::cl::init(true)};
  Option<bool> constEval{*this, "enable-const-eval",
                         llvm::cl::desc("Evaluate what depends on constants and parameters alone once"),
                         llvm::cl::init(true)};
  Option<int64_t> stages{*this, "pipeline-stages",
                         llvm::cl::desc("Cut programs into so many stages, on parts of the mesh of their own"),
                         llvm::cl::init(1)};
  Option<int64_t> microBatches{*this, "micro-batches",
                               llvm::cl::desc("Parts of the batch, which go through the stages one behind the other"),
                               llvm::cl::init(1)};
  Option<bool> perfMetrics{*this, "ttnn-perf-metrics-enabled",
                           llvm::cl::desc("Write figures of the programs to a file"), llvm::cl::init(false)};
  Option<std::string> perfMetricsFile{*this, "ttnn-perf-metrics-output-file",
                                      llvm::cl::desc("The file of the figures; empty: ttnn_perf_metrics.json"),
                                      llvm::cl::init("")};
  Option<bool> perfMetricsVerbose{*this, "ttnn-perf-metrics-verbose-output-enabled",
                                  llvm::cl::desc("Figures of each op by itself, too"), llvm::cl::init(true)};
  Option<bool> trace{*this, "enable-trace", llvm::cl::desc("Record what programs compute on the device"),
                     llvm::cl::init(false)};
  Option<bool> activationDtypeLowering{*this, "enable-activation-dtype-lowering",
                                       llvm::cl::desc("Collectives exchange a block format"), llvm::cl::init(false)};
  // Where tensors lie.
  Option<int, OptimizationLevelParser> optimizationLevel{
      *this, "optimization-level",
      llvm::cl::desc("0: tensors lie in DRAM; 1: in L1 where that is faster; 2: also after changes of layout"),
      llvm::cl::init(0)};
  Option<bool> optimizer{*this, "enable-optimizer", llvm::cl::desc("At least what optimization-level=1 does"),
                         llvm::cl::init(false)};
  Option<bool> memoryLayoutAnalysis{*this, "memory-layout-analysis-enabled",
                                    llvm::cl::desc("What optimization-level=2 does"), llvm::cl::init(false)};
  Option<Count> maxLegalLayouts{*this, "max-legal-layouts", llvm::cl::desc("Layouts that are tried for each op"),
                                llvm::cl::init(64)};
  Option<Share> tensorL1UsageCap{*this, "tensor-l1-usage-cap", llvm::cl::desc("Share of L1 that tensors may take"),
                                 llvm::cl::init(0.95f)};
  Option<std::string> overrideOutputLayout{*this, "override-output-layout",
                                           llvm::cl::desc("Layouts of results: NAME=8x8:l1:block_sharded,..."),
                                           llvm::cl::init("")};
  Option<std::string> insertMemReconfig{*this, "insert-memreconfig",
                                        llvm::cl::desc("Operands whose layout is changed before the op: NAME=0:1,..."),
                                        llvm::cl::init("")};
  Option<std::string> overrideConv2dConfig{*this, "override-conv2d-config",
                                           llvm::cl::desc("Fields of conv2d_config: NAME=FIELD#VALUE:...,..."),
                                           llvm::cl::init("")};
  Option<uint32_t> maxFallbackAttempts{*this, "max-fallback-attempts",
                                       llvm::cl::desc("Layouts and configs that may be taken back"),
                                       llvm::cl::init(10000)};
  Option<bool> decisionTrace{*this, "enable-decision-trace",
                             llvm::cl::desc("Write why each tensor lies where it lies, as JSON and as a page"),
                             llvm::cl::init(false)};
  Option<std::string> decisionTraceDir{*this, "decision-trace-dir", llvm::cl::desc("Folder of these files"),
                                       llvm::cl::init("ttrt-artifacts/decision_trace")};
  /// The level that the options ask for: who chooses layouts himself has at least 1.
  int level() const {
    const bool chooses = !overrideOutputLayout.empty() || !insertMemReconfig.empty() || !overrideConv2dConfig.empty();
    return std::max<int>(optimizationLevel, memoryLayoutAnalysis ? 2 : optimizer || chooses ? 1 : 0);
  }
  AbsentOptions absent{*this};
};

/// The module of the device, its ops numbered, with the system and the device that the options describe; of `stages`,
/// each has a part of the mesh.
void addDevicePasses(OpPassManager &manager, const TTNNDeviceOptions &options, int64_t stages = 1);

/// TTIR to a module of TTNN programs, ready to be written to a flatbuffer.
/// docs/pipelines.md draws it.
void createTTIRToTTNNPipeline(OpPassManager &manager, const TTIRToTTNNPipelineOptions &options);

/// The same without the last step, the freeing of tensors: what the pipelines to a flatbuffer, C++ and Python start
/// from.
void createTTIRToTTNNCommonPipeline(OpPassManager &manager, const TTIRToTTNNPipelineOptions &options);

/// A module of TTNN ops, written by hand or by a builder, to the same.
void createTTNNToRuntimePipeline(OpPassManager &manager, const TTNNDeviceOptions &options);

/// Registers ttir-to-ttnn-backend-pipeline with its alias ttir-to-ttnn-runtime-pipeline, ttir-to-ttnn-common-pipeline
/// and ttnn-common-to-runtime-pipeline.
void registerTTNNPipelines();

} // namespace mlir::tt::ttnn

#endif // TTMLIR_DIALECT_TTNN_PIPELINES_TTNNPIPELINES_H

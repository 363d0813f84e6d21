//===- TTNNPipelines.h - pipelines from TTIR to TTNN ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_PIPELINES_TTNNPIPELINES_H
#define TTMLIR_DIALECT_TTNN_PIPELINES_TTNNPIPELINES_H

#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Dialect/TTNN/Pipelines/AbsentOptions.h"
#include "ttmlir/Dialect/TTNN/Transforms/Options.h"

#include <algorithm>

/// The values of options that the passes have, too.
template <> struct mlir::tt::ttcore::ParserTraits<llvm::cl::parser<mlir::tt::ttnn::Count>> {
  static OptionValues values(const llvm::cl::Option &, const llvm::cl::parser<mlir::tt::ttnn::Count> &) {
    return OptionValues::integer(1, std::numeric_limits<int64_t>::max(), "1 or more");
  }
};
template <> struct mlir::tt::ttcore::ParserTraits<llvm::cl::parser<mlir::tt::ttnn::Share>> {
  static OptionValues values(const llvm::cl::Option &, const llvm::cl::parser<mlir::tt::ttnn::Share> &) {
    return {OptionValues::Kind::Number, "a number above 0, and 1 at most"};
  }
};

namespace mlir::tt::ttnn {

/// The system and the mesh for which programs are compiled.
struct TTNNDeviceOptions : ttcore::PipelineOptions<TTNNDeviceOptions> {
  Option<ttcore::Arch> mockSystemDescArch{
      *this, "mock-system-desc-arch", llvm::cl::desc("Architecture of the default system, without a system file"),
      llvm::cl::values(clEnumValN(ttcore::Arch::WormholeB0, "wormhole_b0", "Wormhole"),
                       clEnumValN(ttcore::Arch::Blackhole, "blackhole", "Blackhole"),
                       clEnumValN(ttcore::Arch::Quasar, "quasar", "Quasar")),
      llvm::cl::init(ttcore::Arch::WormholeB0)};
  Option<std::string> systemDescPath{
      *this, "system-desc-path",
      llvm::cl::desc("File that describes the machine: a #ttcore.system_desc (`ttrt query --save FILE`), or the JSON "
                     "that the runtime stores (`get_current_system_desc().store(FILE)`)"),
      llvm::cl::init("")};
  ListOption<int64_t> meshShape{
      *this, "mesh-shape", llvm::cl::desc("Rows and columns of the mesh; none: the first of ttcore.meshes, else 1,1")};
  ListOption<std::string> meshTopology{*this, "mesh-topology",
                                       llvm::cl::desc("Links of each mesh axis: ring, linear or disabled")};
};

/// 0, 1 or 2.
struct OptimizationLevelParser : llvm::cl::parser<int> {
  using parser::parser;
  bool parse(llvm::cl::Option &option, StringRef name, StringRef value, int &out);
  static ttcore::OptionValues values(const llvm::cl::Option &) {
    return ttcore::OptionValues::integer(0, 2, "0, 1 or 2");
  }
};

/// A float format; the pass refuses others.
struct TargetFormatParser : llvm::cl::parser<std::string> {
  using parser::parser;
  static ttcore::OptionValues values(const llvm::cl::Option &);
};

struct TTIRToTTNNPipelineOptions : TTNNDeviceOptions {
  Option<std::string> argumentTypes{*this, "argument-types",
                                    llvm::cl::desc("Kinds of the arguments: main=input,parameter,constant;other=input"),
                                    llvm::cl::init("")};
  Option<bool> hostConstEval{*this, "enable-cpu-hoisted-const-eval",
                             llvm::cl::desc("Evaluate constants on the host if it has code for them"),
                             llvm::cl::init(false)};
  Option<bool> cpuFallback{
      *this, "cpu-fallback",
      llvm::cl::desc(
          "Compute ops that the chip lacks on the host (of arith, linalg, math, scf and tensor, and some of TTIR)"),
      llvm::cl::init(false)};
  Option<bool> constEvalInputsOnHost{*this, "enable-const-eval-inputs-to-system-memory",
                                     llvm::cl::desc("Keep inputs that are used only by const-eval functions in host "
                                                    "memory: ttnn-force-const-eval-to-system-memory"),
                                     llvm::cl::init(true)};
  Option<std::string, TargetFormatParser> targetFormat{
      *this, "target-format", llvm::cl::desc("Compute all floats in this format; none: the module's own formats"),
      llvm::cl::init("")};
  Option<BFPDtype> weightDtype{*this, "experimental-weight-dtype", llvm::cl::desc("Block format of weights"),
                               TTNN_BLOCK_FORMAT_VALUES, llvm::cl::init(BFPDtype::None)};
  Option<BFPDtype> cacheDtype{*this, "experimental-kv-cache-dtype",
                              llvm::cl::desc("Block format of the arguments that cache ops write to"),
                              TTNN_BLOCK_FORMAT_VALUES, llvm::cl::init(BFPDtype::None)};
  Option<OptionalMathFidelity> mathFidelity{
      *this, "compute-cfg-math-fidelity",
      llvm::cl::desc("Set math_fidelity in every compute_config that leaves it unset"), TTNN_MATH_FIDELITY_VALUES,
      llvm::cl::init(OptionalMathFidelity::Undefined)};
  Option<OptionalSwitch> mathApproxMode{
      *this, "compute-cfg-math-approx-mode",
      llvm::cl::desc("Set math_approx_mode likewise: faster approximations of functions"), TTNN_SWITCH_VALUES,
      llvm::cl::init(OptionalSwitch::Undefined)};
  Option<OptionalSwitch> fp32DestAccEn{*this, "compute-cfg-fp32-dest-acc-en",
                                       llvm::cl::desc("Set fp32_dest_acc_en likewise: sums in f32"), TTNN_SWITCH_VALUES,
                                       llvm::cl::init(OptionalSwitch::Undefined)};
  Option<OptionalSwitch> packerL1Acc{*this, "compute-cfg-packer-l1-acc",
                                     llvm::cl::desc("Set packer_l1_acc likewise: the packer accumulates in L1"),
                                     TTNN_SWITCH_VALUES, llvm::cl::init(OptionalSwitch::Undefined)};
  Option<OptionalSwitch> dstFullSyncEn{
      *this, "compute-cfg-dst-full-sync-en",
      llvm::cl::desc("Set dst_full_sync_en likewise: all registers are handed over at once"), TTNN_SWITCH_VALUES,
      llvm::cl::init(OptionalSwitch::Undefined)};
  Option<bool> uniqueLocations{*this, "check-unique-locs",
                               llvm::cl::desc("Refuse modules with two ops at one location"), llvm::cl::init(false)};
  Option<bool> removeDeadValues{*this, "enable-remove-dead-values",
                                llvm::cl::desc("Remove values that no result depends on"), llvm::cl::init(false)};
  Option<bool> optimizations{
      *this, "enable-optimization-passes",
      llvm::cl::desc("Enable folding, fusing, erasing and const evaluation; false disables all of them"),
      llvm::cl::init(true)};
  Option<bool> implicitBroadcastFolding{*this, "enable-implicit-broadcast-folding-pass",
                                        llvm::cl::desc("Drop broadcasts that elementwise ops perform implicitly"),
                                        llvm::cl::init(true)};
  Option<bool> eraseInverseOps{
      *this, "enable-erase-inverse-ops-pass",
      llvm::cl::desc("Erase inverse data movement ops: ttir-channels-last and ttir-erase-inverse-ops"),
      llvm::cl::init(true)};
  Option<bool> fusing{*this, "enable-fusing-pass", llvm::cl::desc("Fuse ops: ttir-fusing and ttnn-fusing"),
                      llvm::cl::init(true)};
  Option<bool> fusingConv2dWithMultiply{
      *this, "enable-fusing-conv2d-with-multiply-pattern",
      llvm::cl::desc("Fold a multiplication of a convolution's result into its weights"), llvm::cl::init(false)};
  Option<bool> openSizes{
      *this, "open-sizes",
      llvm::cl::desc("Choose layouts that do not depend on sizes of the inputs, for programs with open sizes"),
      llvm::cl::init(false)};
  Option<bool> permuteMatmulFusion{
      *this, "enable-permute-matmul-fusion",
      llvm::cl::desc(
          "Fold permutes of operands and of products into the flags of matmul and linear, as transposes always are"),
      llvm::cl::init(false)};
  Option<bool> quantDequantConversion{
      *this, "enable-quant-dequant-conversion-pass",
      llvm::cl::desc("Move data movement ops before dequantization, and compute products in integers: "
                     "ttir-quant-dequant-conversion and ttir-integer-products"),
      llvm::cl::init(true)};
  Option<uint32_t> targetBitWidth{
      *this, "target-bit-width",
      llvm::cl::desc(
          "Bits that the integers of quantised tensors must fit: 8, 16 or 32; the chip computes with 32 in any case"),
      llvm::cl::init(32)};
  Option<bool> sliceOfMatmulFusion{*this, "enable-permute-slice-after-matmul-fusion",
                                   llvm::cl::desc("Compute only the rows and columns of a product that a slice takes"),
                                   llvm::cl::init(true)};
  Option<bool> constEval{
      *this, "enable-const-eval",
      llvm::cl::desc("Evaluate computations on constants and parameters once: const-eval-hoist-transform"),
      llvm::cl::init(true)};
  Option<int64_t> stages{*this, "pipeline-stages",
                         llvm::cl::desc("Divide programs into this number of stages, each on its own part of the mesh"),
                         llvm::cl::init(1)};
  Option<int64_t> microBatches{
      *this, "micro-batches",
      llvm::cl::desc("Divide the batch into this number of parts, which go through the stages one after another"),
      llvm::cl::init(1)};
  Option<bool> perfMetrics{*this, "ttnn-perf-metrics-enabled",
                           llvm::cl::desc("Write metrics of the programs to a file: ttnn-collect-perf-metrics"),
                           llvm::cl::init(false)};
  Option<std::string> perfMetricsFile{*this, "ttnn-perf-metrics-output-file",
                                      llvm::cl::desc("File of the metrics; empty: ttnn_perf_metrics.json"),
                                      llvm::cl::init("")};
  Option<bool> perfMetricsVerbose{*this, "ttnn-perf-metrics-verbose-output-enabled",
                                  llvm::cl::desc("Include the metrics of each op"), llvm::cl::init(true)};
  Option<bool> trace{*this, "enable-trace",
                     llvm::cl::desc("Record the program's work on the device in its first run "
                                    "(ttnn.capture_or_execute_trace); results and times are the same"),
                     llvm::cl::init(false)};
  Option<bool> activationDtypeLowering{*this, "enable-activation-dtype-lowering",
                                       llvm::cl::desc("Collectives exchange floats in bfp_bf8"), llvm::cl::init(false)};
  // Where tensors lie.
  Option<int, OptimizationLevelParser> optimizationLevel{
      *this, "optimization-level",
      llvm::cl::desc("0: tensors are in DRAM; 1: interleaved or sharded in L1 where that is faster and all users "
                     "accept it; 2: also with layout changes in between"),
      llvm::cl::init(0)};
  Option<bool> optimizer{*this, "enable-optimizer",
                         llvm::cl::desc("Imply optimization-level=1, as the three options that name ops do"),
                         llvm::cl::init(false)};
  Option<bool> memoryLayoutAnalysis{*this, "memory-layout-analysis-enabled", llvm::cl::desc("optimization-level=2"),
                                    llvm::cl::init(false)};
  Option<Count> maxLegalLayouts{*this, "max-legal-layouts",
                                llvm::cl::desc("Number of layouts that are tried for each op"), llvm::cl::init(64)};
  Option<Share> tensorL1UsageCap{*this, "tensor-l1-usage-cap", llvm::cl::desc("Share of L1 that tensors may take"),
                                 llvm::cl::init(0.95f)};
  Option<std::string> overrideOutputLayout{
      *this, "override-output-layout",
      llvm::cl::desc("Layouts of results, by the name of the op's location: add_1=8x8:l1:block_sharded,exp_2=dram "
                     "(parts in any order; tile, row_major and a data type must be those of the result)"),
      llvm::cl::init("")};
  Option<std::string> insertMemReconfig{*this, "insert-memreconfig",
                                        llvm::cl::desc("Operands whose layout is changed before an op: add_1=0:1"),
                                        llvm::cl::init("")};
  Option<std::string> overrideConv2dConfig{
      *this, "override-conv2d-config",
      llvm::cl::desc("Fields of conv2d_config: conv2d_1=act_block_h_override#32:enable_act_double_buffer#true"),
      llvm::cl::init("")};
  Option<uint32_t> maxFallbackAttempts{
      *this, "max-fallback-attempts",
      llvm::cl::desc("Number of configs and layouts that may be reverted because a chip would refuse them"),
      llvm::cl::init(10000)};
  Option<bool> decisionTrace{
      *this, "enable-decision-trace",
      llvm::cl::desc("Write the reasons for each tensor's layout: FUNCTION.json, and FUNCTION.html for reading"),
      llvm::cl::init(false)};
  Option<std::string> decisionTraceDir{*this, "decision-trace-dir", llvm::cl::desc("Folder of these files"),
                                       llvm::cl::init("ttrt-artifacts/decision_trace")};
  // Kernels of the program's own.
  Option<bool> createD2MSubgraphs{
      *this, "enable-create-d2m-subgraphs",
      llvm::cl::desc("Compile chains of elementwise ops to kernels, which the program brings (ttnn.generic)"),
      llvm::cl::init(false)};
  Option<bool> d2mElementwiseFusion{
      *this, "enable-d2m-elementwise-fusion",
      llvm::cl::desc("With enable-create-d2m-subgraphs: compute a chain in one kernel, not in one for each op"),
      llvm::cl::init(true)};
  // For reports: programs as epochs, whose ops run at the same time.
  Option<bool> placeEpochs{*this, "enable-epochs",
                           llvm::cl::desc("Place ops on cores in epochs, for reports: ttnn-place-epochs"),
                           llvm::cl::init(false)};
  Option<uint32_t> epochRows{*this, "epoch-rows", llvm::cl::desc("Rows of cores of epochs; 0: those of the chip"),
                             llvm::cl::init(0)};
  Option<uint32_t> epochColumns{*this, "epoch-columns",
                                llvm::cl::desc("Columns of cores of epochs; 0: those of the chip"), llvm::cl::init(0)};
  Option<std::string> epochPolicy{*this, "epoch-policy",
                                  llvm::cl::desc("How grids of ops are chosen: auto, work, ribbon, smallest or any"),
                                  llvm::cl::init("auto")};
  Option<bool> epochOneRow{*this, "epoch-one-row", llvm::cl::desc("Give each op of an epoch one row of cores"),
                           llvm::cl::init(false)};
  Option<bool> epochOtherGrids{
      *this, "epoch-other-grids",
      llvm::cl::desc("Try other grids before an epoch ends because the preferred one finds no room"),
      llvm::cl::init(true)};
  Option<bool> epochTransposeGrids{*this, "epoch-transpose-grids",
                                   llvm::cl::desc("Exchange rows and columns of a grid that finds no room"),
                                   llvm::cl::init(false)};
  Option<std::string> epochOverrides{
      *this, "epoch-overrides",
      llvm::cl::desc("NAME=GRID:CORE:transposed,...: cores of ops by the names of their locations"),
      llvm::cl::init("")};
  /// The level that the options request: a user who chooses layouts has at least 1.
  int level() const {
    const bool chooses = !overrideOutputLayout.empty() || !insertMemReconfig.empty() || !overrideConv2dConfig.empty();
    return std::max<int>(optimizationLevel, memoryLayoutAnalysis ? 2 : optimizer || chooses ? 1 : 0);
  }
  AbsentOptions absent{*this};
};

/// The options that the front ends of PyTorch and JAX set unless the user sets them. Weights are [out, in]: `x @ w.T`
/// reads them as they are stored.
inline constexpr StringLiteral frameworkOptions = "enable-permute-matmul-fusion=true";

/// The module of the device, with its ops numbered, and with the system and the device that the options describe. If it
/// is divided into `stages`, each has a part of the mesh.
void addDevicePasses(OpPassManager &manager, const TTNNDeviceOptions &options, int64_t stages = 1);

/// TTIR to a module of TTNN programs, ready to be written to a flatbuffer.
/// docs/pipelines.md draws it.
void createTTIRToTTNNPipeline(OpPassManager &manager, const TTIRToTTNNPipelineOptions &options);

/// Builds that pipeline without its last step, the freeing of tensors. The pipelines to a flatbuffer, C++ and Python
/// start from it.
void createTTIRToTTNNCommonPipeline(OpPassManager &manager, const TTIRToTTNNPipelineOptions &options);

/// Lowers a module of TTNN ops, written by hand or by a builder, to the same form.
void createTTNNToRuntimePipeline(OpPassManager &manager, const TTNNDeviceOptions &options);

/// Registers ttir-to-ttnn-backend-pipeline with its alias ttir-to-ttnn-runtime-pipeline, ttir-to-ttnn-common-pipeline
/// and ttnn-common-to-runtime-pipeline.
void registerTTNNPipelines();

} // namespace mlir::tt::ttnn

#endif // TTMLIR_DIALECT_TTNN_PIPELINES_TTNNPIPELINES_H

//===- planned.cpp - plans as JSON ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "api/planned.h"
#include "binary/open.h"
#include "tt/runtime/calls.h"

namespace tt::runtime {
namespace {

using ttmlir::plan::Step;

constexpr const char *fidelities[] = {"LoFi", "HiFi2", "HiFi3", "HiFi4"};

void writeStep(Json &json, const Step &step) {
  json.begin('{').key("operation").string(step.operation).key("factory").string(step.factory);
  if (step.compute) {
    json.key("compute").begin('{').key("math_fidelity").string(fidelities[step.compute->phases - 1]);
    json.key("math_approx_mode").number(int(step.compute->approximate));
    json.key("fp32_dest_acc_en").number(int(step.compute->f32Destination));
    json.key("packer_l1_acc").number(int(step.compute->addsInL1)).end('}');
  }
  if (const auto &blocks = step.blocks) {
    json.key("blocks").begin('{').key("batch").number(blocks->batches).key("num_blocks").number(blocks->count);
    json.key("in0_block_w").number(blocks->in0BlockW).key("channels").number(blocks->channels);
    json.key("partials").string(formatName(blocks->partials));
    json.key("per_core_M").number(blocks->perCoreM).key("per_core_N").number(blocks->perCoreN);
    json.key("out_block_h").number(blocks->outBlockH).key("out_block_w").number(blocks->outBlockW);
    json.key("out_subblock_h").number(blocks->outSubblockH).key("out_subblock_w").number(blocks->outSubblockW);
    json.end('}');
  }
  json.key("buffers").begin('[');
  for (const ttmlir::plan::Buffer &buffer : step.buffers) {
    json.begin('{').key("bytes").number(buffer.bytes).key("format").string(formatName(buffer.format));
    json.key("unpacked").string(formatName(buffer.unpacked));
    json.key("globally_allocated").boolean(buffer.isTensor).key("shared").boolean(buffer.sharesPrevious).end('}');
  }
  json.end(']').key("arguments").begin('{');
  for (const ttmlir::plan::Argument &argument : step.arguments)
    json.key(argument.name).number(argument.value);
  json.end('}').end('}');
}

} // namespace

void writePlan(Json &json, std::span<const Step> plan) {
  json.begin('[');
  for (const Step &step : plan)
    writeStep(json, step);
  json.end(']');
}

std::vector<std::string> plans(const Binary &binary, size_t programIndex, Arch arch) {
  if (binary.identifier() != "TTNN")
    throw Error(binary.fileName() + ": a TTMetal file has kernels of its own; the library plans none of them");
  const Program &program = binary.program(programIndex);
  std::vector<std::string> found;
  for (const Operation &operation : program.operations) {
    Json json;
    writePlan(json, ttnn::planOf(sim::chip(arch), program.call(operation)));
    found.push_back(std::move(json.text));
  }
  return found;
}

} // namespace tt::runtime

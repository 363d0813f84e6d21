//===- pipeline.cpp - programs of stages ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "binary/pipeline.h"

namespace tt::runtime {
namespace {

using files::count;

/// The limit of micro-batches of all stages together: a run has a record of each.
constexpr uint32_t maxMicroBatches = 1 << 16;

std::string text(const TensorSpec &spec) { return toString(spec.shape) + " of " + std::string(toString(spec.dtype)); }

class PipelineReader {
public:
  PipelineReader(std::span<const Program> programs, const files::Place &place, Program &to)
      : programs(programs), place(place), program(to), pipeline(*to.pipeline) {}

  void read(const target::Pipeline &from) {
    if (!program.operations.empty())
      place.fail("operations", "has " + std::to_string(program.operations.size()) + " entries",
                 "none in a program of stages");
    pipeline.microBatches = from.micro_batches();
    if (!pipeline.microBatches || pipeline.microBatches > maxMicroBatches)
      place.fail("pipeline.micro_batches", "is " + std::to_string(pipeline.microBatches),
                 "1 to " + std::to_string(maxMicroBatches));
    if (!count(from.stages()))
      place.fail("pipeline.stages", "is empty", "at least one stage");
    if (from.stages()->size() > maxMicroBatches / pipeline.microBatches)
      place.fail("pipeline.stages",
                 "has " + std::to_string(from.stages()->size()) + " entries for " +
                     std::to_string(pipeline.microBatches) + " micro-batches",
                 "at most " + std::to_string(maxMicroBatches) + " runs of stages");
    for (uint32_t i = 0; i < from.stages()->size(); ++i)
      readStage(*from.stages()->Get(i), "pipeline.stages[" + std::to_string(i) + "]");
    if (count(from.outputs()) != program.outputs.size())
      place.fail("pipeline.outputs", "has " + std::to_string(count(from.outputs())) + " entries",
                 std::to_string(program.outputs.size()) + ", one for each output");
    for (uint32_t i = 0; i < program.outputs.size(); ++i)
      readOutput(*from.outputs()->Get(i), program.spec(program.outputs[i]),
                 "pipeline.outputs[" + std::to_string(i) + "]");
  }

private:
  const Program &programOf(const Stage &stage) const { return programs[stage.program]; }

  void readStage(const target::Stage &from, const std::string &field) {
    Stage stage;
    stage.program = from.program();
    if (stage.program >= programs.size())
      place.failIndex(field + ".program", stage.program, programs.size(), "programs");
    const Program &callee = programOf(stage);
    if (callee.pipeline)
      place.fail(field + ".program", "names program \"" + std::string(callee.name) + "\", which has stages itself",
                 "a program of operations");
    readPlace(from, callee, field, stage);
    if (count(from.inputs()) != callee.inputs.size())
      place.fail(field + ".inputs", "has " + std::to_string(count(from.inputs())) + " entries",
                 std::to_string(callee.inputs.size()) + ", one for each input of program \"" +
                     std::string(callee.name) + "\"");
    for (uint32_t i = 0; i < callee.inputs.size(); ++i) {
      const std::string input = field + ".inputs[" + std::to_string(i) + "]";
      const StageValue value = readValue(*from.inputs()->Get(i), input);
      const TensorSpec &expected = callee.spec(callee.inputs[i]);
      if (value.isInput())
        requireParts(program.spec(program.inputs[value.index]), expected, input);
      else
        requireSame(pipeline.stages[value.stage], value.index, callee, expected, input);
      stage.inputs.push_back(value);
    }
    pipeline.stages.push_back(std::move(stage));
  }

  void readPlace(const target::Stage &from, const Program &callee, const std::string &field, Stage &stage) const {
    const std::vector<uint32_t> offset = files::numbers(from.mesh_offset());
    if (offset.size() != 2)
      place.fail(field + ".mesh_offset", "has " + std::to_string(offset.size()) + " dimensions", "[row, column]");
    stage.place = {callee.meshShape[0], callee.meshShape[1], offset[0], offset[1]};
    if (uint64_t(offset[0]) + stage.place.rows > program.meshShape[0] ||
        uint64_t(offset[1]) + stage.place.columns > program.meshShape[1])
      place.fail(
          field + ".mesh_offset", "puts program \"" + std::string(callee.name) + "\" on " + sim::toString(stage.place),
          "chips of the mesh of " + std::to_string(program.meshShape[0]) + "x" + std::to_string(program.meshShape[1]));
    for (size_t i = 0; i < pipeline.stages.size(); ++i)
      if (pipeline.stages[i].place.overlaps(stage.place))
        place.fail(field + ".mesh_offset",
                   "puts it on " + sim::toString(stage.place) + ", as stages[" + std::to_string(i) + "] is on " +
                       sim::toString(pipeline.stages[i].place),
                   "chips that no other stage has");
  }

  StageValue readValue(const target::StageValue &from, const std::string &field) const {
    const StageValue value{from.stage(), from.index()};
    if (value.isInput()) {
      if (value.index >= program.inputs.size())
        place.failIndex(field + ".index", value.index, program.inputs.size(), "inputs");
      return value;
    }
    if (value.stage >= pipeline.stages.size())
      place.fail(field + ".stage", "is " + std::to_string(value.stage), "an earlier stage");
    const size_t outputs = programOf(pipeline.stages[value.stage]).outputs.size();
    if (value.index >= outputs)
      place.failIndex(field + ".index", value.index, outputs, "outputs of the stage");
    return value;
  }

  /// Requires that a value is passed once or cut into micro-batches.
  void requireParts(const TensorSpec &whole, const TensorSpec &part, const std::string &field) const {
    Shape cut = part.shape;
    if (!cut.empty())
      cut[0] *= pipeline.microBatches;
    if (whole.dtype != part.dtype || (whole.shape != part.shape && whole.shape != cut))
      place.fail(field, "is " + text(whole),
                 text(part) + (pipeline.microBatches > 1
                                   ? ", or " + std::to_string(pipeline.microBatches) + " times as long in dimension 0"
                                   : std::string()));
  }

  /// Requires that one stage returns what another takes: on each chip of a sub-mesh, or the same on all of them.
  void requireSame(const Stage &from, uint32_t output, const Program &to, const TensorSpec &expected,
                   const std::string &field) const {
    const Program &producer = programOf(from);
    const TensorSpec &given = producer.spec(producer.outputs[output]);
    if (given.shape != expected.shape || given.dtype != expected.dtype)
      place.fail(field, "is " + text(given), text(expected));
    if (given.distributed && producer.devices() > 1 && !(expected.distributed && producer.meshShape == to.meshShape))
      place.fail(field, "is distributed over " + sim::toString(from.place),
                 expected.distributed ? "the mesh of the stage that takes it" : "a tensor that is not distributed");
  }

  void readOutput(const target::StageValue &from, const TensorSpec &whole, const std::string &field) {
    const StageValue value = readValue(from, field);
    if (value.isInput())
      place.fail(field + ".stage", "is " + std::to_string(value.stage), "a stage");
    const Program &producer = programOf(pipeline.stages[value.stage]);
    requireParts(whole, producer.spec(producer.outputs[value.index]), field);
    pipeline.outputs.push_back(value);
  }

  std::span<const Program> programs;
  const files::Place &place;
  Program &program;
  Pipeline &pipeline;
};

} // namespace

void readPipeline(const target::Pipeline &from, std::span<const Program> programs, const files::Place &place,
                  Program &to) {
  PipelineReader(programs, place, to).read(from);
}

} // namespace tt::runtime

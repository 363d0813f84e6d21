//===- json.cpp - a binary as JSON ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "binary/json.h"
#include "binary/metal/image.h"

namespace tt::runtime {

void writeSpec(Json &json, const TensorSpec &spec) {
  json.begin('{');
  json.key("shape").numbers(spec.shape);
  json.key("data_type").string(toString(spec.dtype));
  json.key("layout").string(toString(spec.layout));
  json.key("buffer_type").string(toString(spec.memory.buffer));
  json.key("memory_layout").string(toString(spec.memory.layout));
  json.key("grid").numbers(spec.memory.grid);
  json.key("shard_shape").numbers(spec.memory.shardShape);
  json.key("distributed").boolean(spec.distributed);
  json.end('}');
}

namespace {

void writeValues(Json &json, const Program &program, const std::vector<uint32_t> &values) {
  json.begin('[');
  for (uint32_t value : values) {
    json.begin('{').key("value").number(value);
    json.key("name").string(program.values[value].name);
    json.key("desc");
    writeSpec(json, program.spec(value));
    json.end('}');
  }
  json.end(']');
}

void writeAttribute(Json &json, const ttnn::Attribute &attribute);

struct AttributeWriter {
  Json &json;
  void operator()(bool value) const { json.boolean(value); }
  void operator()(int64_t value) const { json.number(value); }
  void operator()(double value) const { json.number(value); }
  void operator()(const std::string &value) const { json.string(value); }
  void operator()(const std::vector<int64_t> &values) const { json.numbers(values); }
  void operator()(const std::vector<double> &values) const { json.numbers(values); }
  void operator()(const ttnn::ConstantAttribute &value) const {
    json.begin('{').key("constant_bytes").number(value.bytes.size()).end('}');
  }
  void operator()(const ttnn::EnumAttribute &value) const {
    json.begin('{').key("type").string(value.type).key("symbol").string(value.symbol);
    json.key("value").number(value.value).end('}');
  }
  void operator()(const ttnn::StructAttribute &value) const {
    json.begin('{').key("type").string(value.type).key("fields").begin('{');
    for (const auto &[name, field] : value.fields) {
      json.key(name);
      writeAttribute(json, field);
    }
    json.end('}').end('}');
  }
  void operator()(const ttnn::ListAttribute &value) const {
    json.begin('[');
    for (const auto &item : value.items)
      writeAttribute(json, item);
    json.end(']');
  }
};

void writeAttribute(Json &json, const ttnn::Attribute &attribute) {
  std::visit(AttributeWriter{json}, attribute.value);
}

} // namespace

void writeAttributes(Json &json, const ttnn::Attributes &attributes) {
  json.begin('{');
  for (const auto &[name, attribute] : attributes.all()) {
    json.key(name);
    writeAttribute(json, attribute);
  }
  json.end('}');
}

namespace {

void writeOperations(Json &json, const Program &program) {
  json.begin('[');
  for (const Operation &operation : program.operations) {
    json.begin('{').key("name").string(operation.info->name);
    json.key("ins").begin('[');
    for (uint32_t in : operation.ins) {
      if (in == absentOperand)
        json.raw("null");
      else
        json.number(in);
    }
    json.end(']');
    json.key("outs").numbers(operation.outs);
    json.key("attributes");
    writeAttributes(json, operation.attributes);
    json.key("loc").string(operation.loc);
    json.key("source").string(operation.source);
    json.key("debug").string(operation.debug);
    json.end('}');
  }
  json.end(']');
}

void writeSystemDesc(Json &json, const BinaryImage &image) {
  json.begin('{');
  json.key("mesh_shape").numbers(image.systemDesc.meshShape);
  json.key("chips").begin('[');
  const auto *desc = image.system;
  const uint32_t chips = desc && desc->chips() ? desc->chips()->size() : 0;
  for (uint32_t i = 0; i < chips; ++i) {
    const auto *chip = desc->chips()->Get(i);
    json.begin('{').key("arch").string(toString(image.systemDesc.arch));
    json.key("grid").begin('[');
    for (uint32_t k = 0; chip->grid() && k < chip->grid()->size(); ++k)
      json.number(chip->grid()->Get(k));
    json.end(']');
    json.key("l1_size").number(chip->l1_size());
    json.key("num_dram_channels").number(chip->num_dram_channels());
    json.key("dram_channel_size").number(chip->dram_channel_size());
    json.key("noc_l1_address_align_bytes").number(chip->noc_l1_address_align_bytes());
    json.key("noc_dram_address_align_bytes").number(chip->noc_dram_address_align_bytes());
    json.key("l1_unreserved_base").number(chip->l1_unreserved_base());
    json.key("dram_unreserved_base").number(chip->dram_unreserved_base());
    json.key("dram_unreserved_end").number(chip->dram_unreserved_end());
    json.end('}');
  }
  json.end(']').end('}');
}

/// Ops of a TTNN program, or commands of a TTMetal one.
void writeSteps(Json &json, const BinaryImage &image, size_t program) {
  if (image.metal)
    metal::writeCommands(json, image, program);
  else
    writeOperations(json, image.programs[program]);
}

void writeStageValues(Json &json, const std::vector<StageValue> &values) {
  json.begin('[');
  for (const StageValue &value : values) {
    json.begin('{');
    if (!value.isInput())
      json.key("stage").number(value.stage);
    json.key(value.isInput() ? "input" : "output").number(value.index).end('}');
  }
  json.end(']');
}

void writePipeline(Json &json, const Pipeline &pipeline) {
  json.begin('{').key("micro_batches").number(pipeline.microBatches);
  json.key("stages").begin('[');
  for (const Stage &stage : pipeline.stages) {
    json.begin('{').key("program").number(stage.program);
    json.key("mesh_shape").numbers(std::vector<uint32_t>{stage.place.rows, stage.place.columns});
    json.key("mesh_offset").numbers(std::vector<uint32_t>{stage.place.firstRow, stage.place.firstColumn});
    json.key("inputs");
    writeStageValues(json, stage.inputs);
    json.end('}');
  }
  json.end(']').key("outputs");
  writeStageValues(json, pipeline.outputs);
  json.end('}');
}

void writeProgram(Json &json, const BinaryImage &image, size_t index) {
  const Program &program = image.programs[index];
  json.begin('{').key("name").string(program.name);
  json.key("private").boolean(program.isPrivate);
  json.key("mesh_shape").numbers(program.meshShape);
  json.key("inputs");
  writeValues(json, program, program.inputs);
  json.key("outputs");
  writeValues(json, program, program.outputs);
  json.key("values").begin('[');
  for (uint32_t value = 0; value < program.values.size(); ++value) {
    json.begin('{').key("name").string(program.values[value].name).key("desc");
    writeSpec(json, program.spec(value));
    json.end('}');
  }
  json.end(']');
  json.key("operations");
  writeSteps(json, image, index);
  if (program.pipeline) {
    json.key("pipeline");
    writePipeline(json, *program.pipeline);
  }
  json.end('}');
}

template <class F> std::string written(F f) {
  Json json;
  f(json);
  return std::move(json.text);
}

} // namespace

std::string Binary::asJson() const {
  return written([&](Json &json) {
    json.begin('{').key("file").string(fileName());
    json.key("version").string(version());
    json.key("schema_version").number(schemaVersion());
    json.key("open_sizes").begin('[');
    for (const auto &[name, least, most, written] : openSizes()) {
      json.begin('{').key("name").string(name).key("least").number(least);
      json.key("most").number(most).key("written").number(written).end('}');
    }
    json.end(']');
    json.key("system_desc");
    writeSystemDesc(json, impl());
    json.key("programs").begin('[');
    for (size_t index = 0; index < programs().size(); ++index)
      writeProgram(json, impl(), index);
    json.end(']');
    json.key("constants").begin('[');
    for (const auto &constant : impl().constants)
      json.begin('{').key("bytes").number(constant.size()).end('}');
    json.end(']');
    if (impl().nativeHash) {
      json.key("native").begin('{').key("triple").string(impl().nativeTriple);
      json.key("bytes").number(impl().nativeBytes).end('}');
    }
    json.end('}');
  });
}

std::string Binary::systemDescAsJson() const {
  return written([&](Json &json) { writeSystemDesc(json, impl()); });
}
std::string Binary::inputsAsJson(size_t index) const {
  return written([&](Json &json) { writeValues(json, program(index), program(index).inputs); });
}
std::string Binary::outputsAsJson(size_t index) const {
  return written([&](Json &json) { writeValues(json, program(index), program(index).outputs); });
}
std::string Binary::operationsAsJson(size_t index) const {
  (void)program(index); // which must be there
  return written([&](Json &json) { writeSteps(json, impl(), index); });
}
std::string Binary::mlirAsJson() const {
  return written([&](Json &json) {
    json.begin('{').key("name").string(impl().metal ? "ttmetal" : "ttnn").key("source").string(mlir()).end('}');
  });
}

} // namespace tt::runtime

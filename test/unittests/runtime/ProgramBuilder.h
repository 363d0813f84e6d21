//===- ProgramBuilder.h - flatbuffers for tests ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Builds TTNN flatbuffers by hand, right ones and wrong ones.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/runtime/runtime.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include <binary_generated.h>

namespace tt::test {

inline TensorSpec hostSpec(Shape shape, DataType dtype = DataType::Float32) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.dtype = dtype;
  return spec;
}

inline TensorSpec deviceSpec(Shape shape, DataType dtype = DataType::Float32, BufferType buffer = BufferType::DRAM) {
  TensorSpec spec = hostSpec(std::move(shape), dtype);
  spec.layout = Layout::Tile;
  spec.memory.buffer = buffer;
  spec.memory.layout = MemoryLayout::Interleaved;
  return spec;
}

/// One flatbuffer. Methods return value numbers of the program that is being built; `finish` ends the last one, "main".
class ProgramBuilder {
public:
  using Attributes = std::vector<flatbuffers::Offset<target::Attribute>>;

  flatbuffers::FlatBufferBuilder fbb;
  uint32_t schemaVersion = target::schemaVersion;
  std::vector<uint32_t> mesh = {1, 1};
  target::Arch arch = target::Arch::WormholeB0;

  uint32_t value(const TensorSpec &spec) {
    std::vector<int64_t> shape(spec.shape.begin(), spec.shape.end());
    descs.push_back(target::CreateTensorDescDirect(fbb, &shape, static_cast<target::DataType>(spec.dtype),
                                                   static_cast<target::Layout>(spec.layout),
                                                   static_cast<target::BufferType>(spec.memory.buffer),
                                                   static_cast<target::TensorMemoryLayout>(spec.memory.layout),
                                                   &spec.memory.grid, &spec.memory.shardShape, spec.distributed));
    const auto number = static_cast<uint32_t>(values.size()), desc = static_cast<uint32_t>(descs.size() - 1);
    values.push_back(target::CreateValueDirect(fbb, desc, ("%" + std::to_string(number)).c_str()));
    return number;
  }

  uint32_t input(const TensorSpec &spec) {
    inputs.push_back(value(spec));
    return inputs.back();
  }

  uint32_t op(const char *name, std::vector<uint32_t> ins, const TensorSpec &out, const Attributes &attributes = {}) {
    const uint32_t result = value(out);
    rawOp(name, std::move(ins), {result}, attributes);
    return result;
  }

  void rawOp(const char *name, std::vector<uint32_t> ins, std::vector<uint32_t> outs,
             const Attributes &attributes = {}) {
    const std::string loc = "loc(\"op" + std::to_string(operations.size()) + "\")";
    const std::string source = std::to_string(operations.size());
    operations.push_back(target::CreateOperationDirect(fbb, name, &ins, &outs, &attributes, loc.c_str(), source.c_str(),
                                                       (std::string(name) + "(...)").c_str()));
  }

  void deallocate(uint32_t value) { rawOp("ttnn.deallocate", {value}, {}, {boolean("force", false)}); }

  /// A ttnn.constant of raw bytes.
  uint32_t constant(const TensorSpec &spec, const void *data, size_t bytes) {
    const auto index = static_cast<uint32_t>(constants.size());
    fbb.ForceVectorAlignment(bytes, 1, 64);
    const auto vector = fbb.CreateVector(static_cast<const uint8_t *>(data), bytes);
    constants.push_back(target::CreateConstant(fbb, vector));
    return op(
        "ttnn.constant", {}, spec,
        {attribute("value", target::AttributeValue::ConstantValue, target::CreateConstantValue(fbb, index).Union())});
  }
  uint32_t constant(const TensorSpec &spec, const std::vector<float> &data) {
    return constant(spec, data.data(), data.size() * sizeof(float));
  }

  flatbuffers::Offset<target::Attribute> attribute(const char *name, target::AttributeValue type,
                                                   flatbuffers::Offset<void> value) {
    return target::CreateAttribute(fbb, fbb.CreateString(name), type, value);
  }
  flatbuffers::Offset<target::Attribute> boolean(const char *name, bool value) {
    return attribute(name, target::AttributeValue::BoolValue, target::CreateBoolValue(fbb, value).Union());
  }
  flatbuffers::Offset<target::Attribute> integer(const char *name, int64_t value) {
    return attribute(name, target::AttributeValue::IntValue, target::CreateIntValue(fbb, value).Union());
  }
  flatbuffers::Offset<target::Attribute> integers(const char *name, const std::vector<int64_t> &value) {
    return attribute(name, target::AttributeValue::IntArrayValue,
                     target::CreateIntArrayValueDirect(fbb, &value).Union());
  }
  flatbuffers::Offset<target::Attribute> real(const char *name, double value) {
    return attribute(name, target::AttributeValue::FloatValue, target::CreateFloatValue(fbb, value).Union());
  }
  flatbuffers::Offset<target::Attribute> text(const char *name, const char *value) {
    return attribute(name, target::AttributeValue::StringValue, target::CreateStringValueDirect(fbb, value).Union());
  }
  flatbuffers::Offset<target::Attribute> enumerator(const char *name, const char *type, const char *symbol,
                                                    int64_t value) {
    return attribute(name, target::AttributeValue::EnumValue,
                     target::CreateEnumValueDirect(fbb, type, symbol, value).Union());
  }

  flatbuffers::Offset<target::Attribute> structure(const char *name, const char *type, const Attributes &fields) {
    return attribute(name, target::AttributeValue::StructValue,
                     target::CreateStructValueDirect(fbb, type, &fields).Union());
  }
  flatbuffers::Offset<target::Attribute> list(const char *name, const Attributes &items) {
    return attribute(name, target::AttributeValue::ListValue, target::CreateListValueDirect(fbb, &items).Union());
  }

  /// Makes the program that is being built one of stages.
  void stages(const std::vector<runtime::Stage> &stages, const std::vector<runtime::StageValue> &from,
              uint32_t microBatches) {
    const auto written = [&](const std::vector<runtime::StageValue> &values) {
      std::vector<flatbuffers::Offset<target::StageValue>> entries;
      for (const auto &[stage, index] : values)
        entries.push_back(target::CreateStageValue(fbb, stage, index));
      return entries;
    };
    std::vector<flatbuffers::Offset<target::Stage>> entries;
    for (const runtime::Stage &stage : stages) {
      const std::vector<uint32_t> offset = {stage.place.firstRow, stage.place.firstColumn};
      const auto ins = written(stage.inputs);
      entries.push_back(target::CreateStageDirect(fbb, stage.program, &offset, &ins));
    }
    const auto outs = written(from);
    pipeline = target::CreatePipelineDirect(fbb, &entries, &outs, microBatches);
  }

  /// Ends a program, and begins the next. Returns its index.
  uint32_t endProgram(const char *name, const std::vector<uint32_t> &outputs, bool isPrivate) {
    programs.push_back(
        target::CreateProgramDirect(fbb, name, &values, &inputs, &outputs, &operations, &mesh, isPrivate, pipeline));
    pipeline = {};
    values.clear();
    inputs.clear();
    operations.clear();
    return static_cast<uint32_t>(programs.size() - 1);
  }
  /// The result of a private program of one output.
  uint32_t cached(uint32_t callee, std::vector<uint32_t> ins, const TensorSpec &out) {
    return op("ttcore.load_cached", std::move(ins), out, {integer("callee", callee)});
  }

  //===- Open sizes, of the program that is being built ---------------------===//

  void openSize(const char *name, int64_t least, int64_t most, int64_t written) {
    openSizes.push_back(target::CreateOpenSizeDirect(fbb, name, least, most, written));
  }
  void openDimension(uint32_t value, uint32_t dimension, const std::vector<int64_t> &code) {
    openDimensions.push_back(
        target::CreateOpenDimensionDirect(fbb, static_cast<uint32_t>(programs.size()), value, dimension, &code));
  }
  /// Of the op that was added last.
  void openNumber(const std::vector<uint32_t> &path, const std::vector<int64_t> &code, bool reciprocal = false) {
    openNumbers.push_back(target::CreateOpenNumberDirect(fbb, static_cast<uint32_t>(programs.size()),
                                                         static_cast<uint32_t>(operations.size() - 1), &path, &code,
                                                         reciprocal));
  }

  std::vector<std::byte> finish(std::vector<uint32_t> outputs) {
    endProgram("main", outputs, false);
    flatbuffers::Offset<target::Open> open;
    if (!openSizes.empty() || !openDimensions.empty() || !openNumbers.empty())
      open = target::CreateOpenDirect(fbb, &openSizes, &openDimensions, &openNumbers);
    const std::vector<uint32_t> grid = {8, 8};
    std::vector<flatbuffers::Offset<target::ChipDesc>> chips = {
        target::CreateChipDescDirect(fbb, arch, &grid, 1499136, 12, 1073741824, 16, 32, 1024, 1024, 1073741824)};
    const auto system = target::CreateSystemDescDirect(fbb, &chips, &mesh);
    const auto root = target::CreateBinaryDirect(fbb, target::CreateVersion(fbb, 0, 1, 0), schemaVersion, system,
                                                 &descs, &programs, &constants, "module {}", {}, open);
    target::FinishSizePrefixedBinaryBuffer(fbb, root);
    const auto *data = reinterpret_cast<const std::byte *>(fbb.GetBufferPointer());
    return {data, data + fbb.GetSize()};
  }

  runtime::Binary load(std::vector<uint32_t> outputs) {
    const auto bytes = finish(std::move(outputs));
    return runtime::Binary::load(bytes);
  }

private:
  std::vector<flatbuffers::Offset<target::TensorDesc>> descs;
  std::vector<flatbuffers::Offset<target::Value>> values;
  std::vector<flatbuffers::Offset<target::Operation>> operations;
  std::vector<flatbuffers::Offset<target::Constant>> constants;
  std::vector<flatbuffers::Offset<target::Program>> programs;
  flatbuffers::Offset<target::Pipeline> pipeline;
  std::vector<uint32_t> inputs;
  std::vector<flatbuffers::Offset<target::OpenSize>> openSizes;
  std::vector<flatbuffers::Offset<target::OpenDimension>> openDimensions;
  std::vector<flatbuffers::Offset<target::OpenNumber>> openNumbers;
};

inline runtime::Tensor tensor(const std::vector<float> &values, Shape shape) {
  return runtime::createHostTensor(values.data(), std::move(shape), DataType::Float32);
}

inline std::vector<float> floats(const runtime::Tensor &tensor, size_t shard = 0) {
  const auto host = runtime::castTensor(runtime::toHost(tensor).at(shard), DataType::Float32);
  const auto *data = reinterpret_cast<const float *>(host.data());
  return {data, data + volume(host.shape())};
}

/// The message of the error of type E that f throws.
template <class E, class F> std::string message(F f) {
  try {
    f();
  } catch (const E &error) {
    return error.what();
  } catch (const std::exception &error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

#define EXPECT_MESSAGE(error, statement, text)                                                                         \
  do {                                                                                                                 \
    const std::string found = tt::test::message<error>([&] { (void)(statement); });                                    \
    EXPECT_NE(found.find(text), std::string::npos) << found;                                                           \
  } while (false)

/// Hooks as long as it lives.
struct ScopedHooks {
  explicit ScopedHooks(runtime::Hooks hooks) { runtime::setHooks(std::move(hooks)); }
  ~ScopedHooks() { runtime::clearHooks(); }
};

} // namespace tt::test

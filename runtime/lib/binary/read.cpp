//===- read.cpp - from a verified flatbuffer to checked programs ----------===//
// SPDX-License-Identifier: Apache-2.0
//
// FlatBuffers' Verifier has shown that every offset, vector and string is inside the file. Here its meaning is checked:
// the executor and kernels rely on nothing unchecked.
//
//===----------------------------------------------------------------------===//

#include "base/flatbuffer.h"
#include "binary/image.h"
#include "binary/pipeline.h"
#include "core/native_code.h"
#include "tt/sim/device.h"
#include "tt/sim/host.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <ranges>

namespace tt::runtime {
namespace {

using files::count;
using files::numbers;
using files::text;

constexpr size_t maxAttributes = 256; // of one op
// No tensor of a real program comes close; below it, no product of a shape with a size or a pair of strides overflows.
constexpr int elementBits = 44;

class Reader {
public:
  explicit Reader(BinaryImage &image) : image(image) {
    place.file = image.name;
    place.budget = std::max(files::maxItems, image.bytes.size());
  }

  void read() {
    image.system = image.root->system_desc();
    readSystem();
    readSpecs();
    readConstants();
    readNativeCode();
    const auto *programs = image.root->programs();
    if (!count(programs))
      fail("programs", "is empty", "at least one program");
    std::vector<Program> all(programs->size());
    for (uint32_t i = 0; i < programs->size(); ++i) {
      const auto *program = programs->Get(i);
      place.program = program->name()->str();
      readProgram(*program, all[i]);
      place.program.clear();
    }
    for (uint32_t i = 0; i < programs->size(); ++i)
      if (const auto *pipeline = programs->Get(i)->pipeline()) {
        place.program = all[i].name;
        readPipeline(*pipeline, all, place, all[i]);
        place.program.clear();
      }
    image.programs = SharedList(std::move(all));
    checkCalls();
    if (const auto *open = image.root->open())
      image.open = std::make_unique<const Open>(readOpen(*open, image.programs, place));
  }

  void readNativeCode() {
    const auto *native = image.root->native();
    if (!native)
      return;
    const auto library = std::as_bytes(std::span(native->library()->data(), native->library()->size()));
    if (native->hash() != target::hashOfCode(library.data(), library.size()))
      fail("native.hash", "is not that of its code", "the hash of the bytes in native.library");
    image.nativeHash = native->hash();
    image.nativeTriple = native->triple()->str();
    image.nativeBytes = library.size();
    ttnn::addNativeCode(native->hash(), library, image.nativeTriple);
  }

  /// Every call names programs that take its operands and return its results, and none that calls itself.
  void checkCalls() {
    for (const Program &program : image.programs) {
      place.program = program.name;
      for (uint32_t i = 0; i < program.operations.size(); ++i) {
        const Operation &operation = program.operations[i];
        if (operation.call == Operation::Call::None)
          continue;
        enter(i, operation.info->name);
        for (uint32_t callee : operation.callees)
          if (callee >= image.programs.size())
            failIndex("attribute " + std::string(operation.call == Operation::Call::Case    ? "branches"
                                                 : operation.call == Operation::Call::While ? "cond or body"
                                                 : operation.call == Operation::Call::Trace ? "capture_callee"
                                                                                            : "callee"),
                      callee, image.programs.size(), "programs");
          else if (image.programs[callee].pipeline)
            fail("attribute callee", "names " + nameOf(image.programs[callee]) + ", which has stages",
                 "a program of operations");
        checkCall(program, operation);
      }
      place.step.clear();
    }
    place.program.clear();
    heights.assign(image.programs.size(), 0);
    runs.assign(image.programs.size(), 1);
    for (uint32_t i = 0; i < image.programs.size(); ++i)
      checkDepth(i, 0);
  }

  void readSystem() {
    const auto *desc = image.system;
    if (!desc)
      return;
    SystemDesc &system = image.systemDesc;
    system.meshShape = readMesh(desc->mesh_shape(), "system_desc.mesh_shape");
    system.chips = static_cast<uint32_t>(count(desc->chips()));
    for (uint32_t i = 0; i < system.chips; ++i) {
      const std::string field = "system_desc.chips[" + std::to_string(i) + "].arch";
      const auto arch = place.enumerator<Arch>(desc->chips()->Get(i)->arch(), 4, field);
      if (i && arch != system.arch)
        fail(field, "is " + std::string(toString(arch)),
             "that of the chips before, " + std::string(toString(system.arch)));
      system.arch = arch;
    }
  }

private:
  [[noreturn]] void fail(const std::string &field, const std::string &found, const std::string &expected) const {
    place.fail(field, found, expected);
  }
  void failIndex(const std::string &field, uint64_t found, size_t size, const char *what) const {
    place.failIndex(field, found, size, what);
  }
  void enter(uint32_t op, std::string_view name) {
    opName = name;
    place.step = "op " + std::to_string(op) + " (" + opName + ")";
  }

  std::vector<uint32_t> readMesh(const flatbuffers::Vector<uint32_t> *shape, const std::string &field) const {
    std::vector<uint32_t> mesh = {1, 1};
    if (count(shape) > 2)
      fail(field, "has " + std::to_string(shape->size()) + " dimensions", "[rows, columns]");
    // A single number is a row of devices.
    for (uint32_t i = 0; i < count(shape); ++i)
      mesh[2 - shape->size() + i] = shape->Get(i);
    const uint64_t devices = uint64_t(mesh[0]) * mesh[1];
    if (devices == 0 || devices > sim::maxChips)
      fail(field, "is " + std::to_string(mesh[0]) + "x" + std::to_string(mesh[1]),
           "1 to " + std::to_string(sim::maxChips) + " devices");
    return mesh;
  }

  std::vector<int64_t> dimensions(const flatbuffers::Vector<int64_t> *dims, const std::string &field) const {
    return place.dimensions(dims, elementBits, field);
  }

  void readSpecs() {
    const auto *descs = image.root->tensor_descs();
    image.specs->resize(count(descs));
    for (uint32_t i = 0; i < image.specs->size(); ++i) {
      const std::string field = "tensor_descs[" + std::to_string(i) + "].";
      const auto *desc = descs->Get(i);
      TensorSpec &spec = (*image.specs)[i];
      spec.shape = dimensions(desc->shape(), field + "shape");
      spec.dtype = place.dataType(static_cast<unsigned>(desc->data_type()), field + "data_type");
      spec.layout = place.enumerator<Layout>(desc->layout(), 2, field + "layout");
      spec.memory.buffer = place.enumerator<BufferType>(desc->buffer_type(), 5, field + "buffer_type");
      spec.memory.layout = place.enumerator<MemoryLayout>(desc->memory_layout(), 6, field + "memory_layout",
                                                          static_cast<unsigned>(MemoryLayout::Unset));
      if (static_cast<unsigned>(spec.memory.layout) == 1)
        fail(field + "memory_layout", "is 1", "0, 2, 3, 4, 5 or 255");
      spec.memory.grid = dimensions(desc->grid(), field + "grid");
      spec.memory.shardShape = dimensions(desc->shard_shape(), field + "shard_shape");
      spec.distributed = desc->distributed();
      const bool sharded = spec.memory.layout != MemoryLayout::Interleaved && spec.memory.layout != MemoryLayout::Unset;
      if (sharded && spec.memory.buffer != BufferType::SystemMemory &&
          (spec.memory.shardShape.size() < 2 || spec.memory.grid.empty()))
        fail(field + "memory_layout",
             "is " + std::string(toString(spec.memory.layout)) + " without grid or shard_shape", "both");
    }
  }

  void readConstants() {
    const auto *constants = image.root->constants();
    image.constants.resize(count(constants));
    for (uint32_t i = 0; i < image.constants.size(); ++i) {
      const auto *data = constants->Get(i)->data();
      const size_t size = count(data);
      if (!size)
        continue;
      const auto *bytes = reinterpret_cast<const std::byte *>(data->data());
      if (reinterpret_cast<uintptr_t>(bytes) % sim::hostAlignment != 0) {
        auto &copy = image.alignedConstants.emplace_back(sim::allocateHost(size, "a constant"));
        std::memcpy(copy.get(), bytes, size);
        bytes = copy.get();
      }
      image.constants[i] = {bytes, size};
    }
  }

  void readProgram(const target::Program &from, Program &to) {
    to.name = text(from.name());
    to.meshShape = readMesh(from.mesh_shape(), "mesh_shape");
    to.isPrivate = from.is_private();
    to.values.resize(count(from.values()));
    for (uint32_t i = 0; i < to.values.size(); ++i) {
      const auto *value = from.values()->Get(i);
      if (value->desc() >= image.specs->size())
        failIndex("values[" + std::to_string(i) + "].desc", value->desc(), image.specs->size(), "tensor descriptors");
      to.values[i] = {&(*image.specs)[value->desc()], text(value->name())};
    }
    state.assign(to.values.size(), State::Undefined);
    to.inputs = indices(from.inputs(), "inputs", to);
    for (size_t i = 0; i < to.inputs.size(); ++i)
      define(to.inputs[i], "inputs[" + std::to_string(i) + "]");
    std::vector<Operation> operations(count(from.operations()));
    for (uint32_t i = 0; i < operations.size(); ++i) {
      const auto *op = from.operations()->Get(i);
      enter(i, text(op->name()));
      readOperation(*op, to, operations[i]);
    }
    to.operations = SharedList(std::move(operations));
    place.step.clear();
    to.outputs = indices(from.outputs(), "outputs", to);
    if (from.pipeline()) {
      to.pipeline.emplace(); // its stages are read when all programs are
      return;
    }
    for (size_t i = 0; i < to.outputs.size(); ++i)
      use(to.outputs[i], "outputs[" + std::to_string(i) + "]");
  }

  std::vector<uint32_t> indices(const flatbuffers::Vector<uint32_t> *from, const char *field, const Program &program,
                                bool optional = false) const {
    std::vector<uint32_t> result(count(from));
    for (uint32_t i = 0; i < result.size(); ++i) {
      result[i] = from->Get(i);
      if (result[i] >= program.values.size() && !(optional && result[i] == absentOperand))
        failIndex(std::string(field) + "[" + std::to_string(i) + "]", result[i], program.values.size(), "values");
    }
    return result;
  }

  enum class State : uint8_t { Undefined, Defined, Deallocated };

  void define(uint32_t value, const std::string &field) {
    if (state[value] != State::Undefined)
      fail(field, "defines value " + std::to_string(value) + " again", "one definition of each value");
    state[value] = State::Defined;
  }

  void use(uint32_t value, const std::string &field) const {
    if (state[value] == State::Undefined)
      fail(field, "is value " + std::to_string(value) + ", which nothing before has defined",
           "an earlier result or input");
    if (state[value] == State::Deallocated)
      fail(field, "is value " + std::to_string(value) + ", which was deallocated before", "a value that is alive");
  }

  void readOperation(const target::Operation &from, const Program &program, Operation &to) {
    to.info = ttnn::findOp(text(from.name()));
    if (!to.info)
      fail("name", "is not known to this runtime", "one of the ops that `ttrt ops` lists");
    to.ins = indices(from.ins(), "ins", program, true);
    to.outs = indices(from.outs(), "outs", program);
    to.loc = text(from.loc());
    to.source = text(from.source());
    to.debug = text(from.debug());
    for (size_t i = 0; i < to.ins.size(); ++i)
      if (to.ins[i] != absentOperand)
        use(to.ins[i], "ins[" + std::to_string(i) + "]");
    for (size_t i = 0; i < to.outs.size(); ++i)
      define(to.outs[i], "outs[" + std::to_string(i) + "]");
    if (count(from.attributes()) > maxAttributes)
      fail("attributes", "has " + std::to_string(from.attributes()->size()) + " entries",
           "at most " + std::to_string(maxAttributes));
    std::vector<ttnn::NamedAttribute> attributes;
    for (uint32_t i = 0; i < count(from.attributes()); ++i) {
      const auto *attribute = from.attributes()->Get(i);
      std::string name = attribute->name()->str();
      for (const auto &other : attributes)
        if (other.name == name)
          fail("attribute " + name, "occurs twice", "one of each name");
      ttnn::Attribute value = readAttribute(*attribute, name);
      attributes.push_back({std::move(name), std::move(value)});
    }
    to.attributes = ttnn::Attributes(opName, std::move(attributes));
    const ttnn::OpCall call = program.call(to);
    try {
      ttnn::check(*to.info, call);
    } catch (const Error &error) {
      throw BinaryError(place.where() + error.what());
    }
    for (const auto &[name, attribute] : to.attributes.all())
      if (const auto *constant = std::get_if<ttnn::ConstantAttribute>(&attribute.value)) {
        const size_t expected = call.outs.empty() ? 0 : call.outs[0].bytes();
        if (constant->bytes.size() != expected)
          fail("attribute " + name, "has " + std::to_string(constant->bytes.size()) + " bytes",
               std::to_string(expected) + " for a result of shape " +
                   (call.outs.empty() ? "[]" : toString(call.outs[0].shape)) + " and type " +
                   (call.outs.empty() ? "none" : std::string(toString(call.outs[0].dtype))));
      }
    readCallees(to);
    if (to.info->name == "ttnn.deallocate" && !to.ins.empty() && to.ins[0] != absentOperand)
      state[to.ins[0]] = State::Deallocated;
  }

  //===- Calls ------------------------------------------------------------===//

  void readCallees(Operation &to) const {
    const auto add = [&](const char *name, int64_t callee) {
      if (callee < 0 || callee > std::numeric_limits<uint32_t>::max())
        fail(std::string("attribute ") + name, "is " + std::to_string(callee), "the index of a program");
      to.callees.push_back(static_cast<uint32_t>(callee));
    };
    if (to.info->name == "ttcore.load_cached") {
      to.call = Operation::Call::Cached;
      add("callee", to.attributes.get<int64_t>("callee"));
    } else if (to.info->name == "ttcore.while") {
      to.call = Operation::Call::While;
      add("cond", to.attributes.get<int64_t>("cond"));
      add("body", to.attributes.get<int64_t>("body"));
    } else if (to.info->name == "ttcore.case") {
      to.call = Operation::Call::Case;
      for (int64_t callee : to.attributes.get<std::vector<int64_t>>("branches"))
        add("branches", callee);
      if (to.callees.empty())
        fail("attribute branches", "is empty", "one program or more");
    } else if (to.info->name == "ttnn.capture_or_execute_trace") {
      to.call = Operation::Call::Trace;
      add("capture_callee", to.attributes.get<int64_t>("capture_callee"));
    }
    if (to.call != Operation::Call::None && std::ranges::count(to.ins, absentOperand))
      fail("ins", "has an operand that is not there", "tensors");
  }

  void checkCall(const Program &program, const Operation &operation) const {
    const auto callee = [&](size_t i) -> const Program & { return image.programs[operation.callees[i]]; };
    const std::span<const uint32_t> ins = operation.ins, outs = operation.outs;
    switch (operation.call) {
    case Operation::Call::None:
      return;
    case Operation::Call::Cached:
      for (const Operation &inner : callee(0).operations)
        if (inner.call != Operation::Call::None)
          fail("attribute callee", "names " + nameOf(callee(0)) + ", which calls a program itself",
               "a program without calls");
      checkCallee(program, callee(0), ins, outs);
      return;
    case Operation::Call::While:
      if (ins.size() < outs.size())
        fail("ins", "has " + std::to_string(ins.size()) + " values",
             "at least " + std::to_string(outs.size()) + ", one for each result");
      match(program, outs, nullptr, ins.first(outs.size()), "outs", "ins");
      checkCallee(program, callee(1), ins, outs);
      checkMesh(program, callee(0));
      match(program, ins, &callee(0), callee(0).inputs, "ins", "inputs");
      if (callee(0).outputs.size() != 1)
        fail("attribute cond",
             "names " + nameOf(callee(0)) + ", which has " + std::to_string(callee(0).outputs.size()) + " outputs",
             "one");
      checkSelector(callee(0).spec(callee(0).outputs[0]), "the output of " + nameOf(callee(0)));
      return;
    case Operation::Call::Case:
      if (ins.empty())
        fail("ins", "is empty", "the number of the branch first");
      checkSelector(program.spec(ins[0]), "ins[0]");
      for (size_t i = 0; i < operation.callees.size(); ++i)
        checkCallee(program, callee(i), ins.subspan(1), outs);
      return;
    case Operation::Call::Trace:
      checkCallee(program, callee(0), ins, outs);
      return;
    }
  }

  static std::string nameOf(const Program &program) { return "program \"" + std::string(program.name) + "\""; }

  /// Checks that the selector of control flow is one number, of a type that the executor reads.
  void checkSelector(const TensorSpec &spec, const std::string &field) const {
    const bool isRead = spec.dtype == DataType::Float32 || spec.dtype == DataType::BFloat16 ||
                        spec.dtype == DataType::Int32 || spec.dtype == DataType::UInt32 ||
                        spec.dtype == DataType::UInt16 || spec.dtype == DataType::UInt8 || spec.dtype == DataType::Bool;
    if (volume(spec.shape) != 1 || !isRead)
      fail(field, "is " + toString(spec.shape) + " of " + std::string(toString(spec.dtype)),
           "one number of f32, bf16, si32, u32, u16, u8 or bool");
  }

  void checkMesh(const Program &program, const Program &callee) const {
    if (callee.meshShape != program.meshShape)
      fail("attribute callee",
           "names " + nameOf(callee) + " for a mesh of " + std::to_string(callee.meshShape[0]) + "x" +
               std::to_string(callee.meshShape[1]),
           "the caller's mesh");
  }

  void checkCallee(const Program &program, const Program &callee, std::span<const uint32_t> ins,
                   std::span<const uint32_t> outs) const {
    checkMesh(program, callee);
    match(program, ins, &callee, callee.inputs, "ins", "inputs");
    match(program, outs, &callee, callee.outputs, "outs", "outputs");
  }

  /// Without a callee: `others` are values of the program itself.
  void match(const Program &program, std::span<const uint32_t> values, const Program *callee,
             std::span<const uint32_t> others, const char *field, const char *other) const {
    const Program &otherProgram = callee ? *callee : program;
    const auto isSame = [&](size_t i) {
      const TensorSpec &found = program.spec(values[i]), &expected = otherProgram.spec(others[i]);
      return &found == &expected || found == expected;
    };
    if (values.size() == others.size() && std::ranges::all_of(std::views::iota(size_t(0), values.size()), isSame))
      return;
    const std::string name = callee ? nameOf(*callee) : "of the op itself";
    if (values.size() != others.size())
      fail(field, "has " + std::to_string(values.size()) + " values",
           std::to_string(others.size()) + ", as " + name + " has " + other);
    for (size_t i = 0; i < values.size(); ++i)
      if (const TensorSpec &found = program.spec(values[i]), &expected = otherProgram.spec(others[i]);
          found != expected)
        fail(std::string(field) + "[" + std::to_string(i) + "]",
             "is " + toString(found.shape) + " of " + std::string(toString(found.dtype)),
             "the shape, type, layout and memory of " + name + "'s " + other + "[" + std::to_string(i) + "], " +
                 toString(expected.shape) + " of " + std::string(toString(expected.dtype)));
  }

  /// Calls terminate: no program runs itself, and chains are shorter than the stack is deep.
  uint32_t checkDepth(uint32_t program, uint32_t above) {
    constexpr uint32_t maxDepth = 100, maxRuns = 100000, open = ~0u;
    if (heights[program] && heights[program] != open)
      return heights[program];
    const Program &entered = image.programs[program];
    const auto failHere = [&](const std::string &found) {
      place.program = entered.name;
      fail("operations", found, "calls that end");
    };
    if (heights[program] == open)
      failHere("call the program itself");
    heights[program] = open;
    uint32_t height = 1;
    for (const Operation &operation : entered.operations)
      for (uint32_t callee : operation.callees) {
        if (above < maxDepth)
          height = std::max(height, checkDepth(callee, above + 1) + 1);
        if (above >= maxDepth || height > maxDepth)
          failHere("make calls more than " + std::to_string(maxDepth) + " deep");
        // Each call is prepared separately.
        runs[program] += runs[callee];
        if (runs[program] > maxRuns)
          failHere("call more than " + std::to_string(maxRuns) + " programs, and these others");
      }
    return heights[program] = height;
  }

  void spend(size_t items, const std::string &name) {
    place.spend(items, "attribute " + name, "the attributes", "fewer; large data belongs in constants");
  }

  template <class T> std::vector<T> array(const flatbuffers::Vector<T> *values, const std::string &name) {
    spend(count(values), name);
    return numbers(values);
  }

  std::string string(const flatbuffers::String *from, const std::string &name) {
    spend(from ? from->size() : 0, name);
    return std::string(text(from));
  }

  ttnn::Attribute readAttribute(const target::Attribute &from, const std::string &name) {
    using target::AttributeValue;
    spend(1, name);
    // The Verifier accepts a union with a type and no value.
    if (!from.value())
      fail("attribute " + name, "has no value", "one");
    switch (from.value_type()) {
    case AttributeValue::BoolValue:
      return {from.value_as_BoolValue()->value()};
    case AttributeValue::IntValue:
      return {static_cast<int64_t>(from.value_as_IntValue()->value())};
    case AttributeValue::FloatValue:
      return {from.value_as_FloatValue()->value()};
    case AttributeValue::StringValue:
      return {string(from.value_as_StringValue()->value(), name)};
    case AttributeValue::IntArrayValue:
      return {array(from.value_as_IntArrayValue()->value(), name)};
    case AttributeValue::FloatArrayValue:
      return {array(from.value_as_FloatArrayValue()->value(), name)};
    case AttributeValue::ConstantValue: {
      const uint32_t index = from.value_as_ConstantValue()->index();
      if (index >= image.constants.size())
        failIndex("attribute " + name, index, image.constants.size(), "constants");
      return {ttnn::ConstantAttribute{image.constants[index]}};
    }
    case AttributeValue::EnumValue: {
      const auto *value = from.value_as_EnumValue();
      return {ttnn::EnumAttribute{string(value->type(), name), string(value->symbol(), name), value->value()}};
    }
    case AttributeValue::StructValue: {
      const auto *value = from.value_as_StructValue();
      ttnn::StructAttribute result{string(value->type(), name), {}};
      for (uint32_t i = 0; i < count(value->fields()); ++i) {
        const auto *field = value->fields()->Get(i);
        const std::string fieldName = field->name()->str();
        result.fields.push_back({fieldName, readAttribute(*field, name + "." + fieldName)});
      }
      return {std::move(result)};
    }
    case AttributeValue::ListValue: {
      const auto *items = from.value_as_ListValue()->items();
      ttnn::ListAttribute result;
      for (uint32_t i = 0; i < count(items); ++i)
        result.items.push_back(readAttribute(*items->Get(i), name + "[" + std::to_string(i) + "]"));
      return {std::move(result)};
    }
    case AttributeValue::NONE:
      break;
    }
    fail("attribute " + name, "has a value of type " + std::to_string(static_cast<unsigned>(from.value_type())),
         "one of the types of the schema");
  }

  BinaryImage &image;
  std::vector<State> state;
  std::vector<uint32_t> heights; // per program: of the tree of its calls
  std::vector<uint64_t> runs;    // per program: how many that tree has
  files::Place place;
  std::string opName;
};

} // namespace

void readImage(BinaryImage &image) { Reader(image).read(); }
void checkCalls(BinaryImage &image) { Reader(image).checkCalls(); }
void readSystem(BinaryImage &image) { Reader(image).readSystem(); }

} // namespace tt::runtime

//===- json.cpp - JSON of TTMetal programs --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "binary/json.h"
#include "binary/metal/image.h"

namespace tt::metal {
namespace {

using runtime::Json;

void writeBuffer(Json &json, const Buffer &buffer) {
  json.begin('{').key("id").number(buffer.id);
  json.key("shape").numbers(buffer.shape);
  json.key("data_type").string(toString(buffer.dtype));
  json.key("buffer_type").string(buffer.onHost ? "system_memory" : buffer.inDram ? "dram" : "l1");
  if (!buffer.onHost) {
    json.key("address").number(buffer.address);
    json.key("bytes_per_bank").number(buffer.bytesPerBank);
    json.key("layout").string(buffer.tiled ? "tile" : "row_major");
    json.key("grid").begin('[').number(buffer.gridRows).number(buffer.gridColumns).end(']');
    json.key("shard_shape").begin('[').number(buffer.shardRows).number(buffer.shardColumns).end(']');
  }
  json.end('}');
}

void writeCores(Json &json, const Image &image, const Cores &cores) {
  json.begin('[');
  for (CoreIndex core : cores) {
    const auto columns = static_cast<uint32_t>(image.chip->gridColumns);
    json.begin('[').number(core / columns).number(core % columns).end(']');
  }
  json.end(']');
}

class CommandWriter {
public:
  CommandWriter(Json &json, const Image &image, const Program &program) : json(json), image(image), program(program) {}

  void operator()(const HostAlloc &command) const {
    json.key("buffer");
    writeBuffer(json, program.buffers[command.buffer]);
    json.key("constant_bytes").number(program.buffers[command.buffer].constant.size());
  }
  void operator()(const CreateBuffer &command) const {
    json.key("buffer");
    writeBuffer(json, program.buffers[command.buffer]);
  }
  void operator()(const DeallocateBuffer &command) const { writeId("buffer", command.buffer); }
  void operator()(const WriteBuffer &command) const { writeTransfer(command.from, command.to); }
  void operator()(const ReadBuffer &command) const { writeTransfer(command.from, command.to); }
  void operator()(const EnqueueProgram &command) const {
    json.key("buffers");
    writeIds(command.buffers);
    json.key("circular_buffers").begin('[');
    for (const CircularBuffer &ring : command.rings) {
      json.begin('{').key("port").number(ring.port);
      json.key("data_type").string(toString(ring.dtype));
      json.key("address").number(ring.address);
      json.key("page_size").number(ring.ring.pageBytes);
      json.key("num_pages").number(ring.ring.pages);
      json.end('}');
    }
    json.end(']');
    json.key("kernels").begin('[');
    for (const Kernel &kernel : command.kernels) {
      json.begin('{').key("symbol").string(kernel.symbol);
      json.key("type").string(kernel.compute ? "compute" : "data_movement");
      json.key("cores");
      writeCores(json, image, kernel.cores);
      json.key("compile_time_args").numbers(kernel.compileTimeArgs);
      json.key("runtime_args").numbers(kernel.runtimeArgs);
      if (kernel.compute) {
        json.key("fp32_dest_acc_en").boolean(kernel.f32Dst);
        json.key("dst_full_sync_en").boolean(kernel.fullDst);
      }
      json.end('}');
    }
    json.end(']');
  }
  void operator()(const Return &command) const {
    json.key("buffers");
    writeIds(command.results);
  }
  void operator()(const Finish &) const {}
  void operator()(const MeshShard &command) const {
    writeTransfer(command.from, command.to);
    json.key("shard_direction").string(command.joins ? "shard_to_full" : "full_to_shard");
    json.key("shard_dims").numbers(command.dims);
  }

private:
  void writeId(const char *key, uint32_t buffer) const { json.key(key).number(program.buffers[buffer].id); }
  void writeIds(const std::vector<uint32_t> &buffers) const {
    json.begin('[');
    for (uint32_t buffer : buffers)
      json.number(program.buffers[buffer].id);
    json.end(']');
  }
  void writeTransfer(uint32_t from, uint32_t to) const {
    writeId("src", from);
    writeId("dst", to);
  }
  Json &json;
  const Image &image;
  const Program &program;
};

} // namespace

void writeCommands(Json &json, const runtime::BinaryImage &image, size_t index) {
  const Program &program = image.metal->programs[index];
  json.begin('[');
  for (const Command &command : program.commands) {
    json.begin('{').key("name").string(command.name());
    // Operands of TTNN ops are values of the program; the buffers of a command are in its attributes.
    json.key("ins").begin('[').end(']');
    json.key("outs").begin('[').end(']');
    json.key("attributes").begin('{');
    std::visit(CommandWriter(json, *image.metal, program), command.what);
    json.end('}');
    json.key("loc").string(command.loc);
    json.key("source").string("");
    json.key("debug").string(command.debug);
    json.end('}');
  }
  json.end(']');
}

} // namespace tt::metal

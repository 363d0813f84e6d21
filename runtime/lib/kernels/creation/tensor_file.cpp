//===- tensor_file.cpp - tensors as files -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/creation/tensor_file.h"
#include "base/flatbuffer.h"
#include "core/mesh.h"
#include "kernels/creation/tensorbin.h"
#include "tensor_generated.h"
#include "tt/sim/formats.h"
#include "tt/sim/host.h"
#include "ttmlir/Target/OutputFile.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include <cstring>

namespace tt::ttnn {
namespace {

constexpr int elementBits = 44; // as in a program

class Reader {
public:
  Reader(const std::string &path, const std::shared_ptr<std::byte> &pages, size_t size)
      : path(path), size(size), pages(pages) {
    place.file = path;
  }

  Tensor read() {
    const std::span<const std::byte> file(pages.get(), size);
    files::verifyPrefix(path, file, {target::TensorFileIdentifier()},
                        "\"" + std::string(target::TensorFileIdentifier()) + "\" (is it a tensor file?)");
    const target::TensorFile *root =
        &files::verifiedRoot<target::TensorFile>(path, file, target::schemaVersion, "", "write it again");
    TensorSpec spec;
    spec.dtype = place.dataType(static_cast<unsigned>(root->data_type()), "data_type");
    if (static_cast<unsigned>(root->layout()) > static_cast<unsigned>(Layout::Tile))
      fail("layout", "is " + std::to_string(static_cast<unsigned>(root->layout())), "row-major (0) or tile (1)");
    spec.layout = static_cast<Layout>(root->layout());
    spec.shape = place.dimensions(root->shape(), elementBits, "shape");
    size_t bytes = 0;
    try {
      bytes = spec.bytes();
    } catch (const Error &error) {
      fail("shape", std::string("is wrong: ") + error.what(), "sizes of at least 0");
    }
    const std::vector<uint32_t> mesh = files::numbers(root->mesh_shape());
    Tensor::Shards shards;
    const auto *list = root->shards();
    for (uint32_t i = 0; i < (list ? list->size() : 0); ++i) {
      const auto *data = list->Get(i)->data();
      const size_t found = data ? data->size() : 0;
      if (found != bytes)
        fail("shards[" + std::to_string(i) + "]", "has " + std::to_string(found) + " bytes",
             std::to_string(bytes) + " of shape " + toString(spec.shape) + " and type " +
                 std::string(toString(spec.dtype)));
      shards.push_back(values(spec, data ? reinterpret_cast<const std::byte *>(data->data()) : nullptr));
    }
    try {
      return Tensor::fromShards(std::move(spec), std::move(shards), mesh);
    } catch (const Error &error) {
      throw BinaryError(path + ": " + error.what());
    }
  }

private:
  [[noreturn]] void fail(const std::string &field, const std::string &found, const std::string &expected) const {
    place.fail(field, found, expected);
  }

  /// The bytes in the file, unless the device holds them in another form.
  std::shared_ptr<std::byte> values(const TensorSpec &spec, const std::byte *data) const {
    const bool aligned = reinterpret_cast<uintptr_t>(data) % sim::hostAlignment == 0;
    if (data && aligned && !sim::isBlockFormat(spec.dtype))
      return {pages, const_cast<std::byte *>(data)};
    auto copy = sim::allocateHost(spec.bytes(), "a tensor from a file");
    if (spec.bytes() > 0) {
      std::memcpy(copy.get(), data, spec.bytes());
      const auto columns = static_cast<size_t>(spec.shape.empty() ? 1 : spec.shape.back());
      if (sim::isBlockFormat(spec.dtype))
        sim::quantiseRows(spec.dtype, reinterpret_cast<uint16_t *>(copy.get()), spec.bytes() / 2 / columns, columns);
    }
    return copy;
  }

  const std::string &path;
  files::Place place;
  size_t size;
  std::shared_ptr<std::byte> pages;
};

/// Whether a file is one of tensor.fbs, by its identifier after the size and the offset of the root.
bool isOwn(const std::byte *bytes, size_t size) {
  const std::string_view identifier = target::TensorFileIdentifier();
  return size >= 8 + identifier.size() && std::memcmp(bytes + 8, identifier.data(), identifier.size()) == 0;
}

/// Data types that the library's files lack are stored in a file of tensor.fbs.
void write(const std::string &path, const TensorSpec &spec, std::span<const std::byte *const> shards,
           std::vector<uint32_t> meshShape) {
  if (isInTensorbin(spec.dtype))
    return writeTensorbin(path, spec, shards, meshShape);
  if (spec.bytes() * shards.size() + 65536 >= FLATBUFFERS_MAX_BUFFER_SIZE)
    throw Error("cannot write " + path + ": the tensor has " + std::to_string(spec.bytes() * shards.size()) +
                " bytes; a tensor file has less than 2 GiB");
  flatbuffers::FlatBufferBuilder builder(spec.bytes() * shards.size() + 4096);
  std::vector<flatbuffers::Offset<target::Constant>> list;
  for (const std::byte *shard : shards) {
    builder.ForceVectorAlignment(spec.bytes(), 1, sim::hostAlignment);
    list.push_back(
        target::CreateConstant(builder, builder.CreateVector(reinterpret_cast<const uint8_t *>(shard), spec.bytes())));
  }
  const auto shape = builder.CreateVector(spec.shape);
  const auto mesh = meshShape.empty() ? 0 : builder.CreateVector(meshShape);
  target::FinishSizePrefixedTensorFileBuffer(
      builder,
      target::CreateTensorFile(builder, target::schemaVersion, shape, static_cast<target::DataType>(spec.dtype),
                               static_cast<target::Layout>(spec.layout), mesh, builder.CreateVector(list)));

  ttmlir::OutputFile file(path);
  file.write({reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()});
  if (file.keep() != 0)
    throw Error("cannot write " + path + ": " + file.message());
}

//===----------------------------------------------------------------------===//
// As ops of a program
//===----------------------------------------------------------------------===//

std::unique_ptr<Kernel> makeLoad(const OpCall &call) {
  const Tensor tensor = readTensorFile(call.attributes.get<std::string>("file_path"));
  const TensorSpec &out = result(call);
  if (tensor.shards() > 1)
    fail(call,
         "the file holds " + std::to_string(tensor.shards()) + " shards; expected a tensor that is not distributed");
  if (tensor.dtype() != out.dtype)
    fail(call, "the file holds " + std::string(toString(tensor.dtype())) + " and the result is " +
                   std::string(toString(out.dtype)));
  expectResultShape(call, tensor.shape());
  const size_t bytes = out.bytes();
  return kernelOf([tensor, bytes](const Buffers &buffers) {
    if (bytes)
      std::memcpy(buffers.outs[0], tensor.data(), bytes);
  });
}

/// Once for all chips: the file has a shard for each if the tensor does.
class DumpKernel final : public MeshKernel {
public:
  explicit DumpKernel(const OpCall &call)
      : path(call.attributes.get<std::string>("file_path")), spec(operand(call, 0)), meshShape(call.meshShape) {}
  /// The rank of chip 0 writes the file.
  std::vector<Need> needs() const override {
    std::vector<Need> needs;
    for (size_t from = 0; from < size_t(meshShape[0]) * meshShape[1]; ++from)
      needs.push_back({0, from, 0});
    return needs;
  }
  void run(DeviceIns ins, DeviceOuts, const sim::Chips &chips) const override {
    if (chips.has(0))
      write(path, spec, ins[0], ins[0].size() > 1 ? meshShape : std::vector<uint32_t>());
  }

private:
  std::string path;
  TensorSpec spec;
  std::vector<uint32_t> meshShape;
};

std::unique_ptr<MeshKernel> makeDump(const OpCall &call) { return std::make_unique<DumpKernel>(call); }

} // namespace

Tensor readTensorFile(const std::string &path) {
  size_t size = 0;
  const std::shared_ptr<std::byte> pages = files::mapFile(path, true, size);
  return isOwn(pages.get(), size) ? Reader(path, pages, size).read() : readTensorbin(path, pages, size);
}

void writeTensorFile(const std::string &path, const Tensor &given) {
  const Tensor tensor = given.gathered("dump_tensor");
  std::vector<const std::byte *> shards;
  for (size_t i = 0; i < tensor.shards(); ++i)
    shards.push_back(tensor.data(i));
  const auto &partition = given.description()->partition;
  if (!partition || partition->ranks().rank() == 0)
    write(path, tensor.spec(), shards, tensor.meshShape());
  if (partition)
    partition->ranks().barrier("dump_tensor");
}

std::vector<OpInfo> tensorFileOps() {
  return {
      {"ttnn.load_tensor", makeLoad},
      {"ttnn.dump_tensor", nullptr, makeDump},
  };
}

} // namespace tt::ttnn

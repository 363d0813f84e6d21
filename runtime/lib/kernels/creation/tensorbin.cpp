//===- tensorbin.cpp - tensor files of Tenstorrent's library ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/creation/tensorbin.h"
#include "base/flatbuffer.h"
#include "tensorbin_generated.h"
#include "tt/sim/formats.h"
#include "tt/sim/host.h"
#include "ttmlir/Target/OutputFile.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>

namespace tt::ttnn {
namespace {

constexpr int elementBits = 44; // as in a program
constexpr size_t sizeBytes = 8; // of the head, in front of it
constexpr size_t dataAlignment = 64;
constexpr size_t largestHead = size_t(1) << 24;
constexpr uint32_t tileSide = 32;

/// Data types by their number in a file.
constexpr std::array<DataType, 8> types = {DataType::BFloat16,    DataType::Float32,     DataType::UInt32,
                                           DataType::BFP_BFloat8, DataType::BFP_BFloat4, DataType::UInt8,
                                           DataType::UInt16,      DataType::Int32};

constexpr uint8_t int8 = 8;

class Reader {
public:
  Reader(const std::string &path, const std::shared_ptr<std::byte> &pages, size_t size)
      : path(path), pages(pages), bytes(pages.get(), size) {
    place.file = path;
  }

  Tensor read() {
    const tensorbin::Tensor &root = head();
    const tensorbin::Spec &described = place.need(root.spec(), "tensor_spec");
    const tensorbin::Layout &layout = place.need(described.layout(), "tensor_layout");
    TensorSpec spec; // as it is in the file
    isInt8 = layout.data_type() == int8;
    spec.dtype = isInt8 ? DataType::UInt8 : typeOf(layout.data_type());
    spec.layout = layoutOf(layout);
    if (sim::isBlockFormat(spec.dtype) && spec.layout != Layout::Tile)
      place.fail("page_config", "is row-major", "tiles, as the data type is " + std::string(toString(spec.dtype)));
    spec.shape = place.dimensions(described.shape(), elementBits, "shape");
    try {
      (void)spec.bytes();
      shardBytes = sim::deviceBytes(spec);
    } catch (const Error &error) {
      place.fail("shape", std::string("is wrong: ") + error.what(), "smaller sizes");
    }
    const std::vector<uint32_t> mesh = meshShape(root.mesh());
    Tensor::Shards shards = shardsOf(spec, root, mesh);
    if (isInt8)
      spec.dtype = DataType::Int32;
    try {
      return Tensor::fromShards(std::move(spec), std::move(shards), mesh.size() == 2 ? mesh : std::vector<uint32_t>());
    } catch (const Error &error) {
      throw BinaryError(path + ": " + error.what());
    }
  }

private:
  const tensorbin::Tensor &head() {
    uint64_t length = 0;
    if (bytes.size() >= sizeBytes)
      std::memcpy(&length, bytes.data(), sizeBytes);
    if (length == 0 || length > largestHead || length > bytes.size() - std::min(sizeBytes, bytes.size()))
      throw BinaryError(path + ": is no tensor file, or damaged: its first 8 bytes give a head of " +
                        std::to_string(length) + " bytes in a file of " + std::to_string(bytes.size()));
    const std::span<const std::byte> table = bytes.subspan(sizeBytes, length);
    data = bytes.subspan(sizeBytes + length);
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(table.data()), table.size(), files::maxDepth,
                                   files::maxTables);
    if (!verifier.VerifyBuffer<tensorbin::Tensor>(nullptr))
      throw BinaryError(path + ": is no tensor file, or damaged: the FlatBuffers verifier refuses its head");
    return *flatbuffers::GetRoot<tensorbin::Tensor>(table.data());
  }

  DataType typeOf(uint8_t number) const {
    if (number >= types.size())
      place.fail("data_type", "is " + std::to_string(number), "one of the first 9, BFLOAT16 to INT8");
    return types[number];
  }

  Layout layoutOf(const tensorbin::Layout &layout) const {
    if (layout.pages_type() == tensorbin::Pages::RowMajorPages)
      return Layout::RowMajor;
    const tensorbin::TilePages *tiles = layout.pages_as_TilePages();
    if (!tiles)
      place.fail("page_config", "is of kind " + std::to_string(static_cast<unsigned>(layout.pages_type())),
                 "row-major (1) or tiles (2)");
    if (const tensorbin::Tile &tile = place.need(tiles->tile(), "tile");
        tile.height() != tileSide || tile.width() != tileSide || tile.transposed())
      place.fail("tile",
                 "is " + std::to_string(tile.height()) + "x" + std::to_string(tile.width()) +
                     (tile.transposed() ? ", transposed" : ""),
                 "32x32");
    return Layout::Tile;
  }

  /// Rows and columns; empty for a tensor on one device.
  std::vector<uint32_t> meshShape(const tensorbin::MeshShape *mesh) const {
    std::vector<uint32_t> sizes = mesh ? files::numbers(mesh->dimensions()) : std::vector<uint32_t>();
    if (sizes.size() > 2)
      place.fail("mesh_shape", "has " + std::to_string(sizes.size()) + " dimensions", "at most 2");
    if (std::ranges::any_of(sizes, [](uint32_t size) { return size == 0 || size > 65536; }))
      place.fail("mesh_shape", "has a size of 0, or more than 65536", "the rows and columns of a mesh");
    if (std::ranges::all_of(sizes, [](uint32_t size) { return size == 1; }))
      return {};
    if (sizes.size() == 1)
      sizes.insert(sizes.begin(), 1);
    return sizes;
  }

  /// The position of a shard among those of the mesh, row by row.
  size_t positionOf(const tensorbin::Shard &shard, const std::vector<uint32_t> &mesh, const std::string &field) const {
    const std::vector<uint32_t> values =
        shard.coordinate() ? files::numbers(shard.coordinate()->values()) : std::vector<uint32_t>();
    if (mesh.empty())
      return 0;
    const size_t first = mesh.size() - std::min(mesh.size(), values.size());
    size_t position = 0;
    for (size_t i = 0; i < mesh.size(); ++i) {
      const uint32_t value = i < first ? 0 : values[i - first];
      if (values.size() > mesh.size() || value >= mesh[i])
        place.fail(field + ".mesh_coordinate", "is outside of the mesh", "a position of mesh_shape");
      position = position * mesh[i] + value;
    }
    return position;
  }

  Tensor::Shards shardsOf(const TensorSpec &spec, const tensorbin::Tensor &root, const std::vector<uint32_t> &mesh) {
    const size_t expected = std::accumulate(mesh.begin(), mesh.end(), size_t(1), std::multiplies<>());
    const auto *list = root.shards();
    if (files::count(list) != expected)
      place.fail("shards", "has " + std::to_string(files::count(list)) + " entries",
                 std::to_string(expected) + " of the mesh");
    Tensor::Shards shards(expected);
    std::map<uint64_t, std::shared_ptr<std::byte>> known; // devices with the same values share them
    for (uint32_t i = 0; i < expected; ++i) {
      const std::string field = "shards[" + std::to_string(i) + "]";
      const tensorbin::Shard &shard = *list->Get(i);
      const tensorbin::InlineStorage *storage = shard.storage_as_InlineStorage();
      if (!storage)
        place.fail(field + ".buffer", "is of kind " + std::to_string(static_cast<unsigned>(shard.storage_type())),
                   "data in the file (1)");
      if (storage->size() != shardBytes)
        place.fail(field, "has " + std::to_string(storage->size()) + " bytes",
                   std::to_string(shardBytes) + " of shape " + toString(spec.shape) + " and type " +
                       std::string(toString(spec.dtype)));
      if (storage->offset() > data.size() || shardBytes > data.size() - storage->offset())
        place.fail(field, "ends behind the file, which has " + std::to_string(data.size()) + " bytes of data",
                   std::to_string(shardBytes) + " bytes from " + std::to_string(storage->offset()));
      std::shared_ptr<std::byte> &to = shards[positionOf(shard, mesh, field)];
      if (to)
        place.fail(field + ".mesh_coordinate", "is there twice", "one shard for each device");
      std::shared_ptr<std::byte> &values = known[storage->offset()];
      if (!values)
        values = decoded(spec, data.subspan(storage->offset(), shardBytes));
      to = values;
    }
    return shards;
  }

  std::shared_ptr<std::byte> decoded(const TensorSpec &spec, std::span<const std::byte> encoded) const {
    if (isInt8)
      return widened(spec, encoded);
    if (spec.layout == Layout::RowMajor && spec.bytes() > 0 &&
        reinterpret_cast<uintptr_t>(encoded.data()) % sim::hostAlignment == 0)
      return {pages, const_cast<std::byte *>(encoded.data())};
    auto values = sim::allocateHost(spec.bytes(), "a tensor from a file");
    if (spec.bytes() > 0)
      sim::decode(spec, encoded, {values.get(), spec.bytes()});
    return values;
  }

  /// Numbers of 8 bits, which are INT32 here.
  static std::shared_ptr<std::byte> widened(const TensorSpec &spec, std::span<const std::byte> encoded) {
    std::vector<std::byte> narrow(spec.bytes());
    sim::decode(spec, encoded, narrow);
    auto values = sim::allocateHost(narrow.size() * sizeof(int32_t), "a tensor from a file");
    auto *to = reinterpret_cast<int32_t *>(values.get());
    for (const std::byte each : narrow)
      *to++ = static_cast<int8_t>(each);
    return values;
  }

  const std::string &path;
  const std::shared_ptr<std::byte> &pages;
  std::span<const std::byte> bytes, data;
  files::Place place;
  size_t shardBytes = 0;
  bool isInt8 = false;
};

std::vector<uint32_t> sizesOf(const std::vector<uint32_t> &meshShape) {
  return meshShape.empty() ? std::vector<uint32_t>{1, 1} : meshShape;
}

/// The head, padded so that the data begins at a multiple of its alignment.
std::string headOf(const TensorSpec &spec, size_t shards, const std::vector<uint32_t> &meshShape) {
  flatbuffers::FlatBufferBuilder builder;
  const bool tiled = spec.layout == Layout::Tile;
  const auto number = static_cast<uint8_t>(std::ranges::find(types, spec.dtype) - types.begin());
  const auto pages =
      tiled ? tensorbin::CreateTilePages(builder, tensorbin::CreateTile(builder, tileSide, tileSide, false)).Union()
            : tensorbin::CreateRowMajorPages(builder).Union();
  const std::vector<uint32_t> alignment = tiled ? std::vector<uint32_t>{tileSide, tileSide} : std::vector<uint32_t>{1};
  const auto layout =
      tensorbin::CreateLayout(builder, number, tiled ? tensorbin::Pages::TilePages : tensorbin::Pages::RowMajorPages,
                              pages, tensorbin::CreateMemory(builder), builder.CreateVector(alignment));
  const std::vector<uint32_t> shape(spec.shape.begin(), spec.shape.end());
  const auto described = tensorbin::CreateSpec(builder, builder.CreateVector(shape), layout);

  const std::vector<uint32_t> mesh = sizesOf(meshShape);
  const size_t bytes = sim::deviceBytes(spec);
  const size_t step = (bytes + dataAlignment - 1) / dataAlignment * dataAlignment;
  std::vector<flatbuffers::Offset<tensorbin::Shard>> entries;
  std::vector<flatbuffers::Offset<tensorbin::MeshCoordinate>> coordinates;
  for (size_t i = 0; i < shards; ++i) {
    const std::vector<uint32_t> at = {static_cast<uint32_t>(i / mesh[1]), static_cast<uint32_t>(i % mesh[1])};
    const auto where = builder.CreateStruct(tensorbin::InlineStorage(i * step, bytes)).Union();
    const auto coordinate = tensorbin::CreateMeshCoordinate(builder, builder.CreateVector(at));
    coordinates.push_back(coordinate);
    entries.push_back(tensorbin::CreateShard(builder, tensorbin::Storage::InlineStorage, where, coordinate));
  }
  const std::vector<uint32_t> distribution = {static_cast<uint32_t>(shards)};
  const std::vector<flatbuffers::Offset<tensorbin::Placement>> placements = {
      tensorbin::CreatePlacement(builder, 0, shards > 1 ? 0 : -1)};
  const auto topology =
      tensorbin::CreateTopology(builder, tensorbin::CreateMeshShape(builder, builder.CreateVector(distribution)),
                                builder.CreateVector(placements), builder.CreateVector(coordinates));
  const auto meshSizes = tensorbin::CreateMeshShape(builder, builder.CreateVector(mesh));
  builder.Finish(tensorbin::CreateTensor(builder, described, meshSizes, builder.CreateVector(entries), topology));

  std::string head(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  const size_t end = (sizeBytes + head.size() + dataAlignment - 1) / dataAlignment * dataAlignment;
  head.resize(end - sizeBytes);
  const uint64_t length = head.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeBytes) + head;
}

} // namespace

bool isInTensorbin(DataType type) { return std::ranges::find(types, type) != types.end(); }

Tensor readTensorbin(const std::string &path, const std::shared_ptr<std::byte> &pages, size_t size) {
  return Reader(path, pages, size).read();
}

void writeTensorbin(const std::string &path, const TensorSpec &spec, std::span<const std::byte *const> shards,
                    const std::vector<uint32_t> &meshShape) {
  ttmlir::OutputFile file(path);
  file.write(headOf(spec, shards.size(), meshShape));
  const size_t bytes = sim::deviceBytes(spec);
  std::vector<std::byte> encoded((bytes + dataAlignment - 1) / dataAlignment * dataAlignment);
  for (size_t i = 0; i < shards.size() && bytes; ++i) {
    sim::encode(spec, {shards[i], spec.bytes()}, {encoded.data(), bytes});
    const size_t length = i + 1 < shards.size() ? encoded.size() : bytes;
    file.write({reinterpret_cast<const char *>(encoded.data()), length});
  }
  if (file.keep() != 0)
    throw Error("cannot write " + path + ": " + file.message());
}

} // namespace tt::ttnn

//===- buffers.cpp - checks of buffers in a file --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "binary/metal/checker.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::metal {
namespace {

std::string pair(int64_t a, int64_t b) { return std::to_string(a) + "x" + std::to_string(b); }
std::string pair(const fb::Dim2d &dims) { return pair(dims.y(), dims.x()); }

/// Shards are whole tiles.
uint64_t shardBytes(const Buffer &buffer) {
  return static_cast<uint64_t>(buffer.shardRows * buffer.shardColumns) / (tileSide * tileSide) *
         sim::tileBytes(buffer.dtype);
}

bool isDeviceType(DataType type) {
  switch (type) {
#define TT_CORE_TYPE(type) case DataType::type:
#include "ttmlir/Target/TTMetal/CoreTypes.def"
    return true;
  default:
    return false;
  }
}

} // namespace

std::string coreText(const sim::ChipDesc &chip, CoreIndex core) {
  return "(y=" + std::to_string(core / chip.gridColumns) + ", x=" + std::to_string(core % chip.gridColumns) + ")";
}

Cores BufferChecker::cores(const flatbuffers::Vector<const fb::Dim2dRange *> *ranges, const std::string &field) const {
  if (count(ranges) > maxRanges)
    place.fail(field, "has " + std::to_string(ranges->size()) + " ranges", "at most " + std::to_string(maxRanges));
  place.spend(static_cast<size_t>(chip.cores()), field);
  Cores result;
  std::vector<bool> seen(static_cast<size_t>(chip.cores()));
  for (uint32_t i = 0; i < count(ranges); ++i) {
    const fb::Dim2d &at = ranges->Get(i)->loc(), &size = ranges->Get(i)->size();
    const int64_t y = at.y(), x = at.x(), height = size.y(), width = size.x();
    if (y < 0 || x < 0 || height < 1 || width < 1 || y + height > chip.gridRows || x + width > chip.gridColumns)
      place.fail(field, "has " + pair(size) + " cores from (" + std::to_string(y) + ", " + std::to_string(x) + ") on",
                 "cores of the grid of " + pair(chip.gridRows, chip.gridColumns));
    for (int64_t r = y; r < y + height; ++r)
      for (int64_t c = x; c < x + width; ++c) {
        const auto core = static_cast<CoreIndex>(r * chip.gridColumns + c);
        if (seen[core])
          place.fail(field, "has core " + coreText(chip, core) + " twice", "each core once");
        seen[core] = true;
        result.push_back(core);
      }
  }
  if (result.empty())
    place.fail(field, "is empty", "at least one core");
  return result;
}

Buffer BufferChecker::buffer(const fb::BufferRef &ref, const std::string &field) const {
  Buffer buffer;
  buffer.id = ref.global_id();
  const fb::BufferDesc &desc = place.need(ref.desc(), field + ".desc");
  buffer.shape = shape(desc.shape(), field + ".desc.shape");
  buffer.dtype = dataType(desc.data_type(), field + ".desc.data_type");
  if (desc.buffer_detail_type() == fb::BufferDetail::SystemBuffer && desc.buffer_detail()) {
    hostBuffer(desc, buffer, field);
  } else if (desc.buffer_detail_type() == fb::BufferDetail::MetalBuffer && desc.buffer_detail()) {
    buffer.onHost = false;
    deviceBuffer(ref, buffer, field);
  } else {
    place.fail(field + ".desc.buffer_detail", "is missing", "SystemBuffer or MetalBuffer");
  }
  return buffer;
}

void BufferChecker::hostBuffer(const fb::BufferDesc &desc, Buffer &buffer, const std::string &field) const {
  if (sim::isBlockFormat(buffer.dtype))
    place.fail(field + ".desc.data_type", "is " + std::string(toString(buffer.dtype)) + " on the host",
               "a type without shared exponents");
  const auto *stride = desc.buffer_detail_as_SystemBuffer()->stride();
  if (!count(stride))
    return;
  bool rowMajor = stride->size() == buffer.shape.size();
  int64_t expected = 1;
  for (size_t i = buffer.shape.size(); rowMajor && i-- > 0; expected *= std::max<int64_t>(buffer.shape[i], 1))
    rowMajor = buffer.shape[i] <= 1 || stride->Get(static_cast<uint32_t>(i)) == expected;
  if (!rowMajor)
    place.fail(field + ".desc.buffer_detail.stride", "is not that of row-major values", "row-major values");
}

void BufferChecker::deviceBuffer(const fb::BufferRef &ref, Buffer &buffer, const std::string &field) const {
  const fb::BufferDesc &desc = *ref.desc();
  const fb::MetalBuffer &detail = *desc.buffer_detail_as_MetalBuffer();
  if (!isDeviceType(buffer.dtype))
    place.fail(field + ".desc.data_type", "is " + std::string(toString(buffer.dtype)),
               "f32, bf16, si32, u32, u16, u8, bfp_bf8 or bfp_bf4 on the device");
  if (detail.buffer_type() != target::BufferType::L1 && detail.buffer_type() != target::BufferType::DRAM)
    place.fail(field + ".desc.buffer_detail.buffer_type",
               "is " + std::to_string(static_cast<unsigned>(detail.buffer_type())), "0 (dram) or 1 (l1)");
  buffer.inDram = detail.buffer_type() == target::BufferType::DRAM;
  const fb::Dim2d &element = place.need(desc.element_shape(), field + ".desc.element_shape");
  buffer.tiled = element.y() == tileSide && element.x() == tileSide;
  if (!buffer.tiled && (element.y() != 1 || element.x() != 1))
    place.fail(field + ".desc.element_shape", "is " + pair(element), "1x1 or 32x32");
  if (!buffer.tiled && sim::isBlockFormat(buffer.dtype))
    place.fail(field + ".desc.element_shape", "is 1x1 of " + std::string(toString(buffer.dtype)), "32x32");
  shards(place.need(detail.buffer_config(), field + ".desc.buffer_detail.buffer_config"), buffer,
         field + ".desc.buffer_detail.buffer_config");
  uint64_t bytes = shardBytes(buffer);
  if (buffer.inDram)
    return dramBuffer(ref, buffer, bytes, field);
  if (const auto *config = detail.circular_buffer_config()) {
    buffer.ring = ring(*config, buffer, field + ".desc.buffer_detail.circular_buffer_config");
    bytes = std::max(bytes, uint64_t(buffer.ring->pageBytes) * buffer.ring->pages);
  }
  const auto base = static_cast<uint64_t>(chip.l1UnreservedBase), end = static_cast<uint64_t>(chip.l1Size);
  if (ref.address() % static_cast<uint64_t>(chip.l1Alignment) != 0)
    place.fail(field + ".address", "is " + std::to_string(ref.address()),
               "a multiple of " + std::to_string(chip.l1Alignment));
  if (ref.address() < base || ref.address() > end || bytes > end - ref.address())
    place.fail(field + ".address", "is " + std::to_string(ref.address()) + " for " + std::to_string(bytes) + " bytes",
               "a place inside of L1, from " + std::to_string(base) + " to " + std::to_string(end));
  buffer.address = static_cast<uint32_t>(ref.address());
  buffer.bytesPerCore = static_cast<uint32_t>(bytes);
  buffer.bytesPerBank = bytes;
}

void BufferChecker::dramBuffer(const fb::BufferRef &ref, Buffer &buffer, uint64_t bytes,
                               const std::string &field) const {
  if (ref.desc()->buffer_detail_as_MetalBuffer()->circular_buffer_config())
    place.fail(field + ".desc.buffer_detail.circular_buffer_config", "is that of a buffer in DRAM",
               "circular buffers in L1");
  const auto base = static_cast<uint64_t>(chip.dramUnreservedBase), end = static_cast<uint64_t>(chip.dramUnreservedEnd),
             alignment = static_cast<uint64_t>(chip.dramAlignment), channels = static_cast<uint64_t>(chip.dramChannels);
  const uint64_t shard = (bytes + alignment - 1) / alignment * alignment;
  const uint64_t inBank = shard * ((buffer.cores.size() + channels - 1) / channels);
  if (ref.address() % alignment != 0)
    place.fail(field + ".address", "is " + std::to_string(ref.address()), "a multiple of " + std::to_string(alignment));
  if (ref.address() < base || ref.address() > end || inBank > end - ref.address())
    place.fail(field + ".address",
               "is " + std::to_string(ref.address()) + " for " + std::to_string(inBank) + " bytes per channel",
               "a place inside of a channel of DRAM, from " + std::to_string(base) + " to " + std::to_string(end));
  buffer.address = static_cast<uint32_t>(ref.address());
  buffer.bytesPerCore = static_cast<uint32_t>(shard);
  buffer.bytesPerBank = inBank;
}

void BufferChecker::shards(const fb::ShardedBufferConfig &config, Buffer &buffer, const std::string &field) const {
  const auto &specBuffer = place.need(config.shard_spec_buffer(), field + ".shard_spec_buffer");
  const auto &spec = place.need(specBuffer.shard_spec(), field + ".shard_spec_buffer.shard_spec");
  buffer.cores = cores(spec.core_range_set(), field + ".shard_spec.core_range_set");
  const fb::Dim2d &shard = place.need(spec.shard_shape(), field + ".shard_spec.shard_shape");
  buffer.shardRows = shard.y();
  buffer.shardColumns = shard.x();
  const std::string shape = field + ".shard_spec.shard_shape";
  if (shard.y() < 1 || shard.x() < 1 || shard.y() % tileSide || shard.x() % tileSide)
    place.fail(shape, "is " + pair(shard), "multiples of 32x32");
  if (int64_t(shard.y()) * shard.x() > (buffer.inDram ? chip.dramChannelSize : chip.l1Size))
    place.fail(shape, "is " + pair(shard),
               std::string("no more than ") + (buffer.inDram ? "a channel of DRAM" : "the L1 of a core") + " holds");
  // The grid is that of the one range of cores, unless the pages of the whole buffer state another.
  const auto *page = specBuffer.page_shape(), *pages = specBuffer.tensor_shape_in_pages();
  if (page && pages && page->y() > 0 && page->x() > 0 && pages->y() > 0 && pages->x() > 0) {
    const int64_t rows = int64_t(page->y()) * pages->y(), columns = int64_t(page->x()) * pages->x();
    if (rows % shard.y() || columns % shard.x())
      place.fail(field + ".tensor_shape_in_pages", "makes " + pair(rows, columns) + " elements",
                 "a multiple of the shard, " + pair(shard));
    buffer.gridRows = rows / shard.y();
    buffer.gridColumns = columns / shard.x();
  } else if (count(spec.core_range_set()) == 1) {
    buffer.gridRows = spec.core_range_set()->Get(0)->size().y();
    buffer.gridColumns = spec.core_range_set()->Get(0)->size().x();
  } else {
    place.fail(field + ".tensor_shape_in_pages", "is missing", "it where a buffer has several ranges of cores");
  }
  int64_t shards;
  if (__builtin_mul_overflow(buffer.gridRows, buffer.gridColumns, &shards) ||
      shards != static_cast<int64_t>(buffer.cores.size()))
    place.fail(field,
               "has " + pair(buffer.gridRows, buffer.gridColumns) + " shards on " +
                   std::to_string(buffer.cores.size()) + " cores",
               "one shard per core");
  const uint64_t bytes = shardBytes(buffer) * buffer.cores.size();
  if (config.size() != bytes)
    place.fail(field + ".size", "is " + std::to_string(config.size()), std::to_string(bytes) + " for all shards");
}

RingDesc BufferChecker::ring(const fb::CircularBufferConfig &config, const Buffer &buffer,
                             const std::string &field) const {
  RingDesc ring;
  ring.cores =
      count(config.core_range_set()) ? cores(config.core_range_set(), field + ".core_range_set") : buffer.cores;
  const auto l1 = static_cast<uint64_t>(chip.l1Size);
  const uint64_t page = config.page_size(), pages = config.num_buffers();
  if (page == 0 || page > l1 || page % static_cast<uint64_t>(chip.l1Alignment))
    place.fail(field + ".page_size", "is " + std::to_string(page),
               "a multiple of " + std::to_string(chip.l1Alignment) + " that fits in L1");
  if (pages == 0 || pages > l1 / page)
    place.fail(field + ".num_buffers", "is " + std::to_string(pages), "pages that fit in L1");
  if (config.total_size() != page * pages)
    place.fail(field + ".total_size", "is " + std::to_string(config.total_size()),
               std::to_string(page * pages) + " for " + std::to_string(pages) + " pages of " + std::to_string(page));
  ring.pageBytes = static_cast<uint32_t>(page);
  ring.pages = static_cast<uint32_t>(pages);
  return ring;
}

} // namespace tt::metal

//===- blocks.cpp - images in blocks of channels --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/window/blocks.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {

ChannelBlocks::ChannelBlocks(int64_t images, int64_t pixels, int64_t channels, DataType type)
    : images(images), pixels(pixels), channels(channels),
      pixelsTogether(std::clamp<int64_t>(tileElements / channels, 1, 32)), elementBytes(storageBytes(type)) {
  if (type == DataType::Float32)
    return;
  load = loader<float>(type);
  store = storer<float>(type);
}

template <class F> void ChannelBlocks::forEachTile(F f) const {
  const int64_t tiles = (pixels + pixelsTogether - 1) / pixelsTogether;
  parallelFor(images * tiles, 1 + 16384 / (pixelsTogether * channels), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / tiles, first = i % tiles * pixelsTogether;
      f((image * pixels + first) * channels, image * pixels * channels + first * width,
        std::min(pixelsTogether, pixels - first));
    }
  });
}

void ChannelBlocks::into(const std::byte *from, std::byte *blocks) const {
  forEachTile([&](int64_t image, int64_t block, int64_t count) {
    alignas(64) float tile[tileElements];
    const std::byte *values = from + static_cast<size_t>(image) * elementBytes;
    const auto *rows = reinterpret_cast<const float *>(values);
    if (load) {
      load(values, tile, static_cast<size_t>(count * channels));
      rows = tile;
    }
    auto *to = reinterpret_cast<float *>(blocks) + block;
    for (int64_t c = 0; c < channels; c += width, to += pixels * width)
      for (int64_t p = 0; p < count; ++p)
        std::memcpy(to + p * width, rows + p * channels + c, width * sizeof(float));
  });
}

void ChannelBlocks::outOf(const std::byte *blocks, std::byte *to) const {
  forEachTile([&](int64_t image, int64_t block, int64_t count) {
    alignas(64) float tile[tileElements];
    std::byte *values = to + static_cast<size_t>(image) * elementBytes;
    auto *rows = store ? tile : reinterpret_cast<float *>(values);
    const auto *from = reinterpret_cast<const float *>(blocks) + block;
    for (int64_t c = 0; c < channels; c += width, from += pixels * width)
      for (int64_t p = 0; p < count; ++p)
        std::memcpy(rows + p * channels + c, from + p * width, width * sizeof(float));
    if (store)
      store(tile, values, static_cast<size_t>(count * channels));
  });
}

} // namespace tt::ttnn

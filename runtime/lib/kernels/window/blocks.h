//===- blocks.h - images in blocks of channels ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/storage.h"

namespace tt::ttnn {

/// Images [N, pixels, C] as f32 in blocks of 8 channels, [N, C / 8, pixels, 8], and back, with all threads.
class ChannelBlocks {
public:
  static constexpr int64_t width = 8, mostChannels = 4096;

  ChannelBlocks() = default;
  /// type: of the images, f32 or bf16. channels: a multiple of `width`, and `mostChannels` at most.
  ChannelBlocks(int64_t images, int64_t pixels, int64_t channels, DataType type);
  /// Of all images, as they lie and in blocks.
  size_t imageBytes() const { return elements() * elementBytes; }
  size_t blockBytes() const { return elements() * sizeof(float); }
  void into(const std::byte *images, std::byte *blocks) const;
  void outOf(const std::byte *blocks, std::byte *images) const;

private:
  static constexpr int64_t tileElements = mostChannels;

  size_t elements() const { return static_cast<size_t>(images * pixels * channels); }
  /// Calls f(first element of the images, of the blocks, pixels) for tiles of pixels: what they fill of the blocks and
  /// what they have of the images stay in the first-level cache both.
  template <class F> void forEachTile(F f) const;

  int64_t images = 0, pixels = 0, channels = 0, pixelsTogether = 1;
  size_t elementBytes = 0;
  Load<float> load = nullptr; // of what is not f32
  Store<float> store = nullptr;
};

} // namespace tt::ttnn

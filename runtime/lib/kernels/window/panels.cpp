//===- panels.cpp - convolutions in panels of our own -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A convolution is a product of matrices whose left rows are the windows. What
// a window has of one line of an image lies together, so that in images with their
// padding the rows are read where they are, one line of the window after the other.
//
//===----------------------------------------------------------------------===//

#include "core/panels/panels.h"
#include "core/library.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/elementwise/sums.h"
#include "kernels/window/convolution.h"
#include "kernels/window/images.h"
#include "tt/parallel.h"
#include "tt/units.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::Unit;

constexpr auto floatBytes = static_cast<int64_t>(sizeof(float));

class PanelConvolution final : public Kernel {
public:
  PanelConvolution(const OpCall &call, const Convolution &c, DataType produced, const std::string &activation)
      : channels(c.window.channels), out(c.out), taps(c.window.area()), panelCount(ceilDivide(out, width)),
        finish(unit, produced, activation), producedBytes(static_cast<int64_t>(storageBytes(produced))) {
    placeImages(operand(call, 0).dtype, c.window);
    cut(c.window);
    if ((biased = optionalOperand(call, 2) != nullptr))
      bias = library::Packed(call, 2, DataType::Float32, layout);
    placeWeights(call); // nothing can fail any more
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 || (operand == 1 ? !packed : operand == 2 && bias.reads());
  }

  void run(const Buffers &buffers) const override {
    Values now{nullptr, packed.data(), nullptr, buffers.outs[0]};
    if (!packed) {
      pack(weights.get(buffers.ins[1], buffers.scratch), 0, panelCount, buffers.scratch + packedPlace);
      now.weights = buffers.scratch + packedPlace;
    }
    if (biased)
      now.bias = reinterpret_cast<const float *>(bias.get(buffers.ins[2], buffers.scratch));
    const std::byte *given = buffers.ins[0];
    const int64_t items = blocks * panelCount;
    for (int64_t piece = 0; piece < pieces; ++piece, given += givenBytes, now.result += rowsOfPiece * resultRow()) {
      now.images = given;
      if (images) {
        images->run(given, buffers.scratch + imagesPlace);
        now.images = buffers.scratch + imagesPlace;
      }
      parallelFor(slots, 1, [&](int64_t begin, int64_t end) {
        const panels::Session session(unit, rowsOfPiece);
        for (int64_t s = begin; s < end; ++s) {
          std::byte *scratch = buffers.scratch + slotPlace + static_cast<size_t>(s) * perSlot;
          for (int64_t i = items * s / slots; i < items * (s + 1) / slots; ++i)
            block(session, now, i / panelCount, i % panelCount, scratch);
        }
      });
    }
  }

private:
  static constexpr Unit unit = Unit::F32;
  static constexpr int64_t width = panels::width(unit), step = panels::blockRows(unit), mostRows = 42 * step;

  struct Values {
    const std::byte *images;  // as f32, with their padding
    const std::byte *weights; // as panels
    const float *bias;
    std::byte *result;
  };

  int64_t resultRow() const { return out * producedBytes; }

  /// Some images at a time, so that their copies stay in cache: a divisor of the batch.
  void placeImages(DataType type, Window window) {
    constexpr int64_t cacheBytes = 1 << 20;
    bool copied = type != DataType::Float32;
    imageBytes = channels * floatBytes;
    for (const Axis &a : window.axes) {
      imageBytes *= a.size + a.low + a.high;
      copied |= a.low > 0 || a.high > 0;
    }
    int64_t together = std::clamp<int64_t>(cacheBytes / imageBytes, 1, window.batch);
    while (window.batch % together != 0)
      --together;
    pieces = window.batch / together;
    window.batch = together;
    givenBytes = window.sources() * channels * static_cast<int64_t>(storageBytes(type));
    rowsOfPiece = window.positions();
    if (!copied)
      return;
    images.emplace(window, /*repeatsEdges=*/false, type, DataType::Float32);
    imagesPlace = layout.take(static_cast<size_t>(together * imageBytes));
  }

  /// Where windows and their lines begin, and how the work is divided. The sums of a value of the result are made in
  /// the same order whatever that is.
  void cut(const Window &window) {
    constexpr int64_t mostDepth = 192; // of a chunk of a panel, which has 48 KB
    axes = window.axes;
    pitches.resize(axes.size());
    int64_t pitch = channels * floatBytes;
    for (size_t d = axes.size(); d-- > 0; pitch *= axes[d].size + axes[d].low + axes[d].high)
      pitches[d] = pitch;

    const size_t apart = axes.size() - (axes.back().dilation == 1 ? 1 : 0); // axes along which there are gaps
    line = apart < axes.size() ? axes.back().kernel * channels : channels;
    if (apart > 0) {
      parts = axes[apart - 1].kernel;
      partBytes = axes[apart - 1].dilation * pitches[apart - 1];
    }
    for (size_t d = 0; d + 1 < apart; ++d) {
      std::vector<int64_t> all;
      for (int64_t start : starts)
        for (int64_t i = 0; i < axes[d].kernel; ++i)
          all.push_back(start + i * axes[d].dilation * pitches[d]);
      starts = std::move(all);
    }
    depthPerChunk = ceilDivide(line, ceilDivide(line, mostDepth));
    partsPerChunk = std::clamp<int64_t>(mostDepth / line, 1, parts);

    steps = ceilDivide(rowsOfPiece, step);
    blocks = ceilDivide(steps, mostRows / step);
    // Many blocks, or as many for each thread.
    slots = std::min<int64_t>(threads(), steps * panelCount);
    while (blocks < steps && blocks * panelCount < 8 * slots && blocks * panelCount % slots != 0)
      ++blocks;
    slots = std::min(slots, blocks * panelCount);
    sumsPlace = slot.take(static_cast<size_t>(ceilDivide(steps, blocks) * step * width * floatBytes));
    perSlot = slot.bytes();
    slotPlace = layout.take(static_cast<size_t>(slots) * perSlot);
  }

  /// Where the windows of rows of the result begin among the images.
  void locate(int64_t row, std::span<int64_t> offsets) const {
    const Axis &along = axes.back();
    int64_t x = row % along.out;
    for (size_t i = 0; i < offsets.size(); x = 0) {
      int64_t rest = (row + static_cast<int64_t>(i)) / along.out, from = 0;
      for (size_t d = axes.size() - 1; d-- > 0; rest /= axes[d].out)
        from += rest % axes[d].out * axes[d].stride * pitches[d];
      from += rest * imageBytes;
      for (; x < along.out && i < offsets.size(); ++x, ++i)
        offsets[i] = from + x * along.stride * pitches.back();
    }
  }

  void placeWeights(const OpCall &call) {
    narrow = storageType(operand(call, 1).dtype) == StorageType::BF16;
    weights = library::Packed(call, 1, narrow ? DataType::BFloat16 : DataType::Float32, layout);
    weightBytes = narrow ? panels::elementBytes(Unit::BF16) : panels::elementBytes(unit);
    rowBytes = width * weightBytes;
    panelBytes = taps * channels * rowBytes;
    const auto all = static_cast<size_t>(panelCount * panelBytes);
    const std::byte *constant = library::constantOperand(call, 1), *values = weights.constantValues();
    if (!constant) {
      packedPlace = layout.take(all);
      return;
    }
    const ConstantStore::Form form = {-1, narrow, out, channels, taps};
    if (call.constants)
      packed = library::AlignedBytes(call.constants->sharedForm(constant, form));
    if (!packed) {
      packed = library::AlignedBytes(all);
      // What has been packed is let go: both forms of all the weights need not be there at once.
      const ConstantStore *store = weights.storeOf(call.constants);
      const int64_t filterBytes = channels * taps * weightBytes;
      const int64_t atOnce = std::max<int64_t>(1, (int64_t(1) << 22) / (width * filterBytes));
      for (int64_t panel = 0; panel < panelCount; panel += atOnce) {
        const int64_t last = std::min(panelCount, panel + atOnce);
        pack(values, panel, last, packed.data());
        if (store)
          store->release({values, static_cast<size_t>(std::min(last * width, out) * filterBytes)});
      }
      if (call.constants)
        call.constants->shareForm(constant, form, packed.share());
    }
    weights.discard();
  }

  /// Weights [O, I, window...] as panels [first, last), whose rows are [window..., I], by all threads.
  void pack(const std::byte *values, int64_t first, int64_t last, std::byte *to) const {
    constexpr int64_t atOnce = 128;
    const int64_t depth = channels * taps, pieces = ceilDivide(depth, atOnce);
    parallelFor((last - first) * pieces, 2, [&](int64_t begin, int64_t end) {
      alignas(64) std::byte rows[atOnce * width * floatBytes];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t panel = first + i / pieces, row = i % pieces * atOnce, count = std::min(atOnce, depth - row);
        const std::byte *from = values + (panel * width * depth + row) * weightBytes;
        const int64_t columns = std::min(width, out - panel * width);
        if (narrow)
          panels::packNarrow(from, {1, depth}, count, columns, rows, panelBytes);
        else
          panels::pack(unit, from, {1, depth}, count, columns, rows, panelBytes);
        std::byte *target = to + panel * panelBytes;
        for (int64_t r = 0; r < count; ++r)
          std::memcpy(target + ((row + r) % taps * channels + (row + r) / taps) * rowBytes, rows + r * rowBytes,
                      static_cast<size_t>(rowBytes));
      }
    });
  }

  /// Some rows of the result, in the columns of a panel.
  void block(const panels::Session &session, const Values &now, int64_t index, int64_t panel,
             std::byte *scratch) const {
    constexpr int64_t ahead = 49152; // bytes
    auto *sums = reinterpret_cast<float *>(scratch + sumsPlace);
    const int64_t firstStep = steps * index / blocks, count = steps * (index + 1) / blocks - firstStep;
    const int64_t firstRow = firstStep * step, rows = std::min(count * step, rowsOfPiece - firstRow);
    const int64_t columns = std::min(width, out - panel * width);
    int64_t offsets[mostRows];
    locate(firstRow, {offsets, static_cast<size_t>(rows)});
    panels::Block work{};
    work.columns = columns;
    work.narrow = narrow;
    const std::byte *chunk = now.weights + panel * panelBytes;
    work.partBytes = partBytes;
    for (int64_t start : starts)
      for (int64_t part = 0; part < parts; part += work.parts)
        for (int64_t from = 0; from < line; from += work.k) {
          work.parts = std::min(partsPerChunk, parts - part);
          work.k = std::min(depthPerChunk, line - from);
          const int64_t chunkRows = work.parts * work.k;
          work.panel = chunk;
          work.next = chunk + ahead;
          work.nextBytes = ceilDivide(chunkRows * rowBytes, count * 64) * 64;
          work.a = now.images + start + part * partBytes + from * floatBytes;
          chunk += chunkRows * rowBytes;
          const bool last = chunk == now.weights + (panel + 1) * panelBytes;
          for (int64_t at = 0; at < rows; at += step, work.next += work.nextBytes) {
            work.offsets = offsets + at;
            work.rows = std::min(step, rows - at);
            work.c = sums + at * width;
            session.multiply(work);
            if (last)
              finish(work.c, now.bias ? now.bias + panel * width : nullptr, work.rows, columns,
                     now.result + (firstRow + at) * resultRow() + panel * width * producedBytes, resultRow());
          }
          work.accumulate = true;
        }
  }

  int64_t channels, out, taps;
  int64_t panelCount;
  SumsFinish finish;
  int64_t producedBytes;
  ScratchLayout layout, slot;
  std::optional<BorderedImages> images; // where they are copied
  size_t imagesPlace = 0;
  int64_t pieces, givenBytes, rowsOfPiece; // of the batch, one after the other
  std::vector<Axis> axes;
  std::vector<int64_t> pitches; // from one element along an axis to the next, in bytes
  int64_t imageBytes;
  // A window is lines of values that lie together. Some follow each other as parts; where the first of these begin.
  std::vector<int64_t> starts = {0};
  int64_t line, parts = 1, partBytes = 0;
  int64_t depthPerChunk, partsPerChunk; // that are multiplied at a time
  int64_t steps, blocks, slots;
  size_t sumsPlace, perSlot, slotPlace;
  bool biased, narrow;
  library::Packed weights, bias;
  int64_t weightBytes;          // of a value
  int64_t rowBytes, panelBytes; // of a row of a panel, and of a panel
  library::AlignedBytes packed; // constants
  size_t packedPlace = 0;       // of others
};

/// Where panels are the faster way: with AVX2, for windows of more than one pixel and not too few channels. The kernel
/// library does what is left over.
bool suits(const OpCall &call, const Convolution &c) {
  constexpr int64_t fewValues = 48; // of a line of a window that lie together
  constexpr double mostPadding = 16, anyway = 1 << 20;
  const Axis &along = c.window.axes.back();
  // In doubles: padding may be anything that an attribute holds.
  double given = static_cast<double>(c.window.channels) * floatBytes, padded = given;
  for (const Axis &a : c.window.axes) {
    given *= static_cast<double>(a.size);
    padded *= static_cast<double>(a.size) + static_cast<double>(a.low) + static_cast<double>(a.high);
  }
  return units() == Units::AVX2 && !c.transposed && c.groups == 1 && c.window.area() > 1 && c.out >= 16 &&
         c.window.channels * (along.dilation == 1 ? along.kernel : 1) >= fewValues &&
         volume(operand(call, 0).shape) > 0 && padded <= mostPadding * given + anyway;
}

} // namespace

std::unique_ptr<Kernel> makePanelConvolution(const OpCall &call, const Convolution &c) {
  if (!suits(call, c))
    return nullptr;
  const DataType produced = result(call).dtype == DataType::BFloat16 ? DataType::BFloat16 : DataType::Float32;
  return withEpilogue(call, std::make_unique<PanelConvolution>(call, c, produced, activationOf(call)), produced, {});
}

} // namespace tt::ttnn

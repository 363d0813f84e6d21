//===- pixels.cpp - convolutions of few values in bf16 ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Windows of one pixel, or of lines of few values, without products of bf16: some pixels are widened into cache, and
// multiplied with all weights before the next ones (`core/panels/pixels.h`).
//
//===----------------------------------------------------------------------===//

#include "core/panels/pixels.h"
#include "core/library.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/elementwise/residual.h"
#include "kernels/window/convolution.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/units.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::pixelColumns;

class PixelConvolution final : public Kernel, public AddsResidual {
public:
  PixelConvolution(const OpCall &call, const Convolution &c, std::string_view activation)
      : channels(c.window.channels), out(c.out), taps(c.window.area()), across(c.window.axes.back()),
        panelCount(ceilDivide(out, pixelColumns)), panelBytes(taps * channels * pixelColumns * 2),
        relu(!activation.empty()), relu6(activation == "relu6"), biased(optionalOperand(call, 2) != nullptr) {
    if (c.window.axes.size() == 2)
      down = c.window.axes.front();
    else if (c.window.axes.size() > 2) // one pixel with stride 1
      across.size = across.out = c.window.positions() / c.window.batch;
    divide(c.window.batch);
    if (biased) {
      bias = library::Packed(call, 2, DataType::Float32, layout);
      biasPlace = layout.take(static_cast<size_t>(panelCount * pixelColumns) * sizeof(float));
    }
    placeWeights(call); // nothing can fail any more
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 || (operand == 1 ? !packed : operand == 2 && bias.reads());
  }
  bool addsResidual(DataType type) const override { return type == DataType::BFloat16; }

  void run(const Buffers &buffers) const override { runAdding(buffers, {}); }

  void runAdding(const Buffers &buffers, const Residual &residual) const override {
    const std::byte *weights = packed.data();
    if (!packed) {
      pack(this->weights.get(buffers.ins[1], buffers.scratch), 0, panelCount, buffers.scratch + packedPlace);
      weights = buffers.scratch + packedPlace;
    }
    if (biased)
      orderBias(reinterpret_cast<const float *>(bias.get(buffers.ins[2], buffers.scratch)),
                reinterpret_cast<float *>(buffers.scratch + biasPlace));
    parallelRuns(pieces * columnParts, 1, slots, [&](int64_t s, Runs &runs) {
      std::byte *scratch = buffers.scratch + slotPlace + static_cast<size_t>(s) * perSlot;
      panels::PixelBlock block{};
      block.a = reinterpret_cast<float *>(scratch + pixelsPlace);
      block.copy = reinterpret_cast<float *>(scratch + copyPlace);
      block.sums = reinterpret_cast<float *>(scratch + sumsPlace);
      block.relu = relu;
      block.relu6 = relu6;
      block.reluOfSum = residual.relu;
      block.rowBytes = out * 2;
      for (ItemRange run; runs.take(run);)
        for (int64_t i = run.begin; i < run.end; ++i) {
          const int64_t part = i / columnParts, column = i % columnParts;
          const int64_t firstPanel = panelCount * column / columnParts;
          const int64_t lastPanel = panelCount * (column + 1) / columnParts;
          block.weights = weights + firstPanel * panelBytes;
          block.columns = std::min(out, lastPanel * pixelColumns) - firstPanel * pixelColumns;
          if (biased)
            block.bias = reinterpret_cast<const float *>(buffers.scratch + biasPlace) + firstPanel * pixelColumns;
          piece(buffers, residual, units * part / pieces, units * (part + 1) / pieces, firstPanel,
                reinterpret_cast<float *>(scratch + pixelsPlace), block);
        }
    });
  }

private:
  static constexpr int64_t mostRows = 252;

  bool onePixel() const { return taps == 1; }

  /// Units of the work are steps of a few results, or lines of results.
  void divide(int64_t batch) {
    constexpr int64_t step = 6, fewRows = 16, cacheBytes = 96 << 10;
    lineValues = (across.size + across.low + across.high) * channels;
    results = batch * down.out * across.out;
    rowsOfUnit = onePixel() ? step : across.out;
    units = onePixel() ? ceilDivide(results, step) : batch * down.out;
    const int64_t depth = taps * channels;
    if (onePixel()) {
      pitch = channels % 512 == 0 ? channels + 16 : channels;
      unitsAtOnce = std::clamp<int64_t>(cacheBytes / (pitch * 4) / step, 4, mostRows / step);
    } else {
      unitsAtOnce = std::clamp<int64_t>(mostRows / across.out, 1, down.out);
    }
    const int64_t rowParts = std::clamp<int64_t>(results / fewRows, 1, std::min<int64_t>(units, threads()));
    columnParts = std::clamp<int64_t>(threads() / rowParts, 1, panelCount);
    pieces = ceilDivide(ceilDivide(units, rowParts), unitsAtOnce) * rowParts;
    slots = rowParts * columnParts;
    const int64_t mostResults = std::min(unitsAtOnce * rowsOfUnit, results);
    const int64_t values = onePixel() ? mostResults * pitch : linesOf(unitsAtOnce) * lineValues;
    offsetsPlace = slot.take(static_cast<size_t>(mostResults) * sizeof(int64_t));
    pixelsPlace = slot.take(static_cast<size_t>(values) * sizeof(float));
    copyPlace = slot.take(static_cast<size_t>(panels::pixelCopyBytes));
    sumsPlace =
        slot.take(depth > panels::pixelDepth ? static_cast<size_t>(mostResults * pixelColumns) * sizeof(float) : 0);
    perSlot = slot.bytes();
    slotPlace = layout.take(static_cast<size_t>(slots) * perSlot);
  }

  /// Lines of an image under the windows of some lines of results.
  int64_t linesOf(int64_t resultLines) const { return (resultLines - 1) * down.stride + down.kernel; }

  /// Units [first, last).
  void piece(const Buffers &buffers, const Residual &residual, int64_t first, int64_t last, int64_t firstPanel,
             float *pixels, panels::PixelBlock &block) const {
    if (onePixel())
      return some(buffers, residual, first * rowsOfUnit, std::min(last * rowsOfUnit, results), firstPanel, pixels,
                  block);
    // Lines of one image at a time.
    for (int64_t line = first, end; line < last; line = end) {
      end = std::min(last, (line / down.out + 1) * down.out);
      some(buffers, residual, line * across.out, end * across.out, firstPanel, pixels, block);
    }
  }

  /// Results [first, last).
  void some(const Buffers &buffers, const Residual &residual, int64_t first, int64_t last, int64_t firstPanel,
            float *pixels, panels::PixelBlock &block) const {
    auto *offsets = reinterpret_cast<int64_t *>(reinterpret_cast<std::byte *>(pixels) - pixelsPlace + offsetsPlace);
    if (onePixel())
      widenPixels(buffers.ins[0], first, last, pixels, offsets);
    else
      widenLines(buffers.ins[0], first, last, pixels, offsets);
    block.offsets = offsets;
    block.rows = last - first;
    block.parts = onePixel() ? 1 : down.kernel;
    block.k = onePixel() ? channels : across.kernel * channels;
    block.nextPart = lineValues;
    const int64_t place = (first * out + firstPanel * pixelColumns) * 2;
    block.to = buffers.outs[0] + place;
    block.added = residual.from(place).values;
    panels::multiplyPixels(block);
  }

  void widenPixels(const std::byte *image, int64_t first, int64_t last, float *to, int64_t *offsets) const {
    for (int64_t i = 0; i < last - first; ++i)
      offsets[i] = i * pitch;
    const bool adjacent = across.stride == 1 && down.stride == 1;
    if (adjacent && pitch == channels)
      return load(image + first * channels * 2, to, static_cast<size_t>((last - first) * channels));
    int64_t x = first % across.out, y = first / across.out;
    for (int64_t i = first; i < last; ++i, to += pitch) {
      const int64_t line = y / down.out * down.size + y % down.out * down.stride;
      load(image + (line * across.size + x * across.stride) * channels * 2, to, static_cast<size_t>(channels));
      if (++x == across.out)
        x = 0, ++y;
    }
  }

  /// Lines with their borders, of windows of whole lines of results.
  void widenLines(const std::byte *images, int64_t first, int64_t last, float *to, int64_t *offsets) const {
    const int64_t line = first / across.out, count = last / across.out - line;
    for (int64_t y = 0; y < count; ++y)
      for (int64_t x = 0; x < across.out; ++x)
        *offsets++ = y * down.stride * lineValues + x * across.stride * channels;
    const int64_t image = line / down.out, top = line % down.out * down.stride - down.low;
    const auto inside = static_cast<size_t>(across.size * channels),
               before = static_cast<size_t>(across.low * channels),
               behind = static_cast<size_t>(across.high * channels);
    for (int64_t y = top; y < top + linesOf(count); ++y, to += lineValues) {
      if (y < 0 || y >= down.size) {
        std::memset(to, 0, static_cast<size_t>(lineValues) * sizeof(float));
        continue;
      }
      std::fill_n(to, before, 0.0f);
      load(images + (image * down.size + y) * across.size * channels * 2, to + before, inside);
      std::fill_n(to + before + inside, behind, 0.0f);
    }
  }

  /// The bias of each panel, even columns first.
  void orderBias(const float *from, float *to) const {
    for (int64_t i = 0; i < panelCount * pixelColumns; ++i) {
      const int64_t lane = i % pixelColumns, column = i - lane + lane % 8 * 2 + lane / 8;
      to[i] = column < out ? from[column] : 0.0f;
    }
  }

  void placeWeights(const OpCall &call) {
    weights = library::Packed(call, 1, DataType::BFloat16, layout);
    const auto all = static_cast<size_t>(panelCount * panelBytes);
    const std::byte *constant = library::constantOperand(call, 1), *values = weights.constantValues();
    if (!constant) {
      packedPlace = layout.take(all);
      return;
    }
    const ConstantStore::Form form = library::formOf(
        library::FormOf::ConvolutionPanels, storageType(operand(call, 1).dtype), {pixelColumns, out, channels, taps});
    if (call.constants)
      packed = library::AlignedBytes(call.constants->sharedForm(constant, form));
    if (!packed) {
      packed = library::AlignedBytes(all);
      // Packed values are released: both forms of all the weights need not exist at once.
      const ConstantStore *store = weights.storeOf(call.constants);
      const int64_t filterBytes = channels * taps * 2;
      const int64_t atOnce = std::max<int64_t>(1, (int64_t(1) << 22) / panelBytes);
      for (int64_t panel = 0; panel < panelCount; panel += atOnce) {
        const int64_t last = std::min(panelCount, panel + atOnce);
        pack(values, panel, last, packed.data());
        if (store)
          store->release({values, static_cast<size_t>(std::min(last * pixelColumns, out) * filterBytes)});
      }
      if (call.constants)
        call.constants->shareForm(constant, form, packed.share());
    }
    weights.discard();
  }

  /// Weights [O, I, window...] as panels [first, last), whose rows are [window..., I], on all threads.
  void pack(const std::byte *values, int64_t first, int64_t last, std::byte *to) const {
    const int64_t depth = taps * channels;
    parallelFor(last - first, 1 + 65536 / panelBytes, [&](int64_t begin, int64_t end) {
      for (int64_t panel = first + begin; panel < first + end; ++panel)
        for (int64_t tap = 0; tap < taps; ++tap)
          panels::packPixelWeights(values + (panel * pixelColumns * depth + tap) * 2, {taps, depth}, channels,
                                   std::min(pixelColumns, out - panel * pixelColumns),
                                   to + panel * panelBytes + tap * channels * pixelColumns * 2, panelBytes);
    });
  }

  int64_t channels, out, taps;
  Axis down{1, 1, 1, 1, 0, 0, 1}, across; // of sequences, the first has one element
  int64_t panelCount, panelBytes;
  bool relu, relu6, biased;
  int64_t pitch = 0;  // values from one widened pixel to the next, of windows of one
  int64_t lineValues; // of a widened line with its border
  int64_t results;    // of all images
  int64_t units, rowsOfUnit, unitsAtOnce;
  int64_t pieces, columnParts; // of the units, and of the panels
  int64_t slots;
  ScratchLayout layout, slot;
  size_t offsetsPlace, pixelsPlace, copyPlace, sumsPlace, perSlot, slotPlace;
  Load<float> load = loader<float>(DataType::BFloat16);
  library::Packed weights, bias;
  size_t biasPlace = 0;
  library::AlignedBytes packed; // constants
  size_t packedPlace = 0;       // of others
};

/// One pixel, without padding; or few values of lines that lie together.
bool suits(const OpCall &call, const Convolution &c) {
  constexpr int64_t fewValues = 48; // of a line: of more, panels are as fast (panels.cpp)
  const std::vector<Axis> &axes = c.window.axes;
  const auto isBf16 = [&](DataType type) { return type == DataType::BFloat16; };
  if (units() != Units::AVX2 || !isBf16(operand(call, 0).dtype) || !isBf16(result(call).dtype) ||
      storageType(operand(call, 1).dtype) != StorageType::BF16 || c.transposed || c.groups != 1 ||
      volume(operand(call, 0).shape) == 0)
    return false;
  // Parts of panels take as long as whole ones, and a few pixels wait for each sum.
  constexpr int64_t fewPixels = 4;
  if (4 * c.out < 3 * pixelColumns * ceilDivide(c.out, pixelColumns) || c.window.positions() < fewPixels)
    return false;
  const auto all = [&](auto condition) { return std::ranges::all_of(axes, condition); };
  if (c.window.area() == 1)
    return all([](const Axis &a) { return a.low == 0 && a.high == 0; }) &&
           (axes.size() <= 2 || all([](const Axis &a) { return a.stride == 1; }));
  // Lines that no window reads would be widened as well.
  return axes.size() <= 2 && all([](const Axis &a) { return a.dilation == 1 && a.stride <= a.kernel; }) &&
         c.window.channels * axes.back().kernel < fewValues &&
         c.window.channels * c.window.area() <= panels::pixelDepth;
}

} // namespace

std::unique_ptr<Kernel> makePixelConvolution(const OpCall &call, const Convolution &c) {
  if (!suits(call, c))
    return nullptr;
  const std::string activation = activationOf(call);
  if (!activation.empty() && activation != "relu" && activation != "relu6")
    return nullptr;
  return withEpilogue(call, std::make_unique<PixelConvolution>(call, c, activation), DataType::BFloat16, {});
}

} // namespace tt::ttnn

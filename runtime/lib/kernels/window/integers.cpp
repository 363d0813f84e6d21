//===- integers.cpp - convolutions of integers ----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Sums of products modulo 2^32, over one to three dimensions, transposed or not. Each result gathers the elements under
// its window: for a transposed convolution, the elements whose windows cover it.
//
//===----------------------------------------------------------------------===//

#include "core/library.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/window/convolution.h"
#include "tensor/storage.h"
#include "tt/parallel.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tt::ttnn {
namespace {

using Word = uint32_t;

// Results that are summed in registers: pixels by columns.
constexpr int64_t pixelsAtOnce = 4, narrow = 8;
#if defined(__AVX512F__)
constexpr int64_t wide = 32;
#else
constexpr int64_t wide = 16;
#endif

template <int64_t width> using Vector = Word __attribute__((vector_size(width * sizeof(Word))));
template <int64_t width> [[gnu::always_inline]] inline Vector<width> read(const Word *from) {
  Vector<width> values;
  std::memcpy(&values, from, sizeof(values));
  return values;
}

/// Values of any integer type as words; words stay in place.
class Words {
public:
  Words(const TensorSpec &spec, ScratchLayout &layout)
      : type(spec.dtype), count(static_cast<size_t>(volume(spec.shape))),
        place(isWord() ? 0 : layout.take(count * sizeof(Word))) {}

  const Word *get(const std::byte *from, std::byte *scratch) const {
    if (isWord())
      return reinterpret_cast<const Word *>(from);
    auto *to = reinterpret_cast<Word *>(scratch + place);
    const size_t bytes = storageBytes(type);
    parallelFor(static_cast<int64_t>(count), 1 << 14, [&](int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin);
      read(from + first * bytes, to + first, static_cast<size_t>(end - begin));
    });
    return to;
  }
  /// Loads `n` values.
  void read(const std::byte *from, Word *to, size_t n) const {
    std::array<int64_t, 256> values;
    const size_t bytes = storageBytes(type);
    for (size_t i = 0; i < n; i += values.size()) {
      const size_t part = std::min(values.size(), n - i);
      load(from + i * bytes, values.data(), part);
      std::copy_n(values.begin(), part, to + i);
    }
  }

private:
  bool isWord() const { return type == DataType::Int32 || type == DataType::UInt32; }
  DataType type;
  size_t count, place;
  Load<int64_t> load = loader<int64_t>(type);
};

class IntegerConvolution final : public Kernel {
public:
  IntegerConvolution(const OpCall &call, Convolution given, DataType produced)
      : c(std::move(given)), images(operand(call, 0), layout), weights(operand(call, 1), layout),
        isDepthwise(c.groups > 1 && c.groups == c.window.channels && c.groups == c.out), produced(produced),
        store(storer<int64_t>(produced)) {
    area = c.window.area();
    groups = isDepthwise ? 1 : c.groups;
    depth = isDepthwise ? 1 : c.window.channels / groups;
    outs = c.out / groups;
    columns = (outs + narrow - 1) / narrow * narrow;
    const auto bytes = static_cast<size_t>(groups * area * depth * columns) * sizeof(Word);
    if (const TensorSpec *spec = optionalOperand(call, 2))
      bias.emplace(*spec, layout);
    if (const std::byte *constant = library::constantOperand(call, 1)) {
      ordered = library::AlignedBytes(bytes);
      std::vector<Word> values(static_cast<size_t>(volume(operand(call, 1).shape)));
      weights.read(constant, values.data(), values.size());
      order(values.data(), reinterpret_cast<Word *>(ordered.data()));
    } else {
      orderedPlace = layout.take(bytes);
    }
    // Elements outside of an image are read as these.
    zeros.resize(static_cast<size_t>(isDepthwise ? columns : depth));
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override { return operand != 1 || !ordered; }

  void run(const Buffers &buffers) const override {
    auto *filter = reinterpret_cast<const Word *>(ordered.data());
    if (!ordered) {
      auto *to = reinterpret_cast<Word *>(buffers.scratch + orderedPlace);
      order(weights.get(buffers.ins[1], buffers.scratch), to);
      filter = to;
    }
    const Values now{images.get(buffers.ins[0], buffers.scratch), filter,
                     bias ? bias->get(buffers.ins[2], buffers.scratch) : nullptr, buffers.outs[0]};
    const Axis &across = c.window.axes.back();
    const int64_t lines = c.window.positions() / across.out;
    const int64_t work = across.out * area * depth * groups * columns;
    parallelFor(lines, 1 + 65536 / std::max<int64_t>(1, work), [&](int64_t begin, int64_t end) {
      std::vector<Place> places;
      for (int64_t line = begin; line < end; ++line) {
        findPlaces(line, places);
        for (int64_t group = 0; group < groups; ++group)
          convolveLine(now, line, group, places);
      }
    });
  }

private:
  struct Values {
    const Word *images, *weights, *bias; // bias: or none
    std::byte *result;
  };
  /// A line of an image under one position of the outer dimensions of the window.
  struct Place {
    int64_t pixel, tap; // of the line's first pixel, and of the first tap on it
  };

  /// Weights as [groups, window, depth, columns], with zeros in columns beyond the results.
  void order(const Word *from, Word *to) const {
    std::memset(to, 0, static_cast<size_t>(groups * area * depth * columns) * sizeof(Word));
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t o = 0; o < outs; ++o)
        for (int64_t i = 0; i < depth; ++i) {
          const int64_t row = c.transposed && !isDepthwise ? (g * depth + i) * outs + o : (g * outs + o) * depth + i;
          for (int64_t t = 0; t < area; ++t)
            to[((g * area + t) * depth + i) * columns + o] = from[row * area + t];
        }
  }

  /// Returns the element of an axis under a tap of the window at a position of the result; -1 for none.
  int64_t under(const Axis &axis, int64_t place, int64_t tap) const {
    int64_t at =
        c.transposed ? place + axis.low - tap * axis.dilation : place * axis.stride - axis.low + tap * axis.dilation;
    if (c.transposed) {
      if (at < 0 || at % axis.stride != 0)
        return -1;
      at /= axis.stride;
    }
    return at >= 0 && at < axis.size ? at : -1;
  }

  void findPlaces(int64_t line, std::vector<Place> &places) const {
    const auto &axes = c.window.axes;
    places.assign(1, {0, 0});
    int64_t at[3] = {}, rest = line;
    for (size_t d = axes.size() - 1; d-- > 0; rest /= axes[d].out)
      at[d] = rest % axes[d].out;
    places[0].pixel = rest;
    std::vector<Place> next;
    for (size_t d = 0; d < axes.size(); ++d) {
      next.clear();
      const bool isLast = d + 1 == axes.size();
      for (const Place &place : places)
        for (int64_t tap = 0; tap < (isLast ? 1 : axes[d].kernel); ++tap) {
          const int64_t element = isLast ? 0 : under(axes[d], at[d], tap);
          if (element >= 0)
            next.push_back({place.pixel * axes[d].size + element, place.tap * axes[d].kernel + tap});
        }
      places.swap(next);
    }
  }

  void convolveLine(const Values &now, int64_t line, int64_t group, const std::vector<Place> &places) const {
    const Axis &across = c.window.axes.back();
    // Results with equally placed windows of a transposed convolution are one stride apart.
    const int64_t step = c.transposed ? across.stride : 1;
    for (int64_t phase = 0; phase < std::min(step, across.out); ++phase)
      for (int64_t x = phase; x < across.out; x += step * pixelsAtOnce) {
        const int64_t pixels = std::min(pixelsAtOnce, (across.out - x + step - 1) / step);
        int64_t column = 0;
        for (; column + wide <= columns; column += wide)
          block<wide>(now, line, group, places, {x, step, pixels, column});
        for (; column < columns; column += narrow)
          block<narrow>(now, line, group, places, {x, step, pixels, column});
      }
  }

  struct Part {
    int64_t x, step, pixels, column;
  };

  /// The sums of some pixels of a line in `width` columns.
  template <int64_t width>
  void block(const Values &now, int64_t line, int64_t group, const std::vector<Place> &places, const Part &part) const {
    const Axis &across = c.window.axes.back();
    Vector<width> sums[pixelsAtOnce] = {};
    const int64_t first = isDepthwise ? part.column : group * depth; // channel
    const int64_t count = std::min(width, outs - part.column), out = group * outs + part.column;
    for (const Place &place : places)
      for (int64_t tap = 0; tap < across.kernel; ++tap) {
        const Word *from[pixelsAtOnce];
        bool any = false;
        for (int64_t p = 0; p < pixelsAtOnce; ++p) {
          const int64_t element = p < part.pixels ? under(across, part.x + p * part.step, tap) : -1;
          any |= element >= 0;
          from[p] = element < 0 ? zeros.data() : now.images + (place.pixel + element) * c.window.channels + first;
        }
        if (!any)
          continue;
        const Word *weight = now.weights + (group * area + place.tap + tap) * depth * columns + part.column;
        if (isDepthwise) {
          const Vector<width> w = read<width>(weight);
#pragma clang loop unroll(full)
          for (int64_t p = 0; p < pixelsAtOnce; ++p) {
            Vector<width> values = {};
            if (count == width)
              values = read<width>(from[p]);
            else
              std::memcpy(&values, from[p], static_cast<size_t>(count) * sizeof(Word));
            sums[p] += values * w;
          }
          continue;
        }
        for (int64_t i = 0; i < depth; ++i, weight += columns) {
          const Vector<width> w = read<width>(weight);
#pragma clang loop unroll(full)
          for (int64_t p = 0; p < pixelsAtOnce; ++p)
            sums[p] += from[p][i] * w;
        }
      }
    Word created[pixelsAtOnce][width];
#pragma clang loop unroll(full)
    for (int64_t p = 0; p < pixelsAtOnce; ++p)
      std::memcpy(created[p], &sums[p], sizeof(created[p]));
    const auto bytes = static_cast<int64_t>(storageBytes(produced));
    for (int64_t p = 0; p < part.pixels; ++p) {
      int64_t values[width];
      for (int64_t j = 0; j < count; ++j)
        values[j] = static_cast<int32_t>(created[p][j] + (now.bias ? now.bias[out + j] : 0));
      std::byte *to = now.result + ((line * across.out + part.x + p * part.step) * c.out + out) * bytes;
      store(values, to, static_cast<size_t>(count));
    }
  }

  Convolution c;
  ScratchLayout layout;
  Words images, weights;
  std::optional<Words> bias;
  bool isDepthwise;                     // each channel has a window of its own: columns are channels
  int64_t area;                         // elements under a window
  int64_t groups, depth, outs, columns; // depth, outs: channels of a group; columns: outs, filled up
  DataType produced;
  Store<int64_t> store;
  library::AlignedBytes ordered; // constants
  size_t orderedPlace = 0;       // of others
  std::vector<Word> zeros;
};

} // namespace

std::unique_ptr<Kernel> makeIntegerConvolution(const OpCall &call, const Convolution &c) {
  Epilogue epilogue;
  epilogue.activation = activationOf(call);
  const DataType type = epilogue.empty() ? result(call).dtype : DataType::Int32;
  if (auto kernel = makeIntegerPanelConvolution(call, c, type))
    return withEpilogue(call, std::move(kernel), type, epilogue);
  return withEpilogue(call, std::make_unique<IntegerConvolution>(call, c, type), type, epilogue);
}

} // namespace tt::ttnn

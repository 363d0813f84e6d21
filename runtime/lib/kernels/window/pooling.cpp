//===- pooling.cpp - max_pool2d (with indices), avg_pool2d ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/scalars.h"
#include "kernels/window/window.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tt::ttnn {
namespace {

enum class Pool : uint8_t { Max, Average };

/// T: float, or int64_t for the maximum of integers, which f32 holds to 2^24 only.
template <class T> class PoolKernel final : public Kernel {
public:
  PoolKernel(const OpCall &call, const Window &window, Pool pool, DataType produced)
      : window(window), pool(pool), countPadding(call.attributes.get<bool>("count_include_pad", true)),
        load(loader<T>(operand(call, 0).dtype)), store(storer<T>(produced)), least(leastOf(operand(call, 0).dtype)),
        inBytes(storageBytes(operand(call, 0).dtype)), outBytes(storageBytes(produced)) {
    if (call.outs.size() > 1) {
      storeIndices = storer<int64_t>(result(call, 1).dtype);
      indexBytes = storageBytes(result(call, 1).dtype);
    }
    if constexpr (std::is_same_v<T, float>)
      if (pool == Pool::Max && !storeIndices && produced == operand(call, 0).dtype && window.area() <= mostInPlace)
        inPlace = produced == DataType::Float32    ? &PoolKernel::template largest<float>
                  : produced == DataType::BFloat16 ? &PoolKernel::template largest<uint16_t>
                                                   : nullptr;
  }

  void run(const Buffers &buffers) const override {
    const Axis &h = window.axes[0], &w = window.axes[1];
    const int64_t rows = window.batch * h.out;
    const int64_t work = std::max<int64_t>(1, w.out * window.channels * h.kernel * w.kernel);
    parallelFor(rows, 1 + 32768 / work, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t x = 0; x < w.out; ++x) {
          if constexpr (std::is_same_v<T, float>)
            if (inPlace) {
              (this->*inPlace)(buffers, row / h.out, row % h.out, x);
              continue;
            }
          for (int64_t c = 0; c < window.channels; c += chunk)
            position(buffers, row / h.out, row % h.out, x, c, std::min(chunk, window.channels - c));
        }
    });
  }

private:
  static constexpr int64_t chunk = 512;
  static constexpr int64_t mostInPlace = 64; // elements under a window

  /// Adjacent values of f32, or of bf16 as its bits, as floats, and back; values that are converted back are of that
  /// type.
  template <int n, class E> static void widen(const E *from, scalars::Vector<float, n> &to) {
    using Floats = scalars::Vector<float, n>;
    scalars::Vector<E, n> values;
    std::memcpy(&values, from, sizeof values);
    if constexpr (std::is_same_v<E, float>)
      to = values;
    else
      to = __builtin_bit_cast(Floats, __builtin_convertvector(values, scalars::Vector<uint32_t, n>) << 16);
  }
  template <int n, class E> static void narrow(const scalars::Vector<float, n> &from, E *to) {
    using Bits = scalars::Vector<uint32_t, n>;
    scalars::Vector<E, n> values;
    if constexpr (std::is_same_v<E, float>)
      values = from;
    else
      values = __builtin_convertvector(__builtin_bit_cast(Bits, from) >> 16, scalars::Vector<E, n>);
    std::memcpy(to, &values, sizeof values);
  }

  /// The maximum of images of f32, or of bf16 as its bits, read in place: as many channels at a time as registers hold.
  /// It is one of the values, so nothing is rounded; the minimum of the negated values takes fewer steps.
  template <class E> void largest(const Buffers &buffers, int64_t image, int64_t y, int64_t x) const {
    const auto *images = reinterpret_cast<const E *>(buffers.ins[0]);
    const Axis &h = window.axes[0], &w = window.axes[1];
    const int64_t channels = window.channels, top = y * h.stride - h.low, left = x * w.stride - w.low;
    auto *to = reinterpret_cast<E *>(buffers.outs[0]) + ((image * h.out + y) * w.out + x) * channels;
    const E *under[mostInPlace];
    int64_t count = 0;
    for (int64_t i = 0; i < h.kernel; ++i)
      for (int64_t j = 0; j < w.kernel; ++j) {
        const int64_t sourceY = top + i * h.dilation, sourceX = left + j * w.dilation;
        if (sourceY >= 0 && sourceY < h.size && sourceX >= 0 && sourceX < w.size)
          under[count++] = images + ((image * h.size + sourceY) * w.size + sourceX) * channels;
      }
    const auto some = [&](int64_t first, auto width) {
      constexpr int n = decltype(width)::value;
      scalars::Vector<float, n> found(static_cast<float>(-least)), values;
      for (int64_t i = 0; i < count; ++i) {
        widen<n>(under[i] + first, values);
        values = -values;
        scalars::takeMinimum<n>(found, values);
      }
      values = -found;
      narrow<n>(values, to + first);
    };
    int64_t first = 0;
    const auto all = [&](auto width) {
      for (; first + width <= channels; first += width)
        some(first, width);
    };
    all(std::integral_constant<int, 32>());
    all(std::integral_constant<int, 8>());
    all(std::integral_constant<int, 1>());
  }

  /// Returns the minimum of the type.
  static T leastOf(DataType type) {
    if constexpr (std::is_same_v<T, float>)
      return -std::numeric_limits<float>::infinity();
    else
      return type == DataType::Int32 ? std::numeric_limits<int32_t>::min() : 0;
  }

  void position(const Buffers &buffers, int64_t image, int64_t y, int64_t x, int64_t channel, int64_t count) const {
    const Axis &h = window.axes[0], &w = window.axes[1];
    const auto n = static_cast<size_t>(count);
    alignas(64) T result[chunk], value[chunk];
    alignas(64) int64_t where[chunk];
    std::fill_n(result, n, pool == Pool::Max ? least : T(0));
    std::fill_n(where, n, 0); // of a window that lies in padding only
    const int64_t top = y * h.stride - h.low, left = x * w.stride - w.low;
    int64_t inside = 0;
    for (int64_t i = 0; i < h.kernel; ++i) {
      const int64_t sourceY = top + i * h.dilation;
      if (sourceY < 0 || sourceY >= h.size)
        continue;
      for (int64_t j = 0; j < w.kernel; ++j) {
        const int64_t sourceX = left + j * w.dilation;
        if (sourceX < 0 || sourceX >= w.size)
          continue;
        ++inside;
        const int64_t at = ((image * h.size + sourceY) * w.size + sourceX) * window.channels + channel;
        load(buffers.ins[0] + static_cast<size_t>(at) * inBytes, value, n);
        if (storeIndices)
          // The first of equal ones; a window's first element if all are -Inf.
          for (size_t c = 0; c < n; ++c)
            where[c] = inside == 1 || value[c] > result[c] || (value[c] != value[c] && result[c] == result[c])
                           ? sourceY * w.size + sourceX
                           : where[c];
        if (pool == Pool::Max)
          for (size_t c = 0; c < n; ++c)
            result[c] = scalars::maximum(value[c], result[c]);
        else
          for (size_t c = 0; c < n; ++c)
            result[c] += value[c];
      }
    }
    if (pool == Pool::Average) {
      // As in torch: padding counts, but not the part that ceil_mode adds beyond it.
      auto covered = [](const Axis &a, int64_t start) {
        return std::min(a.kernel, (a.size + a.high - start + a.dilation - 1) / a.dilation);
      };
      const int64_t divisor = countPadding ? covered(h, top) * covered(w, left) : inside;
      for (size_t c = 0; c < n; ++c)
        result[c] /= static_cast<T>(divisor);
    }
    const int64_t at = ((image * h.out + y) * w.out + x) * window.channels + channel;
    store(result, buffers.outs[0] + static_cast<size_t>(at) * outBytes, n);
    if (storeIndices)
      storeIndices(where, buffers.outs[1] + static_cast<size_t>(at) * indexBytes, n);
  }

  Window window;
  Pool pool;
  bool countPadding;
  Load<T> load;
  Store<T> store;
  T least;
  size_t inBytes, outBytes;
  Store<int64_t> storeIndices = nullptr; // of the second result, when there is one
  size_t indexBytes = 0;
  void (PoolKernel::*inPlace)(const Buffers &, int64_t image, int64_t y, int64_t x) const = nullptr;
};

std::unique_ptr<Kernel> makePool(const OpCall &call, Pool pool) {
  const Window window = windowOf(call, "channels");
  expectWindowResult(call, window, window.channels);
  if (call.outs.size() > 1) {
    expectWindowResult(call, window, window.channels, 1);
    if (isFloat(result(call, 1).dtype))
      fail(call, "the indices are of type " + std::string(toString(result(call, 1).dtype)) + "; expected integers");
  }
  // A pixel's channels are a row of the result, so groups of a block format begin with it.
  const DataType produced = result(call).dtype;
  if (pool == Pool::Max && isInteger(operand(call, 0).dtype) && isInteger(produced))
    return std::make_unique<PoolKernel<int64_t>>(call, window, pool, produced);
  return std::make_unique<PoolKernel<float>>(call, window, pool, produced);
}

std::unique_ptr<Kernel> makeMaxPool(const OpCall &call) { return makePool(call, Pool::Max); }
std::unique_ptr<Kernel> makeAveragePool(const OpCall &call) { return makePool(call, Pool::Average); }

/// [N, H, W, C] to [N, 1, 1, C]: a mean over two dimensions.
std::unique_ptr<Kernel> makeGlobalAveragePool(const OpCall &call) {
  const Shape &shape = operand(call, 0).shape;
  if (shape.size() != 4)
    fail(call, "operand 0 has shape " + toString(shape) + "; expected [N, H, W, C]");
  OpCall mean = call;
  mean.name = "ttnn.mean";
  mean.attributes = Attributes(mean.name, {{"keep_dim", {true}}, {"dim_arg", {std::vector<int64_t>{1, 2}}}});
  return findOp(mean.name)->make(mean);
}

} // namespace

std::vector<OpInfo> poolingOps() {
  return {
      {"ttnn.max_pool2d", makeMaxPool},
      {"ttnn.max_pool2d_with_indices", makeMaxPool},
      {"ttnn.avg_pool2d", makeAveragePool},
      {"ttnn.global_avg_pool2d", makeGlobalAveragePool},
  };
}

} // namespace tt::ttnn

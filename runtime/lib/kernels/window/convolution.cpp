//===- convolution.cpp - convolutions in the kernel library ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/window/convolution.h"

#include "core/library.h"
#include "kernels/elementwise/epilogue.h"
#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/units.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tt::ttnn {
namespace {

/// Returns the number of pixels of a 1x1 convolution in bf16 that are convolved at a time, so that their converted
/// values stay in cache: a divisor of the total. 0: all at once, converted before and rounded after, if that is not
/// slower.
int64_t pixelsAtOnce(const OpCall &call, const Convolution &c) {
  constexpr int64_t cacheBytes = 1 << 18, fewPixels = 24, pieces = 8; // at least, for as many threads
  const bool single = std::ranges::all_of(
      c.window.axes, [](const Axis &a) { return a.kernel == 1 && a.stride == 1 && a.low == 0 && a.high == 0; });
  if (operand(call, 0).dtype != DataType::BFloat16 || result(call).dtype != DataType::BFloat16 || !single ||
      c.transposed || c.groups > 1)
    return 0;
  const int64_t all = c.window.positions();
  int64_t pixels = std::min(all / pieces, cacheBytes / (4 * (c.window.channels + c.out)));
  while (pixels >= fewPixels && all % pixels != 0)
    --pixels;
  return pixels >= fewPixels ? pixels : 0;
}

/// Whether sums are over an odd number of channels. The library multiplies bf16 in pairs, of which the last then
/// contains a value of the next pixel, or of memory after the image, times a zero: NaN if that value is not finite. In
/// depthwise convolutions it multiplies single values.
bool hasOddChannels(const Convolution &c) {
  const bool depthwise = c.groups > 1 && c.groups == c.window.channels && c.groups == c.out;
  return !depthwise && c.window.channels / c.groups % 2 != 0;
}

/// Whether a convolution of bf16 can get an additional channel of zeros: it costs a copy of the image, while f32 would
/// cost up to twice the time.
bool canPad(const Convolution &c) { return c.groups == 1 && !c.transposed; }

/// Copies pixels of this many channels, each followed by a zero.
void padPixels(const uint16_t *from, uint16_t *to, int64_t pixels, int64_t channels) {
  if (channels == 1) {
    for (int64_t i = 0; i < pixels; ++i) {
      to[2 * i] = from[i];
      to[2 * i + 1] = 0;
    }
    return;
  }
  for (int64_t i = 0; i < pixels; ++i, from += channels, to += channels + 1) {
    if (channels == 3)
      std::memcpy(to, from, 3 * sizeof(uint16_t)); // of known size: two moves
    else
      std::memcpy(to, from, static_cast<size_t>(channels) * sizeof(uint16_t));
    to[channels] = 0;
  }
}

class LibraryConvolution final : public Kernel {
public:
  /// Throws dnnl::error if the machine has no implementation for the type. pixels: the result of `pixelsAtOnce`.
  LibraryConvolution(const OpCall &call, Convolution c, DataType type, DataType produced, std::string_view activation,
                     int64_t pixels = 0)
      : biased(optionalOperand(call, 2) != nullptr) {
    if (pixels) {
      placePieces(c, pixels);
      produced = type;
    } else {
      input = library::Packed(call, 0, type, layout);
    }
    if (type == DataType::BFloat16 && hasOddChannels(c)) {
      channels = c.window.channels;
      paddedPixels = volume(operand(call, 0).shape) / channels;
      paddedPlace = layout.take(static_cast<size_t>(paddedPixels * (channels + 1)) * sizeof(uint16_t));
    }
    weights = library::Packed(call, 1, type, layout);
    if (biased)
      bias = library::Packed(call, 2, DataType::Float32, layout);
    if (c.transposed)
      prepare<dnnl::deconvolution_forward>(c, type, produced, activation, dnnl::algorithm::deconvolution_direct,
                                           call.constants);
    else
      prepare<dnnl::convolution_forward>(c, type, produced, activation, dnnl::algorithm::convolution_direct,
                                         call.constants);
  }

  void run(const Buffers &buffers) const override {
    std::byte *scratch = buffers.scratch;
    const std::byte *filter = ordered.get(weights, buffers.ins[1], scratch);
    const std::byte *added = biased ? bias.get(buffers.ins[2], scratch) : nullptr;
    const auto convolve = [&](size_t slot, const std::byte *from, std::byte *to) {
      const std::byte *pad = scratch + scratchpad + slot * padBytes;
      if (biased)
        convolutions[slot].run({from, filter, to, pad, added});
      else
        convolutions[slot].run({from, filter, to, pad});
    };
    if (!pieces) {
      const std::byte *image = input.get(buffers.ins[0], scratch);
      return convolve(0, paddedPixels ? padded(image, scratch) : image, buffers.outs[0]);
    }
    parallelRuns(pieces, 1, slots, [&](int64_t s, Runs &runs) {
      const auto slot = static_cast<size_t>(s);
      auto *from = reinterpret_cast<float *>(scratch + sourcePlace) + slot * sourceValues;
      auto *to = reinterpret_cast<float *>(scratch + targetPlace) + slot * targetValues;
      for (ItemRange run; runs.take(run);)
        for (auto i = static_cast<size_t>(run.begin); i < static_cast<size_t>(run.end); ++i) {
          widen(buffers.ins[0] + i * sourceValues * sizeof(uint16_t), from, sourceValues);
          convolve(slot, reinterpret_cast<const std::byte *>(from), reinterpret_cast<std::byte *>(to));
          round(to, buffers.outs[0] + i * targetValues * sizeof(uint16_t), targetValues);
        }
    });
  }
  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 ? pieces || input.reads() : operand == 1 ? ordered.reads(weights) : bias.reads();
  }

private:
  using memory = dnnl::memory;

  /// The image with a channel of zeros more.
  const std::byte *padded(const std::byte *image, std::byte *scratch) const {
    constexpr int64_t atOnce = 4096;
    auto *from = reinterpret_cast<const uint16_t *>(image);
    auto *to = reinterpret_cast<uint16_t *>(scratch + paddedPlace);
    parallelFor(paddedPixels, atOnce, [&](int64_t begin, int64_t end) {
      padPixels(from + begin * channels, to + begin * (channels + 1), end - begin, channels);
    });
    return scratch + paddedPlace;
  }

  /// The library's form of weights with an additional channel: their own, with zeros where it has blocks of that
  /// dimension.
  static memory::desc withoutPadding(memory::desc weights) {
    const dnnl_blocking_desc_t &blocks = weights.data.format_desc.blocking;
    if (std::find(blocks.inner_idxs, blocks.inner_idxs + blocks.inner_nblks, 1) ==
        blocks.inner_idxs + blocks.inner_nblks)
      throw dnnl::error(dnnl_unimplemented, "weights whose channels are in no blocks");
    --weights.data.dims[1];
    return weights;
  }

  template <class Forward>
  void prepare(const Convolution &c, DataType type, DataType produced, std::string_view activation,
               dnnl::algorithm algorithm, const ConstantStore *store) {
    const size_t rank = c.window.axes.size();
    memory::dims from = {c.window.batch, c.window.channels + (paddedPixels ? 1 : 0)}, to = {c.window.batch, c.out},
                 strides, dilations, before, behind;
    for (const Axis &a : c.window.axes) {
      from.push_back(a.size);
      to.push_back(a.out);
      strides.push_back(a.stride);
      dilations.push_back(a.dilation - 1);
      before.push_back(a.low);
      // The padding after the image is the amount that the last window needs: less than requested if the stride skips
      // some.
      const int64_t windows = c.transposed ? a.size : a.out, covered = c.transposed ? a.out : a.size;
      behind.push_back((windows - 1) * a.stride + a.extent() - covered - a.low);
    }
    constexpr memory::format_tag orders[] = {memory::format_tag::nwc, memory::format_tag::nhwc,
                                             memory::format_tag::ndhwc};
    const memory::format_tag order = orders[rank - 1];
    const memory::desc source(from, library::dataType(type), order);
    const memory::desc target(to, library::dataType(produced), order);
    const memory::desc given = filterOf(c, type);
    memory::dims filterDims = given.dims();
    filterDims[1] += paddedPixels ? 1 : 0; // there are no groups then
    const memory::desc anyOrder(filterDims, library::dataType(type), memory::format_tag::any);
    const memory::desc biasDesc({c.out}, memory::data_type::f32, memory::format_tag::a);
    constexpr auto kind = dnnl::prop_kind::forward_inference;
    using Description = typename Forward::desc;
    const auto describe = [=, biased = biased](const memory::desc &filter) {
      return biased ? Description(kind, algorithm, source, filter, biasDesc, target, strides, dilations, before, behind)
                    : Description(kind, algorithm, source, filter, target, strides, dilations, before, behind);
    };
    std::optional<library::Threads> one;
    if (pieces)
      one.emplace(1);
    const Description description = describe(anyOrder);
    const auto code = library::Code::make(description.data, activation, [&] {
      return typename Forward::primitive_desc(description, library::attributes(activation), library::engine());
    });
    const dnnl::primitive_desc_base &plan = code->plan();
    for (int64_t slot = 0; slot < slots; ++slot) {
      library::Primitive convolution(code);
      convolution.add(DNNL_ARG_SRC, source);
      convolution.add(DNNL_ARG_WEIGHTS, plan.weights_desc());
      convolution.add(DNNL_ARG_DST, target);
      convolution.add(DNNL_ARG_SCRATCHPAD, plan.scratchpad_desc());
      if (biased)
        convolution.add(DNNL_ARG_BIAS, biasDesc);
      convolution.keepNaN(activation, [describe, order = plan.weights_desc()] {
        const typename Forward::primitive_desc plain(describe(order), library::attributes(), library::engine());
        return std::pair<dnnl::primitive, size_t>(Forward(plain), plain.scratchpad_desc().get_size());
      });
      convolutions.push_back(std::move(convolution));
    }
    one.reset();
    padBytes = (plan.scratchpad_desc().get_size() + 63) / 64 * 64;
    scratchpad = layout.take(static_cast<size_t>(slots) * padBytes);
    const memory::desc requested = paddedPixels ? withoutPadding(plan.weights_desc()) : plan.weights_desc();
    ordered = library::Ordered(weights, given, requested, layout, store);
  }

  /// Changes `c` to the convolution of a piece, an image of one line.
  void placePieces(Convolution &c, int64_t pixels) {
    pieces = c.window.positions() / pixels;
    slots = std::min<int64_t>(threads(), pieces);
    sourceValues = static_cast<size_t>(pixels * c.window.channels);
    targetValues = static_cast<size_t>(pixels * c.out);
    sourcePlace = layout.take(static_cast<size_t>(slots) * sourceValues * sizeof(float));
    targetPlace = layout.take(static_cast<size_t>(slots) * targetValues * sizeof(float));
    c.window = {1, c.window.channels, {{1, 1, 1, 1, 0, 0, 1}, {pixels, 1, 1, 1, 0, 0, pixels}}};
  }

  /// The weights in memory order. The library names output channels first, even if the input's come first.
  static memory::desc filterOf(const Convolution &c, DataType type) {
    const int64_t in = c.window.channels / c.groups, out = c.out / c.groups;
    int64_t inner = 1; // stride of the next dimension outwards
    memory::dims dims, strides;
    for (auto a = c.window.axes.rbegin(); a != c.window.axes.rend(); ++a) {
      dims.insert(dims.begin(), a->kernel);
      strides.insert(strides.begin(), inner);
      inner *= a->kernel;
    }
    dims.insert(dims.begin(), {out, in});
    strides.insert(strides.begin(), {c.transposed ? inner : in * inner, c.transposed ? out * inner : inner});
    if (c.groups > 1) {
      dims.insert(dims.begin(), c.groups);
      strides.insert(strides.begin(), in * out * inner);
    }
    return {dims, library::dataType(type), strides};
  }

  ScratchLayout layout;
  library::Packed input, weights, bias;
  library::Ordered ordered;
  std::vector<library::Primitive> convolutions; // one for each slot
  size_t scratchpad = 0, padBytes = 0;
  int64_t paddedPixels = 0, channels = 0; // of an image that gets a channel of zeros more
  size_t paddedPlace = 0;
  int64_t pieces = 0, slots = 1; // pieces of all pixels, that threads share; 0: all at once
  size_t sourceValues = 0, targetValues = 0, sourcePlace = 0, targetPlace = 0; // of a piece, in f32
  Load<float> widen = loader<float>(DataType::BFloat16);
  Store<float> round = storer<float>(DataType::BFloat16);
  bool biased;
};

} // namespace

Shape Convolution::filter() const {
  Shape shape = transposed ? Shape{window.channels, out / groups} : Shape{out, window.channels / groups};
  for (const Axis &axis : window.axes)
    shape.push_back(axis.kernel);
  return shape;
}

Convolution convolutionOf(const OpCall &call, size_t rank, bool transposed) {
  Convolution c{transposed ? spreadWindowOf(call, "in_channels", rank) : windowOf(call, "in_channels", rank),
                call.attributes.get<int64_t>("out_channels"), call.attributes.get<int64_t>("groups"), transposed,
                isInteger(operand(call, 0).dtype)};
  if (c.out < 1)
    fail(call, "attribute 'out_channels' is " + std::to_string(c.out) + "; expected a positive size");
  if (c.groups < 1 || c.window.channels % c.groups != 0 || c.out % c.groups != 0)
    fail(call, "attribute 'groups' is " + std::to_string(c.groups) + "; expected a divisor of " +
                   std::to_string(c.window.channels) + " input and " + std::to_string(c.out) + " output channels");
  if (const TensorSpec *bias = optionalOperand(call, 2))
    if (bias->shape.empty() || bias->shape.back() != c.out || volume(bias->shape) != c.out)
      fail(call, "the bias has shape " + toString(bias->shape) + "; expected [1, 1, 1, " + std::to_string(c.out) + "]");
  const auto expectKind = [&](const std::string &what, DataType type) {
    if (isInteger(type) != c.integers)
      fail(call, what + " is of type " + std::string(toString(type)) + "; expected " +
                     (c.integers ? "integers" : "floats") + " as operand 0, which is of type " +
                     std::string(toString(operand(call, 0).dtype)));
  };
  expectKind("operand 1", operand(call, 1).dtype);
  if (const TensorSpec *bias = optionalOperand(call, 2))
    expectKind("operand 2", bias->dtype);
  expectKind("result 0", result(call).dtype);
  expectWindowResult(call, c.window, c.out);
  return c;
}

bool usesBf16() { return units() == Units::None || units() >= Units::AVX512_BF16; }

/// Treats images that are one pixel wide, such as sequences, as images of one line: pixels and weights have the same
/// order, and a window's part of a line is contiguous.
static Convolution inLines(Convolution c) {
  if (auto &axes = c.window.axes; axes.size() == 2) {
    const Axis &across = axes[1];
    if (across.size == 1 && across.kernel == 1 && across.out == 1 && !across.low && !across.high)
      std::swap(axes[0], axes[1]);
  }
  return c;
}

std::unique_ptr<Kernel> makePlainConvolution(const OpCall &call, const Convolution &given) {
  const TensorSpec &out = result(call);
  const Convolution c = inLines(given);
  if (volume(out.shape) == 0)
    return kernelOf([](const Buffers &) {});
  if (c.integers)
    return makeIntegerConvolution(call, c);
  if (auto kernel = makePixelConvolution(call, c))
    return kernel;
  if (auto kernel = makePanelConvolution(call, c))
    return kernel;
  if (auto kernel = makeTileConvolution(call, c))
    return kernel;
  if (auto kernel = makeDepthwiseConvolution(call, c))
    return kernel;
  Epilogue epilogue;
  epilogue.activation = activationOf(call);
  std::string fused;
  // The library's transposed convolutions that fuse one are slow; others are not.
  if (!c.transposed && library::fuses(epilogue.activation))
    fused = std::exchange(epilogue.activation, {});
  if (usesBf16() && (!hasOddChannels(c) || canPad(c)) && storageType(operand(call, 0).dtype) == StorageType::BF16 &&
      storageType(operand(call, 1).dtype) == StorageType::BF16) {
    const DataType produced = out.dtype == DataType::BFloat16 && epilogue.empty() ? out.dtype : DataType::Float32;
    try {
      return withEpilogue(call, std::make_unique<LibraryConvolution>(call, c, DataType::BFloat16, produced, fused),
                          produced, epilogue);
    } catch (const dnnl::error &) {
      // This CPU has no bf16 products: bf16 values are exact in f32.
    }
  }
  try {
    constexpr DataType f32 = DataType::Float32;
    const int64_t pixels = epilogue.empty() ? pixelsAtOnce(call, c) : 0;
    const DataType produced = pixels ? DataType::BFloat16 : f32;
    return withEpilogue(call, std::make_unique<LibraryConvolution>(call, c, f32, f32, fused, pixels), produced,
                        epilogue);
  } catch (const dnnl::error &error) {
    fail(call, "the kernel library refuses input " + toString(operand(call, 0).shape) + " with weights " +
                   toString(operand(call, 1).shape) + ": " + error.what());
  }
}

} // namespace tt::ttnn

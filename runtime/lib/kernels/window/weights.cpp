//===- weights.cpp - weight and bias preparation ops ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/window/weights.h"

#include "tensor/storage.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cstring>

namespace tt::ttnn {
namespace {

/// Weights in a block format, as bf16 holds them.
class BlockWeights final : public Kernel {
public:
  BlockWeights(const WeightOrder &order, const TensorSpec &from, const TensorSpec &to)
      : order(order), channels(order.in / order.groups), outs(order.out / order.groups),
        places(volume(from.shape) / (channels * order.out)), load(loader<float>(from.dtype)),
        fromBytes(storageBytes(from.dtype)), type(to.dtype) {}

  void run(const Buffers &buffers) const override {
    constexpr auto together = static_cast<int64_t>(sim::blockGroup);
    auto *to = reinterpret_cast<uint16_t *>(buffers.outs[0]);
    parallelFor((order.out + together - 1) / together, 1, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin * together; o < std::min(end * together, order.out);) {
        // For other groups, the library's matrix has zeros next to these.
        const int64_t last = std::min({order.out, o / together * together + together, (o / outs + 1) * outs});
        for (int64_t i = 0; i < channels; ++i)
          for (int64_t p = 0; p < places; ++p) {
            float values[together] = {};
            for (int64_t c = o; c < last; ++c)
              load(buffers.ins[0] + at(c, i, p) * fromBytes, values + c - o, 1);
            sim::quantise(type, values, together);
            for (int64_t c = o; c < last; ++c)
              to[at(c, i, p)] = sim::f32ToBf16(values[c - o]);
          }
        o = last;
      }
    });
  }

private:
  size_t at(int64_t o, int64_t i, int64_t place) const {
    const int64_t row = order.transposed ? (o / outs * channels + i) * outs + o % outs : o * channels + i;
    return static_cast<size_t>(row * places + place);
  }

  WeightOrder order;
  int64_t channels, outs, places; // of a group; of a window
  Load<float> load;
  size_t fromBytes;
  DataType type;
};

/// The type that a convolution's config states for weights, or nothing.
std::optional<DataType> weightsType(const OpCall &call) {
  const Attribute *type = field(call, "conv2d_config", "weights_dtype");
  const auto *named = type ? std::get_if<EnumAttribute>(&type->value) : nullptr;
  for (int i = 0; named && i <= static_cast<int>(DataType::Bool); ++i)
    if (toString(static_cast<DataType>(i)) == named->symbol)
      return static_cast<DataType>(i);
  return std::nullopt;
}

class TypedConvolution final : public Kernel {
public:
  TypedConvolution(const OpCall &call, const WeightOrder &order, DataType type,
                   const std::function<std::unique_ptr<Kernel>(const OpCall &)> &make) {
    OpCall inner = call;
    inner.constantIns.resize(call.ins.size(), nullptr);
    for (size_t i = 1; i < call.ins.size(); ++i) {
      if (!call.ins[i] || call.ins[i]->dtype == type)
        continue;
      const TensorSpec &from = *call.ins[i];
      TensorSpec &to = *inner.ins[i];
      to.dtype = type;
      Converted &each =
          converted.emplace_back(i, i == 1 ? weightConversion(call, order, from, to) : conversionKernel(from, to));
      inner.constants = nullptr; // the values lie here
      inner.constantIns[i] = nullptr;
      if (const std::byte *constant = library::constantOperand(call, i)) {
        each.created = library::AlignedBytes(to.bytes());
        each.convert(constant, each.created.data());
        inner.constantIns[i] = each.created.data();
      } else {
        each.place = layout.take(to.bytes());
      }
    }
    convolution = make(inner);
    for (Converted &each : converted)
      if (each.created && !convolution->reads(each.operand))
        each.unread = true, each.created = {};
    innerScratch = layout.take(convolution->scratchBytes());
  }

  void run(const Buffers &buffers) const override {
    const std::byte *ins[3] = {};
    std::ranges::copy(buffers.ins, ins);
    for (const Converted &each : converted) {
      if (each.created) {
        ins[each.operand] = each.created.data();
      } else if (!each.unread) {
        each.convert(ins[each.operand], buffers.scratch + each.place);
        ins[each.operand] = buffers.scratch + each.place;
      }
    }
    convolution->run({{ins, buffers.ins.size()}, buffers.outs, buffers.scratch + innerScratch});
  }
  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    const auto each = std::ranges::find(converted, operand, &Converted::operand);
    return each == converted.end() ? convolution->reads(operand) : !each->created && !each->unread;
  }

private:
  struct Converted {
    size_t operand;
    std::unique_ptr<Kernel> conversion;
    library::AlignedBytes created = {};
    bool unread = false; // what the convolution has a form of its own of
    size_t place = 0;

    void convert(const std::byte *from, std::byte *to) const { conversion->run({{&from, 1}, {&to, 1}, nullptr}); }
  };

  std::unique_ptr<Kernel> convolution;
  std::vector<Converted> converted;
  ScratchLayout layout;
  size_t innerScratch = 0;
};

} // namespace

std::unique_ptr<Kernel> weightConversion(const OpCall &call, const WeightOrder &order, const TensorSpec &from,
                                         const TensorSpec &to) {
  if (!sim::isBlockFormat(to.dtype) || volume(from.shape) == 0) {
    TensorSpec given = from;
    given.shape = to.shape;
    return conversionKernel(given, to);
  }
  const int64_t channels = order.groups > 0 ? order.in / order.groups : 0;
  if (order.groups < 1 || order.out < 1 || channels < 1 || order.out % order.groups != 0 ||
      volume(from.shape) % order.out != 0 || volume(from.shape) / order.out % channels != 0)
    fail(call, "the weight has shape " + toString(from.shape) + ", which are not kernels of " +
                   std::to_string(order.out) + " output and " + std::to_string(order.in) + " input channels in " +
                   std::to_string(order.groups) + " groups");
  return std::make_unique<BlockWeights>(order, from, to);
}

std::unique_ptr<Kernel> withTypedWeights(const OpCall &call, const WeightOrder &order,
                                         const std::function<std::unique_ptr<Kernel>(const OpCall &)> &make) {
  const std::optional<DataType> type = weightsType(call);
  const auto differs = [&](size_t i) {
    const TensorSpec *each = optionalOperand(call, i);
    return each && isFloat(each->dtype) && each->dtype != *type;
  };
  if (!type || !isFloat(*type) || !(differs(1) || differs(2)))
    return make(call);
  return std::make_unique<TypedConvolution>(call, order, *type, make);
}

PreparedVolumes::PreparedVolumes(const OpCall &call, const Shape &matrix, const Shape &weight, int64_t block)
    : out(weight[0]), in(weight[1]), places(volume({weight.begin() + 2, weight.end()})), block(block),
      rows(matrix.size() == 2 ? matrix[0] : 0) {
  const int64_t channels = places ? rows / places : 0;
  if (this->block == 0)
    this->block = channels;
  if (matrix.size() != 2 || matrix[1] != out || channels * places != rows || channels < in || this->block < 1 ||
      channels % this->block != 0)
    fail(call, "the prepared weight has shape " + toString(matrix) + "; expected [" + std::to_string(places) +
                   " * channels, " + std::to_string(out) + "] with at least " + std::to_string(in) + " channels" +
                   (block > 0 ? " in blocks of " + std::to_string(block) : ""));
}

template <class F> void PreparedVolumes::forEach(F f) const {
  for (int64_t o = 0, from = 0; o < out; ++o)
    for (int64_t c = 0; c < in; ++c)
      for (int64_t k = 0; k < places; ++k, ++from)
        f(static_cast<size_t>(from), static_cast<size_t>(((c / block * places + k) * block + c % block) * out + o));
}

void PreparedVolumes::pack(const std::byte *weight, std::byte *matrix, size_t elementBytes) const {
  if (rows * out != out * in * places)
    std::memset(matrix, 0, static_cast<size_t>(rows * out) * elementBytes);
  forEach([&](size_t from, size_t to) {
    std::memcpy(matrix + to * elementBytes, weight + from * elementBytes, elementBytes);
  });
}

void PreparedVolumes::unpack(const std::byte *matrix, std::byte *weight, size_t elementBytes) const {
  forEach([&](size_t to, size_t from) {
    std::memcpy(weight + to * elementBytes, matrix + from * elementBytes, elementBytes);
  });
}

namespace {

/// Weights and biases are prepared when a convolution's kernel, which knows the machine, is created: these ops keep the
/// values in order, with the type and shape of the result.
std::unique_ptr<Kernel> sameValues(const OpCall &call) {
  const size_t bytes = result(call).bytes();
  if (library::constantOperand(call, 0))
    return aliasKernel(bytes);
  // The prepared form is kept; the operand may be written later.
  return kernelOf([bytes](const Buffers &b) { std::memcpy(b.outs[0], b.ins[0], bytes); });
}
std::unique_ptr<Kernel> makePrepareBias(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  TensorSpec given = in;
  given.shape = out.shape;
  return given.dtype == out.dtype ? sameValues(call) : conversionKernel(given, out);
}
std::unique_ptr<Kernel> convertedWeights(const OpCall &call, bool transposed) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const auto size = [&](std::string_view name) { return call.attributes.get<int64_t>(name); };
  return weightConversion(call, {size("in_channels"), size("out_channels"), size("groups"), transposed}, in, out);
}
std::unique_ptr<Kernel> makePrepare(const OpCall &call) {
  return operand(call, 0).dtype == result(call).dtype ? sameValues(call) : convertedWeights(call, false);
}

/// Weights as PyTorch has them. Mirrored ones, in both dimensions of the window, are turned back.
class TransposedWeights final : public Kernel {
public:
  TransposedWeights(const OpCall &call, size_t places)
      : conversion(convertedWeights(call, true)), places(places), bytes(storageBytes(result(call).dtype)),
        count(static_cast<size_t>(volume(result(call).shape))) {}

  void run(const Buffers &buffers) const override {
    conversion->run(buffers);
    std::byte *to = buffers.outs[0];
    for (size_t at = 0; at + places <= count; at += places)
      for (size_t i = at, j = at + places - 1; i < j; ++i, --j)
        std::swap_ranges(to + i * bytes, to + (i + 1) * bytes, to + j * bytes);
  }
  size_t scratchBytes() const override { return conversion->scratchBytes(); }

private:
  std::unique_ptr<Kernel> conversion;
  size_t places, bytes, count;
};

std::unique_ptr<Kernel> makePrepareTransposed(const OpCall &call) {
  const TensorSpec &in = operand(call, 0);
  if (call.attributes.get<bool>("mirror_kernel", true))
    return in.dtype == result(call).dtype ? sameValues(call) : convertedWeights(call, true);
  const auto window = integers(call, "kernel_size", 2, 1);
  if (in.shape.size() != 4 || in.shape[2] != window[0] || in.shape[3] != window[1])
    fail(call, "the weight has shape " + toString(in.shape) + ", whose last dimensions are not the kernel_size of " +
                   quoted(window) + ", which mirror_kernel needs");
  return std::make_unique<TransposedWeights>(call, static_cast<size_t>(window[0] * window[1]));
}

/// Rows of the matrix of a weight: the channels of a group, padded to the alignment, at each position of the window.
std::unique_ptr<Kernel> makePrepareVolumes(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const Shape &s = in.shape;
  const auto block = call.attributes.get<int64_t>("c_in_block");
  if (volume(out.shape) == 0)
    return kernelOf([](const Buffers &) {});
  const PreparedVolumes matrix(call, out.shape, s, block);
  const size_t bytes = storageBytes(in.dtype);
  return roundedTo(out, in.dtype, kernelOf([=](const Buffers &b) { matrix.pack(b.ins[0], b.outs[0], bytes); }));
}

} // namespace

std::vector<OpInfo> convolutionWeightOps() {
  return {
      {"ttnn.prepare_conv2d_weights", makePrepare},
      {"ttnn.prepare_conv2d_bias", makePrepareBias},
      {"ttnn.prepare_conv_transpose2d_weights", makePrepareTransposed},
      {"ttnn.prepare_conv_transpose2d_bias", makePrepareBias},
      {"ttnn.prepare_conv3d_weights", makePrepareVolumes},
  };
}

} // namespace tt::ttnn

//===- exact.cpp - which arithmetic a kernel has ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/exact.h"

#include "core/plan.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/exact/lanes.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::ttnn {
namespace exact {
namespace {

bool flag(const OpCall &call, std::string_view name, bool otherwise) {
  const Attribute *found = field(call, "compute_config", name);
  const bool *value = found ? std::get_if<bool>(&found->value) : nullptr;
  return value ? *value : otherwise;
}

int magnitudeBits(DataType type) { return type == DataType::BFP_BFloat8 ? 7 : type == DataType::BFP_BFloat4 ? 3 : 1; }

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

void packF32(const float *from, std::byte *to, size_t n) {
  std::copy_n(reinterpret_cast<const std::byte *>(from), n * sizeof(float), to);
}
void packBf16(const float *from, std::byte *to, size_t n) {
  using Packed = uint16_t __attribute__((vector_size(lanes * sizeof(uint16_t))));
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = std::min<size_t>(lanes, n - i);
    I bits{};
    std::memcpy(&bits, from + i, count * sizeof(float));
    const auto packed = __builtin_convertvector(as<U>(roundedToBf16(Lanes(bits)).bits) >> 16, Packed);
    std::memcpy(to + i * sizeof(uint16_t), &packed, count * sizeof(uint16_t));
  }
}
/// Once: values rounded to 7 bits are bf16, truncated or as in the destination; else 6 mantissa bits, rounded before.
template <DataType type, Destination width, bool once> void packBlocks(const float *from, std::byte *to, size_t n) {
  auto *values = reinterpret_cast<uint16_t *>(to);
  for (size_t i = 0; i < n; i += sim::blockGroup) {
    const size_t count = std::min(sim::blockGroup, n - i);
    uint16_t held[sim::blockGroup];
    for (size_t j = 0; j < count; ++j) {
      const uint32_t bits = bitsOf(from[i + j]);
      held[j] = !once                          ? sim::exact::packToE8M6(bits)
                : width == Destination::Bits32 ? static_cast<uint16_t>(bits >> 16)
                                               : sim::exact::packToBf16(bits);
    }
    const sim::exact::Group group = sim::exact::packBlock(held, count, magnitudeBits(type));
    for (size_t j = 0; j < count; ++j)
      values[i + j] =
          sim::exact::unpackBlock(group.negative[j], group.magnitude[j], magnitudeBits(type), group.exponent);
  }
}
template <DataType type> Store<float> blockPacker(Destination width, bool precise) {
  if (!precise)
    return packBlocks<type, Destination::Bits16, false>;
  return width == Destination::Bits32 ? packBlocks<type, Destination::Bits32, true>
                                      : packBlocks<type, Destination::Bits16, true>;
}

/// Runs a kernel that writes f32 in place of the type for which `stores` has a packer, then packs.
class Packed final : public Kernel {
public:
  Packed(std::unique_ptr<Kernel> inner, std::span<const TensorSpec> results, std::span<const Store<float>> stores)
      : inner(std::move(inner)) {
    innerScratch = layout.take(this->inner->scratchBytes());
    for (size_t i = 0; i < results.size(); ++i) {
      Result &created = results_.emplace_back();
      if (!stores[i])
        continue;
      TensorSpec values = results[i];
      values.dtype = DataType::Float32;
      created.at = layout.take(values.bytes());
      created.pack = conversionKernel(values, results[i], stores[i]);
    }
  }

  void run(const Buffers &buffers) const override {
    std::vector<std::byte *> outs(buffers.outs.begin(), buffers.outs.end());
    for (size_t i = 0; i < results_.size(); ++i)
      if (results_[i].pack)
        outs[i] = buffers.scratch + results_[i].at;
    inner->run({buffers.ins, outs, buffers.scratch + innerScratch});
    for (size_t i = 0; i < results_.size(); ++i) {
      const std::byte *in = outs[i];
      std::byte *out = buffers.outs[i];
      if (results_[i].pack)
        results_[i].pack->run({{&in, 1}, {&out, 1}, nullptr});
    }
  }
  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override { return inner->reads(operand); }

private:
  struct Result {
    size_t at = 0;
    std::unique_ptr<Kernel> pack; // none: the kernel writes it
  };
  std::unique_ptr<Kernel> inner;
  std::vector<Result> results_;
  ScratchLayout layout;
  size_t innerScratch = 0;
};

/// Packs results of a vector unit with a destination of 16 bits, where values are bf16 before the packer finds the
/// exponents of blocks.
template <DataType type> void packNarrow(const float *from, std::byte *to, size_t n) {
  constexpr size_t piece = 16 * sim::blockGroup;
  for (size_t i = 0; i < n; i += piece) {
    float rounded[piece];
    const size_t count = std::min(piece, n - i);
    std::transform(from + i, from + i + count, rounded,
                   [](float value) { return std::bit_cast<float>(sim::exact::roundToBf16(bitsOf(value))); });
    packer(type, Destination::Bits16)(rounded, to + i * sizeof(uint16_t), count);
  }
}
Store<float> narrowPacker(DataType type) {
  switch (type) {
  case DataType::BFP_BFloat8:
    return packNarrow<DataType::BFP_BFloat8>;
  case DataType::BFP_BFloat4:
    return packNarrow<DataType::BFP_BFloat4>;
  case DataType::BFP_BFloat2:
    return packNarrow<DataType::BFP_BFloat2>;
  default:
    return packer(type, Destination::Bits16);
  }
}

/// Whether an op is elementwise, and of no f32: its destination has 16 bits.
bool isNarrow(const OpCall &call) {
  const auto isF32 = [](const auto &spec) { return spec.dtype == DataType::Float32; };
  return findElementwise(call.name) && std::ranges::none_of(call.outs, isF32) &&
         std::ranges::none_of(call.ins, [&](const std::optional<TensorSpec> &in) { return in && isF32(*in); });
}

/// An op whose arithmetic is not published: computed as by default, then packed from the destination.
std::unique_ptr<Kernel> roundedOnly(const OpInfo &info, const OpCall &call) {
  OpCall wide = call;
  wide.exact.reset();
  const bool narrow = isNarrow(call);
  std::vector<Store<float>> stores;
  for (TensorSpec &out : wide.outs) {
    const bool rounds = isKnown(out.dtype) && out.dtype != DataType::Float32;
    stores.push_back(!rounds ? nullptr : narrow ? narrowPacker(out.dtype) : packer(out.dtype, Destination::Bits32));
    if (rounds)
      out.dtype = DataType::Float32;
  }
  if (std::ranges::none_of(stores, [](Store<float> store) { return store != nullptr; }))
    return info.make(wide);
  std::unique_ptr<Kernel> inner;
  try {
    inner = info.make(wide);
  } catch (const OpError &) {
    return info.make(call); // it insists on its result's type, or the op is wrong in another way and says so
  }
  return std::make_unique<Packed>(std::move(inner), call.outs, stores);
}

const Row *rowOf(std::string_view name) {
  for (const auto &rows :
       {elementwiseRows(), matmulRows(), reductionRows(), normalizationRows(), convolutionRows(), poolingRows()})
    for (const Row &row : rows)
      if (row.name == name)
        return &row;
  return nullptr;
}

} // namespace

Compute computeOf(const OpCall &call, Compute unset) {
  if (const Attribute *fidelity = field(call, "compute_config", "math_fidelity"))
    if (const auto *value = std::get_if<EnumAttribute>(&fidelity->value))
      unset.phases = static_cast<int>(std::clamp<int64_t>(value->value, 1, 4)); // LoFi is 0
  unset.width = flag(call, "fp32_dest_acc_en", unset.wide()) ? Destination::Bits32 : Destination::Bits16;
  unset.approximate = flag(call, "math_approx_mode", unset.approximate);
  unset.accumulatesInL1 = flag(call, "packer_l1_acc", unset.accumulatesInL1);
  return unset;
}

Compute reducing(const OpCall &call) {
  if (call.exact != Origin::Program)
    if (const auto found = planComputeOf(call))
      return {found->phases, found->f32Destination ? Destination::Bits32 : Destination::Bits16, found->approximate,
              found->addsInL1};
  Compute unset;
  if (call.exact == Origin::Program || result(call).dtype == DataType::Float32)
    unset.width = Destination::Bits32;
  return computeOf(call, unset);
}

Compute elementwise(const OpCall &call) {
  Compute unset;
  if (storageBytes(result(call).dtype) == sizeof(float))
    unset.width = Destination::Bits32;
  return computeOf(call, unset);
}

bool isKnown(DataType type) {
  switch (type) {
  case DataType::Float32:
  case DataType::BFloat16:
  case DataType::BFP_BFloat8:
  case DataType::BFP_BFloat4:
  case DataType::BFP_BFloat2:
    return true;
  default:
    return false;
  }
}

bool areKnown(const OpCall &call) {
  return std::ranges::all_of(call.ins, [](const auto &in) { return !in || isKnown(in->dtype); }) &&
         std::ranges::all_of(call.outs, [](const TensorSpec &out) { return isKnown(out.dtype); });
}

Store<float> packer(DataType type, Destination width, bool precise) {
  switch (type) {
  case DataType::Float32:
    return packF32;
  case DataType::BFP_BFloat8:
    return blockPacker<DataType::BFP_BFloat8>(width, precise);
  case DataType::BFP_BFloat4:
    return blockPacker<DataType::BFP_BFloat4>(width, precise);
  case DataType::BFP_BFloat2:
    return blockPacker<DataType::BFP_BFloat2>(width, precise);
  default:
    return packBf16;
  }
}

std::unique_ptr<Kernel> packedResult(const TensorSpec &result, Destination width, std::unique_ptr<Kernel> inner,
                                     bool precise) {
  if (result.dtype == DataType::Float32)
    return inner;
  const Store<float> store = packer(result.dtype, width, precise);
  return std::make_unique<Packed>(std::move(inner), std::span(&result, 1), std::span(&store, 1));
}

} // namespace exact

std::unique_ptr<Kernel> makeKernel(const OpInfo &info, const OpCall &call) {
  if (!call.exact)
    return info.make(call);
  if (const exact::Row *row = exact::rowOf(info.name))
    if (auto kernel = row->make(call))
      return kernel;
  return info.computes ? exact::roundedOnly(info, call) : info.make(call);
}

} // namespace tt::ttnn

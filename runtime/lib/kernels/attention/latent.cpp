//===- latent.cpp - multi-latent attention --------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// flash_mla_prefill and paged_flash_multi_latent_attention_decode are the ops of plain attention; without given values,
// the values are the beginnings of the keys.
//
//===----------------------------------------------------------------------===//

#include "core/library.h"
#include "tensor/strided.h"

#include <algorithm>
#include <vector>

namespace tt::ttnn {
namespace {

class LatentAttention final : public Kernel {
public:
  LatentAttention(const OpCall &call, const std::string &plain) {
    const Shape &key = operand(call, 1).shape;
    const auto size = call.attributes.get<int64_t>("head_dim_v");
    OpCall inner = call;
    std::vector<NamedAttribute> attributes;
    for (const NamedAttribute &attribute : call.attributes.all())
      if (attribute.name != "head_dim_v")
        attributes.push_back(attribute);
    inner.attributes = Attributes(call.name, std::move(attributes));
    inner.ins.resize(std::max<size_t>(inner.ins.size(), 3));
    Shape values = key;
    values[3] = size;
    given = inner.ins[2].has_value();
    if (!given) {
      inner.ins[2] = inner.ins[1];
      inner.ins[2]->shape = values;
      copy.emplace(values, rowMajorStrides(key), 0, storageBytes(operand(call, 1).dtype));
      valuesAt = layout.take(inner.ins[2]->bytes());
      if (inner.constantIns.size() > 2)
        inner.constantIns[2] = nullptr;
    }
    attention = findOp(plain)->make(inner);
    innerScratch = layout.take(attention->scratchBytes());
    operands = inner.ins.size();
  }

  void run(const Buffers &buffers) const override {
    const std::byte *ins[7] = {};
    std::ranges::copy(buffers.ins, ins);
    if (!given) {
      copy->run(ins[1], buffers.scratch + valuesAt);
      ins[2] = buffers.scratch + valuesAt;
    }
    attention->run({{ins, operands}, buffers.outs, buffers.scratch + innerScratch});
  }
  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override { return (operand == 1 && !given) || attention->reads(operand); }

private:
  std::unique_ptr<Kernel> attention;
  std::optional<StridedCopy> copy;
  ScratchLayout layout;
  size_t valuesAt = 0, innerScratch = 0, operands = 0;
  bool given = false;
};

std::unique_ptr<Kernel> makePrefill(const OpCall &call) {
  return std::make_unique<LatentAttention>(call, "ttnn.scaled_dot_product_attention");
}
std::unique_ptr<Kernel> makePagedDecode(const OpCall &call) {
  return std::make_unique<LatentAttention>(call, "ttnn.paged_scaled_dot_product_attention_decode");
}

} // namespace

std::vector<OpInfo> latentAttentionOps() {
  return {
      {"ttnn.flash_mla_prefill", makePrefill},
      {"ttnn.paged_flash_multi_latent_attention_decode", makePagedDecode},
  };
}

} // namespace tt::ttnn

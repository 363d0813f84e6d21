//===- epilogue.cpp - elementwise epilogues of other kernels --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/elementwise/epilogue.h"

#include "kernels/elementwise/elementwise.h"

#include <algorithm>

namespace tt::ttnn {
namespace {

std::unique_ptr<Kernel> elementwiseKernel(const OpCall &call, const std::string &name,
                                          std::vector<std::optional<TensorSpec>> ins, const TensorSpec &out,
                                          std::vector<NamedAttribute> attributes = {}) {
  const std::string full(findActivation(name)->name);
  return makeElementwise({full, std::move(ins), {out}, Attributes(full, std::move(attributes)), call.meshShape, {}});
}

class EpilogueKernel final : public Kernel {
public:
  EpilogueKernel(const OpCall &call, std::unique_ptr<Kernel> inner, const TensorSpec &produced,
                 const Epilogue &epilogue)
      : inner(std::move(inner)), bias(epilogue.bias) {
    const TensorSpec &out = result(call);
    if (epilogue.bias >= 0) {
      // In f32 until the last step rounds.
      const TensorSpec &sum = epilogue.activation.empty() ? out : produced;
      steps.push_back(elementwiseKernel(call, "add", {produced, operand(call, epilogue.bias)}, sum));
    }
    if (!epilogue.activation.empty())
      steps.push_back(elementwiseKernel(call, epilogue.activation, {produced}, out));
    ScratchLayout layout;
    innerScratch = layout.take(this->inner->scratchBytes());
    // A result in f32 is computed in place, step by step.
    inPlace = out.dtype == produced.dtype;
    values = inPlace ? 0 : layout.take(produced.bytes());
    scratch = layout.bytes();
  }

  void run(const Buffers &buffers) const override {
    std::byte *intermediate = inPlace ? buffers.outs[0] : buffers.scratch + values;
    inner->run({buffers.ins, {&intermediate, 1}, buffers.scratch + innerScratch});
    for (size_t i = 0; i < steps.size(); ++i) {
      const bool last = i + 1 == steps.size();
      std::byte *to = last ? buffers.outs[0] : intermediate;
      const std::byte *ins[] = {intermediate, i == 0 && bias >= 0 ? buffers.ins[static_cast<size_t>(bias)] : nullptr};
      steps[i]->run({ins, {&to, 1}, nullptr});
    }
  }
  size_t scratchBytes() const override { return scratch; }
  bool reads(size_t operand) const override {
    return (bias >= 0 && operand == static_cast<size_t>(bias)) || inner->reads(operand);
  }

private:
  std::unique_ptr<Kernel> inner;
  std::vector<std::unique_ptr<Kernel>> steps;
  int bias;
  bool inPlace;
  size_t innerScratch, values, scratch;
};

} // namespace

std::string activationName(const OpCall &call, std::string_view name) {
  // Names of ttnn.UnaryOpType and of activation strings that differ from the op's.
  constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"recip", "reciprocal"}, {"hard_sigmoid", "hardsigmoid"}, {"logical_not_unary", "logical_not"}};
  std::string op(name);
  for (const auto &[spelled, meant] : others)
    if (name == spelled)
      op = meant;
  const ElementwiseRow *row = findActivation(op);
  if (!row || row->ins != 1 || !row->scalars[0].empty() || !row->f)
    fail(call, "activation '" + std::string(name) + "' is not known; expected a unary elementwise op such as relu");
  return op;
}

namespace {

/// The name of an activation that a config holds as a unary op or as its name; empty if there is none.
std::string activationIn(const OpCall &call, std::string_view config, const Attribute &unary) {
  if (const auto *value = std::get_if<StructAttribute>(&unary.value)) {
    const Attribute *type = field(*value, "op_type");
    const auto *symbol = type ? std::get_if<EnumAttribute>(&type->value) : nullptr;
    if (!symbol)
      fail(call, "attribute '" + std::string(config) + "': the activation has no op_type");
    return symbol->symbol == "identity" ? std::string() : activationName(call, symbol->symbol);
  }
  if (const auto *name = std::get_if<std::string>(&unary.value))
    return name->empty() ? std::string() : activationName(call, *name);
  fail(call, "attribute '" + std::string(config) + "': the activation is not a unary op");
}

} // namespace

std::string activationOf(const OpCall &call) {
  std::string found;
  if (const auto *name = call.attributes.find<std::string>("activation"); name && !name->empty())
    found = activationName(call, *name);
  if (const Attribute *unary = field(call, "conv2d_config", "activation"); unary && found.empty())
    return activationIn(call, "conv2d_config", *unary);
  const Attribute *unary = field(call, "matmul_program_config", "fused_activation");
  if (!unary)
    return found;
  const std::string fused = activationIn(call, "matmul_program_config", *unary);
  if (!found.empty() && !fused.empty())
    fail(call, "activation is '" + found + "' and fused_activation of the program config is '" + fused +
                   "'; expected one of them");
  return fused.empty() ? found : fused;
}

std::unique_ptr<Kernel> withEpilogue(const OpCall &call, std::unique_ptr<Kernel> inner, DataType produced,
                                     const Epilogue &epilogue) {
  if (epilogue.empty())
    return roundedTo(result(call), produced, std::move(inner));
  TensorSpec values = result(call);
  values.dtype = produced;
  return std::make_unique<EpilogueKernel>(call, std::move(inner), values, epilogue);
}

} // namespace tt::ttnn

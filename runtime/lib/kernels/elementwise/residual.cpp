//===- residual.cpp - sums of a result and another tensor -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/elementwise/residual.h"

#include "kernels/elementwise/kernel.h"

namespace tt::ttnn {
namespace {

/// Whether a stage computes the function of a row, and its result is of this type.
bool computes(const Stage &stage, std::string_view name, DataType type) {
  return stage.f && stage.f == findElementwise(name)->f && stage.spec.dtype == type;
}

/// The type of operands and result of a sum of two tensors of one shape, which may pass through a relu.
std::optional<DataType> typeOfSum(const ElementwiseKernel &kernel) {
  const std::vector<Stage> &stages = kernel.stages;
  const Stage &sum = stages.front();
  const DataType type = sum.spec.dtype;
  if ((type != DataType::BFloat16 && type != DataType::Float32) || stages.size() > 2 ||
      !computes(sum, "ttnn.add", type))
    return std::nullopt;
  for (size_t k = 0; k < sum.operands.size(); ++k)
    if (sum.operands[k].access != Access::Same || sum.loadsF[k] != loader<float>(type))
      return std::nullopt;
  if (sum.operands.size() != 2 || sum.operands[0].index == sum.operands[1].index)
    return std::nullopt;
  if (stages.size() == 1)
    return type;
  const Stage &relu = stages.back();
  const bool follows = relu.operands.size() == 1 && relu.operands[0].access == Access::Stage;
  return sum.out < 0 && follows && computes(relu, "ttnn.relu", type) ? std::optional(type) : std::nullopt;
}

class ResidualKernel final : public Kernel {
public:
  ResidualKernel(std::shared_ptr<const Kernel> inner, size_t ins, bool relu)
      : inner(std::move(inner)), adds(dynamic_cast<const AddsResidual &>(*this->inner)), ins(ins), relu(relu) {}

  void run(const Buffers &buffers) const override {
    adds.runAdding({buffers.ins.first(ins), buffers.outs, buffers.scratch}, {buffers.ins[ins], relu});
  }
  size_t scratchBytes() const override { return inner->scratchBytes(); }
  bool reads(size_t operand) const override { return operand >= ins || inner->reads(operand); }

private:
  std::shared_ptr<const Kernel> inner;
  const AddsResidual &adds;
  size_t ins;
  bool relu;
};

} // namespace

std::unique_ptr<Kernel> addingResidual(std::shared_ptr<const Kernel> inner, size_t insOfInner, const Kernel &sum,
                                       size_t place) {
  const auto *adds = dynamic_cast<const AddsResidual *>(inner.get());
  const auto *elementwise = dynamic_cast<const ElementwiseKernel *>(&sum);
  if (!adds || !elementwise)
    return nullptr;
  const std::optional<DataType> type = typeOfSum(*elementwise);
  const auto isOperand = [&](const Operand &operand) { return operand.index == place; };
  if (!type || !adds->addsResidual(*type) || std::ranges::none_of(elementwise->stages.front().operands, isOperand))
    return nullptr;
  return std::make_unique<ResidualKernel>(std::move(inner), insOfInner, elementwise->stages.size() > 1);
}

} // namespace tt::ttnn

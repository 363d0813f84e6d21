//===- Training.cpp - steps of training as expressions ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Composites.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AdamWOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BatchNormTrainingOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GeluBackwardOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;

/// The gradient times the derivative of gelu.
static SmallVector<Tensor> resultsOf(ttir::GeluBackwardOp op, Expressions &e, std::string &) {
  Tensor gradient = e(op.getLhs()).wide(), x = e(op.getRhs()).wide();
  const double sqrt2OverPi = llvm::numbers::sqrt2 * llvm::numbers::inv_sqrtpi;
  if (op.getApproximate() == "none") {
    Tensor distribution = ((x * (1 / llvm::numbers::sqrt2)).erf() + 1) * 0.5;
    Tensor density = (x * x * -0.5).exp() * (sqrt2OverPi / 2);
    return {gradient * (distribution + x * density)};
  }
  constexpr double cubic = 0.044715;
  Tensor square = x * x;
  Tensor tanh = ((square * x * cubic + x) * sqrt2OverPi).tanh();
  Tensor slope = (square * (3 * cubic) + 1) * sqrt2OverPi;
  Tensor left = (tanh + 1) * 0.5, right = x * 0.5 * (tanh * tanh * -1 + 1) * slope;
  return {gradient * (left + right)};
}

static SmallVector<Tensor> resultsOf(ttir::AdamWOp op, Expressions &e, std::string &) {
  const auto number = [](const llvm::APFloat &value) { return value.convertToDouble(); };
  const double beta1 = number(op.getBeta1()), beta2 = number(op.getBeta2()), rate = number(op.getLr());
  Tensor gradient = e(op.getGrad()).wide();
  Tensor average = e(op.getExpAvg()).wide() * beta1 + gradient * (1 - beta1);
  Tensor square = e(op.getExpAvgSq()).wide() * beta2 + gradient * gradient * (1 - beta2);
  SmallVector<Tensor> results = {average, square};
  Tensor corrected = square;
  if (op.getMaxExpAvgSq()) {
    corrected = e(op.getMaxExpAvgSq()).wide().maximum(square);
    results.push_back(corrected);
  }
  Tensor scale = (corrected * (1 / (1 - number(op.getBeta2Pow())))).sqrt() + number(op.getEpsilon());
  Tensor step = average * (1 / (1 - number(op.getBeta1Pow()))) / scale;
  results.insert(results.begin(), e(op.getParam()).wide() * (1 - rate * number(op.getWeightDecay())) - step * rate);
  return results;
}

/// Normalizes by the statistics of the batch and moves the running statistics towards them.
static SmallVector<Tensor> resultsOf(ttir::BatchNormTrainingOp op, Expressions &e, std::string &) {
  Tensor x = e(op.getOperand()).wide();
  const int64_t channels = x.dim(op.getDimensionAttr().getInt());
  SmallVector<int64_t> dims, shape(x.rank(), 1);
  shape[channels] = x.shape()[channels];
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (dim != channels)
      dims.push_back(dim);
  const auto perChannel = [&](Value value) { return e(value).wide().reshape(shape); };
  Tensor mean = x.mean(dims), centered = x - mean;
  Tensor variance = (centered * centered).mean(dims);
  Tensor made = centered * (variance + op.getEpsilon().convertToDouble()).rsqrt() * perChannel(op.getScale()) +
                perChannel(op.getOffset());
  const double momentum = op.getMomentum().convertToDouble();
  return {made, perChannel(op.getRunningMean()) * (1 - momentum) + mean * momentum,
          perChannel(op.getRunningVariance()) * (1 - momentum) + variance * momentum};
}

void tt::addTrainingComposites(CompositeTable &table) {
  addComposite<ttir::AdamWOp>(table, resultsOf);
  addComposite<ttir::BatchNormTrainingOp>(table, resultsOf);
  addComposite<ttir::GeluBackwardOp>(table, resultsOf);
}

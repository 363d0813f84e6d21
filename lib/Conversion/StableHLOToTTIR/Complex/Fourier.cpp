//===- Fourier.cpp - Fourier transforms as matrix products ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Complex.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

/// scale * function(2 pi j k / n) for rows j and columns k; the product is reduced before it is rounded.
template <class F>
static Expr matrix(Expr like, int64_t rows, int64_t columns, int64_t n, F function, ArrayRef<double> rowScales = {}) {
  ImplicitLocOpBuilder &builder = like.build();
  std::vector<float> values;
  values.reserve(static_cast<size_t>(rows * columns));
  for (int64_t j = 0; j < rows; ++j)
    for (int64_t k = 0; k < columns; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      values.push_back(static_cast<float>(function(angle) * (rowScales.empty() ? 1.0 : rowScales[j])));
    }
  auto type = RankedTensorType::get({rows, columns}, builder.getF32Type());
  return {builder, stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(type, ArrayRef<float>(values)))};
}

/// The last dimension times a matrix.
static Expr multiply(Expr x, Expr factors) {
  ImplicitLocOpBuilder &builder = x.build();
  SmallVector<int64_t> shape(x.shape());
  shape.back() = factors.size(1);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(builder.getContext(), {}, {}, {x.rank() - 1}, {0});
  return {builder, stablehlo::DotGeneralOp::create(builder, x.type().clone(shape), x.value(), factors.value(), numbers,
                                                   ArrayAttr(), stablehlo::DotAlgorithmAttr())};
}

static double cosine(double angle) { return std::cos(angle); }
static double sine(double angle) { return std::sin(angle); }

/// All elements of the last dimension; the inverse is divided by their number.
static Complex transform(Complex x, int64_t n, bool isInverse) {
  Expr c = matrix(x.re, n, n, n, cosine), s = matrix(x.re, n, n, n, sine);
  Expr reC = multiply(x.re, c), reS = multiply(x.re, s), imC = multiply(x.im, c), imS = multiply(x.im, s);
  if (!isInverse)
    return {reC + imS, imC - reS};
  const double scale = 1.0 / static_cast<double>(n);
  return {(reC - imS) * scale, (imC + reS) * scale};
}

static Expr swapped(Expr x, int64_t dimension) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq(x.rank()));
  std::swap(order[dimension], order.back());
  return x.transpose(order);
}

Complex hlo::fourier(stablehlo::FftType type, ArrayRef<int64_t> lengths, Complex x) {
  const int64_t rank = x.re.rank(), count = static_cast<int64_t>(lengths.size()), n = lengths.back();
  const bool isInverse = type == stablehlo::FftType::IFFT || type == stablehlo::FftType::IRFFT;
  if (type == stablehlo::FftType::RFFT) {
    const int64_t half = n / 2 + 1;
    Expr re = multiply(x.re, matrix(x.re, n, half, n, cosine)), im = multiply(x.re, matrix(x.re, n, half, n, sine));
    x = {re, -im};
  }
  const bool isReal = type == stablehlo::FftType::RFFT || type == stablehlo::FftType::IRFFT;
  for (int64_t i = 0; i < count - (isReal ? 1 : 0); ++i) {
    const int64_t dimension = rank - count + i;
    const bool isLast = dimension == rank - 1;
    Complex turned = isLast ? x : Complex{swapped(x.re, dimension), swapped(x.im, dimension)};
    turned = transform(turned, lengths[i], isInverse);
    x = isLast ? turned : Complex{swapped(turned.re, dimension), swapped(turned.im, dimension)};
  }
  if (type != stablehlo::FftType::IRFFT)
    return x;
  // Each but the first and the middle one also represents its conjugate.
  const int64_t half = n / 2 + 1;
  SmallVector<double> scales(half, 2.0 / static_cast<double>(n));
  scales.front() /= 2;
  if (n % 2 == 0 && n > 1)
    scales.back() /= 2;
  Expr re = multiply(x.re, matrix(x.re, half, n, n, cosine, scales)),
       im = multiply(x.im, matrix(x.im, half, n, n, sine, scales));
  return {re - im, re};
}

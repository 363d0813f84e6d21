//===- Factors.h - how dimensions follow one another ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A factor is a dimension, or a part of one, that operands and results share: it states which dimensions of an op are
// split together. Sharding, micro-batches, local shapes and fracturing use the same factors. The rules of families are
// here once; ops of any dialect describe themselves to them. Standard C++ only.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_SHAPES_FACTORS_H
#define TTMLIR_SHAPES_FACTORS_H

#include "ttmlir/shapes/Small.h"

#include <optional>
#include <string_view>

namespace ttmlir::shapes {

/// The action that splitting a factor requires: none, combine partial results, gather it before the op, or exchange
/// data with neighbors.
enum class FactorKind : unsigned char { PassThrough, Reduction, NeedReplication, Permutation };

struct FactorType {
  FactorKind kind = FactorKind::PassThrough;
  /// Shardings never pass along it.
  bool isBlocked = false;
};

inline constexpr FactorType kPassThrough{}, kReduction{FactorKind::Reduction},
    kNeedReplication{FactorKind::NeedReplication}, kPermutation{FactorKind::Permutation},
    kBlocked{FactorKind::PassThrough, true}, kBlockedReplication{FactorKind::NeedReplication, true};

/// The factors along which shardings propagate: all; those along which no device needs data of others; or these and the
/// windows that the edges of neighbors complete.
enum class FactorMode : unsigned char { Full, Conservative, Edges };

/// A dimension of no tensor, or a tensor without the factor.
inline constexpr int64_t kNone = -1;

/// The factors of an op. Tensors are numbered: operands, then results.
class Factors {
public:
  using Dimension = Small<int64_t, 2>; // its factors, the most significant first
  struct Place {
    int64_t tensor, dim;
  };
  /// An integer attribute with one size for each dimension of a tensor. It is divided where the dimension is divided.
  struct SizeAttribute {
    std::string_view name;
    size_t tensor;
  };

  Factors() = default;
  Factors(std::span<const View> operandShapes, std::span<const View> resultShapes);

  size_t numOperands() const { return operands; }
  size_t numResults() const { return shapes.size() - operands; }
  size_t numTensors() const { return shapes.size(); }
  View tensor(size_t index) const { return shapes[index]; }
  View operand(size_t index) const { return shapes[index]; }
  View result(size_t index) const { return shapes[operands + index]; }

  size_t size() const { return sizes.size(); }
  int64_t sizeOf(int64_t factor) const { return sizes[static_cast<size_t>(factor)]; }
  FactorType typeOf(int64_t factor) const { return types[static_cast<size_t>(factor)]; }
  std::span<const Dimension> dimensions(size_t tensor) const { return places[tensor]; }
  std::span<const SizeAttribute> sizeAttributes() const { return attributes; }

  /// Adds a factor that is dimension `dims[i]` of tensor i; kNone if tensor i lacks it.
  Factors &add(View dims, int64_t size, FactorType type = kPassThrough);
  Factors &add(std::initializer_list<int64_t> dims, int64_t size, FactorType type = kPassThrough) {
    return add(View(dims.begin(), dims.size()), size, type);
  }
  /// Adds a factor at these places; places that no tensor has are omitted.
  Factors &addAt(std::span<const Place> at, int64_t size, FactorType type = kPassThrough);
  Factors &addAt(std::initializer_list<Place> at, int64_t size, FactorType type = kPassThrough) {
    return addAt(std::span<const Place>(at.begin(), at.size()), size, type);
  }
  /// Adds a factor for each dimension of the shape, in all tensors of its rank. `type(dim)` is an optional FactorType;
  /// a dimension without one gets no factor.
  template <class Function> Factors &pointwise(View shape, Function &&type) {
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (std::optional<FactorType> found = type(static_cast<int64_t>(dim)))
        addEverywhere(shape, dim, *found);
    return *this;
  }
  Factors &pointwise(View shape) {
    return pointwise(shape, [](int64_t) { return std::optional(kPassThrough); });
  }
  Factors &statesSizes(std::string_view attribute, size_t tensor) {
    attributes.push_back({attribute, tensor});
    return *this;
  }
  /// Gives factors of size 1, which nothing splits, to dimensions that no factor covers, and moves the factors out of
  /// here.
  Factors finish();

private:
  void addEverywhere(View shape, size_t dim, FactorType type);

  size_t operands = 0;
  std::vector<Sizes> shapes;
  std::vector<std::vector<Dimension>> places;
  Sizes sizes;
  std::vector<FactorType> types;
  std::vector<SizeAttribute> attributes;
};

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// Operands and results have one shape; scalars are allowed among operands.
void elementwiseFactors(Factors &factors);
/// NumPy's broadcasting of all operands, aligned at the last dimension.
void broadcastFactors(Factors &factors);
/// Dimension i of operand 0 is dimension `dims[i]` of the result, which repeats it if its size differs.
void broadcastFactors(Factors &factors, View dims);
/// Dimension i of the result is dimension `order[i]` of the operand.
void transposeFactors(Factors &factors, View order);
/// The same elements, row-major. False for shapes without elements.
bool reshapeFactors(Factors &factors);
/// All tensors have one rank; dimensions in `dims` have that type, and others are pass-through.
void alongFactors(Factors &factors, View dims, FactorType type);
/// Operands, then results, some of whose dimensions have other sizes: these have that type.
void resizeFactors(Factors &factors, FactorType type);
/// Dimensions of a product of two operands: in pairs, summed over in pairs, and free ones in order.
struct ProductDims {
  View batchLhs, batchRhs, contractLhs, contractRhs;
};
void productFactors(Factors &factors, const ProductDims &dims);
/// `inputs` operands reduced along `dims`; results lack these dimensions, or keep them with size 1.
void reductionFactors(Factors &factors, size_t inputs, View dims, bool keepsDims);
/// Builds the factors of a collective; the dimensions in `whole` are unsplit in operands and results.
void collectiveFactors(Factors &factors, View whole);
/// Operand 0 and the result have one shape; vectors among the operands follow dimension `feature`. `others` is the type
/// of the other dimensions.
void featureFactors(Factors &factors, size_t feature, FactorType others);

} // namespace ttmlir::shapes

#endif // TTMLIR_SHAPES_FACTORS_H

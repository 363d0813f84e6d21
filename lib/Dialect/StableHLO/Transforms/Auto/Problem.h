//===- Problem.h - what may be split how, and what that costs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_PROBLEM_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_PROBLEM_H

#include "Model.h"
#include "Solver.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <limits>

namespace mlir::tt::shlo::autosharding {

/// One way to compute an op, or to hold an argument or a copy.
struct Candidate {
  /// Operands, then results, while the op runs; captured values of regions follow the operands.
  SmallVector<Dims, 4> operands, results;
  /// Partial results are combined along these axes, and scattered along a dimension, or -1.
  sdy::Axes reduced;
  int64_t scattered = -1;
  Time time;

  /// Returns how the users of a result receive it.
  Dims given(unsigned result) const;
};
using Candidates = std::shared_ptr<const std::vector<Candidate>>;

/// Returns dims that are not split, for a tensor; none for another type.
Dims wholeOf(Type type);

/// An argument, an op, or the copy that the users of a value share.
struct Variable {
  Value value;
  Operation *op = nullptr;
  SmallVector<Value> inputs; // of an op: its operands, then what its regions capture
  Candidates candidates;

  bool isArgument() const { return !op && isa<BlockArgument>(value) && !isCopy; }
  bool isCopy = false;
};

/// Restricts the search by its arguments: inputs split by their first dimension and weights replicated; inputs
/// replicated and matrices split over all chips; everything replicated.
enum class Variant { Any, DataParallel, TensorParallel, Whole };

/// The maximum number of ways to compute an op or to split an argument: costs are tables over the ways of two. Only
/// tensors of more than 30 dimensions reach it.
inline constexpr size_t mostCandidates = 1024;

/// The variables of a function and the reshards between them.
class Problem {
public:
  Problem(func::FuncOp function, sdy::MeshAttr mesh, const sdy::Meshes &meshes, Model &model);

  /// The price of a byte that a chip holds, in nanoseconds: for the first `count` arguments and for results at the
  /// point of largest use, and for the other arguments.
  struct Price {
    double perByte = 0, perByteOfRest = 0;
    unsigned count = std::numeric_limits<unsigned>::max();
  };
  Network network(Variant variant, Price price) const;
  /// Returns the assignment that splits nothing.
  std::vector<unsigned> start() const;

  unsigned numArguments() const { return function.getNumArguments(); }

  Time timeOf(ArrayRef<unsigned> choice) const;
  struct Memory {
    int64_t arguments = 0, activations = 0;
    int64_t total() const { return arguments + activations; }
  };
  Memory memoryOf(ArrayRef<unsigned> choice) const;

  /// Writes the choice as shardings of arguments and results, and as reshards.
  void apply(ArrayRef<unsigned> choice, Attribute meshOrRef) const;

private:
  std::vector<Variable> variables;
  sdy::MeshAttr mesh;

  struct Source {
    unsigned variable, result;
  };
  struct Join {
    Source from;
    unsigned to, operand;
    RankedTensorType type;
  };

  void addArgument(BlockArgument argument);
  void addOp(Operation *op);
  void addCopies();
  Candidates candidatesOf(Operation *op, ArrayRef<Value> inputs);
  std::vector<Dims> splitsOf(RankedTensorType type) const;
  std::optional<Dims> given(Value value) const;
  Dims dimsOf(Source source, ArrayRef<unsigned> choice) const;
  void findPeak();

  mutable func::FuncOp function; // ops have no const access
  const sdy::Meshes &meshes;
  Model &model;
  sdy::RuleCache rules;
  SmallVector<sdy::Axis> axes;
  DenseMap<Value, Source> sources;
  std::vector<Join> joins;
  std::map<std::vector<const void *>, Candidates> known;
  /// Values that need no data of other devices, whatever their sharding: they are computed from constants.
  DenseSet<Value> isFree;
  /// Arguments that are only rearranged on their way to the second operand of a product.
  DenseSet<Value> weights;
  SmallVector<Source> alivePeak;
};

} // namespace mlir::tt::shlo::autosharding

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_PROBLEM_H

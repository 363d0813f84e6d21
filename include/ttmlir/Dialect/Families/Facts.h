//===- Facts.h - what ops do to values --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The traits of Families/Facts.td, which ops of all dialects may have.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_FAMILIES_FACTS_H
#define TTMLIR_DIALECT_FAMILIES_FACTS_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::tt::trait {

#define TTMLIR_FACT(name)                                                                                              \
  template <class ConcreteOp> class name : public OpTrait::TraitBase<ConcreteOp, name> {}

/// Each element of the results is an element of an operand, up to conversion to a declared element type, or a fill
/// value (FillsValues). Which element it is may depend on other operands (positions, predicates) or on regions.
TTMLIR_FACT(MovesValues);
/// Its results are operands, or values that its region or function returns. Not MovesValues: a rewrite that moves such
/// ops past others, or folds them, may not cross this one.
TTMLIR_FACT(ForwardsValues);
/// Some elements of its results may be zero, or the value of an attribute.
TTMLIR_FACT(FillsValues);
/// May give other values in every run.
TTMLIR_FACT(DrawsValues);
/// A result element depends on its place in the whole result: a part of the result is not the result of that size.
TTMLIR_FACT(DependsOnPlace);
/// Makes one tensor of what the devices of a mesh hold.
TTMLIR_FACT(JoinsShards);
/// Writes to a cache of keys or values, its first operand.
TTMLIR_FACT(WritesCache);
/// Convolves its first operand with weights, its second operand.
TTMLIR_FACT(Convolves);
/// Its second operand is a weight, which may be kept in a format of fewer bits.
TTMLIR_FACT(TakesWeight);
/// Gives 1 where a comparison of its operands holds, else 0.
TTMLIR_FACT(Compares);
/// Reads each operand as a truth value, which is false for 0, and gives 1 or 0.
TTMLIR_FACT(ComputesTruth);
/// Reads operands as bits, not as numbers.
TTMLIR_FACT(ReadsBits);
/// Gives each device a result of the operands of all devices along an axis of the mesh, gathered or reduced.
TTMLIR_FACT(CombinesShards);
/// Gives the same global tensor in another sharding.
TTMLIR_FACT(ChangesSharding);
/// Has a region that is applied to elements of the operands, and does not run as a part of the program.
TTMLIR_FACT(AppliesRegion);
/// Runs regions or functions as often, or those, that its operands say: a loop or a branch.
TTMLIR_FACT(ControlsFlow);
/// Runs functions that its attributes name, and gives what they return.
TTMLIR_FACT(RunsFunctions);
/// Is evaluated once, before the first run of the program, and its results are kept.
TTMLIR_FACT(RunsOnce);
/// Its results lie in memory of the host.
TTMLIR_FACT(GivesHostTensor);
/// Has the shardings of its region's arguments, and those of its results, in attributes of its own.
TTMLIR_FACT(ListsShardings);
/// Makes a tensor without reading one.
TTMLIR_FACT(Creation);
/// Sums products of its operands, weights among them: what narrow formats are made for.
TTMLIR_FACT(Product);
/// Gives its first operand as quantized values, as the floats that these stand for, or in another quantization.
TTMLIR_FACT(ChangesQuantization);
/// Each result has the shape of the operand of the same number.
TTMLIR_FACT(KeepsShape);
/// Holds each element of its one operand once, in another shape or with its dimensions in another order.
TTMLIR_FACT(Rearranges);
/// Holds the elements of its first operand along new or longer dimensions.
TTMLIR_FACT(Repeats);
/// Reads or writes a block whose start is an operand.
TTMLIR_FACT(TakesStart);
/// Belongs, on constants, to an expression of constants that is cloned for each use (Shardy).
TTMLIR_FACT(KeepsConstants);
/// Integer results are elements of operands, between them, not further from 0 than they are, truth values or positions:
/// in the range of a narrow type if the operands are.
TTMLIR_FACT(KeepsRange);
/// A result element is computed of the operand elements at the same place, and of scalars.
TTMLIR_FACT(Pointwise);
/// The sum of its results for two sets of operands is its result for the sums of the operands.
TTMLIR_FACT(Linear);
/// Linear in its first operand, while the others stay.
TTMLIR_FACT(LinearInFirst);
/// Linear in each of its operands, while the others stay.
TTMLIR_FACT(LinearInEach);

#undef TTMLIR_FACT

} // namespace mlir::tt::trait

namespace mlir::tt {

/// Whether each element of the op's one result is an element of an operand, and no region looks at it.
inline bool movesOnlyOperands(Operation *op) {
  return op->hasTrait<trait::MovesValues>() && !op->hasTrait<trait::FillsValues>() && op->getNumResults() == 1 &&
         op->getNumRegions() == 0;
}

/// Whether the op has regions that run as parts of the program: a loop, a branch, a computation.
inline bool runsRegions(Operation *op) { return op->getNumRegions() != 0 && op->hasTrait<trait::ForwardsValues>(); }

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_FACTS_H

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
/// Its results are operands, or values that its region or function returns. It is not MovesValues: a rewrite that moves
/// such ops past others, or folds them, may not cross this one.
TTMLIR_FACT(ForwardsValues);
/// Some elements of its results may be zero, or the value of an attribute.
TTMLIR_FACT(FillsValues);
/// May return other values in every run.
TTMLIR_FACT(DrawsValues);
/// A result element depends on its position in the whole result: a part of the result is not the result of that size.
TTMLIR_FACT(DependsOnPlace);
/// Combines the values of the devices of a mesh into one tensor.
TTMLIR_FACT(JoinsShards);
/// Writes to a cache of keys or values, its first operand.
TTMLIR_FACT(WritesCache);
/// Convolves its first operand with weights, its second operand.
TTMLIR_FACT(Convolves);
/// Its second operand is a weight, which may be kept in a format of fewer bits.
TTMLIR_FACT(TakesWeight);
/// Returns 1 where a comparison of its operands holds, else 0.
TTMLIR_FACT(Compares);
/// Reads each operand as a truth value, which is false for 0, and returns 1 or 0.
TTMLIR_FACT(ComputesTruth);
/// Reads operands as bits, not as numbers.
TTMLIR_FACT(ReadsBits);
/// Returns to each device a result computed from the operands of all devices along an axis of the mesh, gathered or
/// reduced.
TTMLIR_FACT(CombinesShards);
/// Returns the same global tensor in another sharding.
TTMLIR_FACT(ChangesSharding);
/// Has a region that is applied to elements of the operands, and that does not run as a part of the program.
TTMLIR_FACT(AppliesRegion);
/// Runs regions or functions as often as its operands say, or those that its operands select: a loop or a branch.
TTMLIR_FACT(ControlsFlow);
/// Runs functions that its attributes name, and returns their results.
TTMLIR_FACT(RunsFunctions);
/// Is evaluated once, before the first run of the program, and its results are kept.
TTMLIR_FACT(RunsOnce);
/// Its results are in host memory.
TTMLIR_FACT(GivesHostTensor);
/// Holds the shardings of its region's arguments, and those of its results, in its own attributes.
TTMLIR_FACT(ListsShardings);
/// Holds a module that runs on one kind of processor.
TTMLIR_FACT(HoldsModule);
/// Is replaced before the rest of its dialect is lowered: folded where shapes are known, ordered by the program, or
/// computed by parts of complex and quantized numbers.
TTMLIR_FACT(ReplacedEarly);
/// Waits for a block of a circular buffer, or for room for one, and gives it.
TTMLIR_FACT(AwaitsBlock);
/// Hands a block of a circular buffer over, or gives its room back.
TTMLIR_FACT(ReleasesBlock);
/// Copies between memories, or waits for such a copy.
TTMLIR_FACT(CopiesMemory);
/// Makes tiles of rows of elements, or such rows of tiles.
TTMLIR_FACT(ConvertsTiles);
/// Configures a unit of a core for the ops that follow.
TTMLIR_FACT(ConfiguresUnit);
/// Makes a tensor without reading one.
TTMLIR_FACT(Creation);
/// Sums products of its operands, which include weights: narrow formats are meant for it.
TTMLIR_FACT(Product);
/// Returns its first operand quantized, dequantized, or in another quantization.
TTMLIR_FACT(ChangesQuantization);
/// Each result has the shape of the operand with the same number.
TTMLIR_FACT(KeepsShape);
/// Holds each element of its one operand once, with another shape or another order of dimensions.
TTMLIR_FACT(Rearranges);
/// Holds the elements of its one operand in the same row-major order, in another shape.
TTMLIR_FACT(KeepsOrder);
/// Holds the elements of its first operand along new or longer dimensions.
TTMLIR_FACT(Repeats);
/// Reads or writes a block whose start is an operand.
TTMLIR_FACT(TakesStart);
/// Belongs, on constants, to a constant expression that is cloned for each use (Shardy).
TTMLIR_FACT(KeepsConstants);
/// Integer results are elements of operands, values between them or not further from 0 than they are, truth values, or
/// positions: they are in the range of a narrow type if the operands are.
TTMLIR_FACT(KeepsRange);
/// Divides by its second operand: integers have no result where that is 0, nor the lowest one where it is -1.
TTMLIR_FACT(Divides);
/// Gives x where both operands are x.
TTMLIR_FACT(KeepsEqual);
/// A result element is computed from the operand elements at the same position, and from scalars.
TTMLIR_FACT(Pointwise);
/// Its result for the sums of two sets of operands is the sum of its results for each set.
TTMLIR_FACT(Linear);
/// Linear in its first operand for fixed other operands.
TTMLIR_FACT(LinearInFirst);
/// Linear in each of its operands for fixed other operands.
TTMLIR_FACT(LinearInEach);

#undef TTMLIR_FACT

} // namespace mlir::tt::trait

namespace mlir::tt {

/// Whether each element of the op's one result is an element of an operand, and no region reads it.
inline bool movesOnlyOperands(Operation *op) {
  return op->hasTrait<trait::MovesValues>() && !op->hasTrait<trait::FillsValues>() && op->getNumResults() == 1 &&
         op->getNumRegions() == 0;
}

/// Whether the op has regions that run as parts of the program: a loop, a branch, a computation.
inline bool runsRegions(Operation *op) { return op->getNumRegions() != 0 && op->hasTrait<trait::ForwardsValues>(); }

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_FACTS_H

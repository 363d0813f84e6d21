//===- TTKernelToEmitC.cpp - C++ source of kernels ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"

#include "mlir/Conversion/ArithToEmitC/ArithToEmitC.h"
#include "mlir/Conversion/SCFToEmitC/SCFToEmitC.h"
#include "mlir/Dialect/EmitC/Transforms/TypeConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTTTKERNELTOEMITC
#include "ttmlir/Conversion/D2MToTTMetal/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// Returns the function that an op calls: the one of its name, with few exceptions.
static std::string calleeOf(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name.consume_front("experimental."))
    return ("experimental::" + name).str();
  name.consume_front("tensor_accessor."); // a function that takes the accessor
  if (name == "my_logical_x_")
    return "get_absolute_logical_x";
  if (name == "my_logical_y_")
    return "get_absolute_logical_y";
  return name.str();
}

/// Template arguments of reduce_init and reduce_tile.
template <class Op> static std::pair<StringRef, StringRef> reductionOf(Op op) {
  using ttkernel::ReduceDim, ttkernel::ReduceType;
  const ReduceType type = op.getReduceType();
  const ReduceDim dim = op.getReduceDim();
  return {type == ReduceType::Sum   ? "PoolType::SUM"
          : type == ReduceType::Max ? "PoolType::MAX"
                                    : "PoolType::AVG",
          dim == ReduceDim::Row   ? "ReduceDim::REDUCE_ROW"
          : dim == ReduceDim::Col ? "ReduceDim::REDUCE_COL"
                                  : "ReduceDim::REDUCE_SCALAR"};
}

/// The template argument of unary_bcast and its init.
static StringRef broadcastOf(ttkernel::BcastType type) {
  switch (type) {
  case ttkernel::BcastType::None:
    return "BroadcastType::NONE";
  case ttkernel::BcastType::Col:
    return "BroadcastType::COL";
  case ttkernel::BcastType::Row:
    return "BroadcastType::ROW";
  case ttkernel::BcastType::Scalar:
    return "BroadcastType::SCALAR";
  }
  llvm_unreachable("a part of a tile that is none of the enum's");
}

namespace {
/// An op becomes a call of the function of its name.
struct CallPattern : ConversionPattern {
  CallPattern(const TypeConverter &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<ttkernel::TTKernelDialect>(op->getDialect()))
      return failure();
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), results)))
      return failure();
    SmallVector<Attribute> arguments, templates;
    for (size_t i = 0; i < operands.size(); ++i)
      arguments.push_back(rewriter.getIndexAttr(static_cast<int64_t>(i)));
    // Attributes are constants: bits of bounds, template arguments.
    const auto opaque = [&](const Twine &text) { return emitc::OpaqueAttr::get(op->getContext(), text.str()); };
    const auto bits = [&](APFloat value) {
      return opaque("0x" + llvm::Twine::utohexstr(value.bitcastToAPInt().getZExtValue()) + "u");
    };
    const auto formats = [&](ttcore::DataType from, ttcore::DataType to) {
      for (ttcore::DataType format : {from, to})
        templates.push_back(opaque(Twine(static_cast<uint32_t>(format)) + "u"));
    };
    TypeSwitch<Operation *>(op)
        .Case([&](ttkernel::GetCompileTimeArgValOp get) { arguments.push_back(opaque(Twine(get.getArgIndex()))); })
        .Case([&](ttkernel::GetCommonArgValOp get) {
          arguments.push_back(opaque(Twine(get.getArgIndex())));
          templates.push_back(opaque("uint32_t"));
        })
        .Case([&](ttkernel::TensorAccessorArgsOp args) { templates.push_back(opaque(Twine(args.getArgIndex()))); })
        .Case([&](ttkernel::TensorAccessorGetNocAddrOp) { std::swap(arguments[0], arguments[1]); })
        .Case<ttkernel::ReduceInitOp, ttkernel::ReduceTileOp>([&](auto reduce) {
          auto [type, dim] = reductionOf(reduce);
          templates.append({opaque(type), opaque(dim)});
        })
        .Case<ttkernel::UnaryBcastInitOp, ttkernel::UnaryBcastOp>(
            [&](auto bcast) { templates.push_back(opaque(broadcastOf(bcast.getBcastType()))); })
        .Case<ttkernel::PackTileOp, ttkernel::GetNocAddrFromBankIDOp>(
            [&](auto) { templates.push_back(opaque("true")); })
        .Case([&](ttkernel::ClampTileOp clamp) { arguments.append({bits(clamp.getMin()), bits(clamp.getMax())}); })
        .Case([&](ttkernel::CheckPositionsTileOp check) {
          arguments.append({opaque(Twine(check.getSize()) + "u"), opaque("\"" + check.getOpName() + "\"")});
        })
        .Case([&](ttkernel::FillTileOp fill) {
          const APFloat value = fill.getValue();
          // Kernels include no header with names for these.
          if (value.isFinite())
            arguments.push_back(fill.getValueAttr());
          else if (value.isNaN())
            arguments.push_back(opaque("__builtin_nanf(\"\")"));
          else
            arguments.push_back(opaque(value.isNegative() ? "-__builtin_inff()" : "__builtin_inff()"));
        })
        .Case([&](ttkernel::TypecastTileOp cast) { formats(cast.getFrom(), cast.getTo()); })
        .Case([&](ttkernel::TypecastTileInitOp cast) { formats(cast.getFrom(), cast.getTo()); });
    rewriter.replaceOpWithNewOp<emitc::CallOpaqueOp>(
        op, results, calleeOf(op), operands, rewriter.getArrayAttr(arguments),
        templates.empty() ? ArrayAttr() : rewriter.getArrayAttr(templates));
    return success();
  }
};

struct ConvertTTKernelToEmitC : tt::impl::ConvertTTKernelToEmitCBase<ConvertTTKernelToEmitC> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(ttkernel::threadName))
      return;
    MLIRContext *context = &getContext();
    TypeConverter types;
    types.addConversion([](Type type) { return type; });
    types.addConversion([context](ttkernel::CBType) { return emitc::OpaqueType::get(context, "uint32_t"); });
    const auto inferred = [context](Type) { return emitc::OpaqueType::get(context, "auto"); };
    types.addConversion([inferred](ttkernel::TensorAccessorArgsType type) { return inferred(type); });
    types.addConversion([inferred](ttkernel::TensorAccessorType type) { return inferred(type); });
    populateEmitCSizeTTypeConversions(types);
    RewritePatternSet patterns(context);
    patterns.add<CallPattern>(types, context);
    populateArithToEmitCPatterns(types, patterns);
    populateSCFToEmitCConversionPatterns(patterns, types);
    ConversionTarget target(*context);
    target.addLegalDialect<emitc::EmitCDialect>();
    target.addLegalDialect<func::FuncDialect>();
    target.addIllegalDialect<ttkernel::TTKernelDialect, arith::ArithDialect, scf::SCFDialect>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

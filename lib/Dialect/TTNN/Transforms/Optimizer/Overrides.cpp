//===- Overrides.cpp - layouts and configs that a user asks for -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Overrides.h"

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToMemoryConfigOp.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

StringRef ttnn::nameOf(Location loc) {
  StringRef name;
  loc->walk([&](Location each) {
    auto named = dyn_cast<NameLoc>(each);
    if (named)
      name = named.getName();
    return named ? WalkResult::interrupt() : WalkResult::advance();
  });
  return name;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

FailureOr<Overrides> Overrides::parse(ModuleOp module, StringRef outputLayouts, StringRef memoryReconfigs,
                                      StringRef convConfigs) {
  Overrides created;
  auto each = [&](StringRef option, StringRef text, StringRef form,
                  function_ref<bool(Row &, StringRef)> take) -> LogicalResult {
    SmallVector<StringRef> entries;
    text.split(entries, ',', -1, /*KeepEmpty=*/false);
    llvm::StringSet<> names;
    for (StringRef entry : entries) {
      auto [name, value] = entry.trim().split('=');
      if (!names.insert(name).second)
        return module.emitError() << "option " << option << " names '" << name << "' twice";
      if (name.empty() || value.empty() || !take(created.rows[name], value))
        return module.emitError() << "option " << option << ": '" << entry << "' is not " << form;
    }
    return success();
  };
  auto isLayout = [](Row &row, StringRef value) {
    for (StringRef part : llvm::split(value, ':'))
      row.layout.push_back(part.str());
    return true;
  };
  auto areOperands = [](Row &row, StringRef value) {
    for (StringRef part : llvm::split(value, ':')) {
      int64_t index;
      if (part.getAsInteger(10, index) || index < 0)
        return false;
      row.operands.push_back(index);
    }
    return true;
  };
  auto areFields = [](Row &row, StringRef value) {
    for (StringRef part : llvm::split(value, ':')) {
      auto [field, to] = part.split('#');
      if (field.empty() || to.empty())
        return false;
      row.conv.emplace_back(field.str(), to.str());
    }
    return true;
  };
  if (failed(each("override-output-layout", outputLayouts,
                  "NAME=GRID:BUFFER:MEMORY:ORDER:TYPE, such as add_1=8x8:l1:block_sharded:tile:bf16", isLayout)) ||
      failed(each("insert-memreconfig", memoryReconfigs, "NAME=OPERAND:OPERAND..., such as add_1=0", areOperands)) ||
      failed(each("override-conv2d-config", convConfigs,
                  "NAME=FIELD#VALUE:FIELD#VALUE..., such as conv2d_1=act_block_h_override#32", areFields)))
    return failure();
  return created;
}

static bool isConvolution(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return isa_and_nonnull<TTNNDialect>(op->getDialect()) && (name == "conv2d" || name == "conv_transpose2d");
}

/// Several ops may have one name, as the results of lowering one op; one of them has to match the option.
LogicalResult Overrides::check(ModuleOp module) const {
  if (rows.empty())
    return success();
  struct Found {
    bool any = false, placeable = false, conv = false, once = false;
    Operation *stays = nullptr; // a result that is not
    int64_t operands = 0;
  };
  llvm::StringMap<Found> names;
  module.walk([&](Operation *op) {
    auto row = rows.find(nameOf(op->getLoc()));
    if (row == rows.end())
      return;
    Found &found = names[row->getKey()];
    found.any = true;
    found.conv |= isConvolution(op);
    if (familyOf(op) == Family::None)
      return;
    // Layouts are not chosen for values that are evaluated once.
    if (auto function = op->getParentOfType<func::FuncOp>(); function && !choosesLayouts(function)) {
      found.once = true;
      return;
    }
    if (isPlaceable(op))
      found.placeable = true;
    else
      found.stays = op;
    found.operands =
        std::max<int64_t>(found.operands, llvm::count_if(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>));
  });
  for (const auto &[name, row] : rows) {
    const Found found = names.lookup(name);
    auto error = [&](StringRef option) {
      return module.emitError() << "option " << option << " names '" << name << "', ";
    };
    if (!found.any)
      return module.emitError() << "option override-output-layout, insert-memreconfig or override-conv2d-config names '"
                                << name << "', which is the location of no op";
    if (!row.layout.empty() && !found.placeable)
      return found.stays ? found.stays->emitOpError()
                               << "option override-output-layout: the result stays in "
                               << describe(TTNNLayoutAttr::of(found.stays->getResult(0).getType()))
                               << ": it leaves the program, or is written to"
                         : error("override-output-layout")
                               << (found.once ? "which is evaluated before the program runs; its place is no choice"
                                              : "where no op computes on the device");
    if (!row.conv.empty() && !found.conv)
      return error("override-conv2d-config") << "which is no conv2d or conv_transpose2d; one that others were fused "
                                                "into has the name of the last of them";
    if (!row.operands.empty() && !found.operands && found.once)
      return error("insert-memreconfig") << "which is evaluated before the program runs; its operands stay in DRAM";
    for (int64_t operand : row.operands)
      if (operand >= found.operands)
        return error("insert-memreconfig") << "which has " << found.operands << " tensor operands; operand " << operand
                                           << " is requested (they are counted from 0)";
  }
  return success();
}

const Overrides::Row *Overrides::find(Operation *op) const {
  if (rows.empty())
    return nullptr;
  auto found = rows.find(nameOf(op->getLoc()));
  return found == rows.end() ? nullptr : &found->getValue();
}

ArrayRef<int64_t> Overrides::reconfiguredOperands(Operation *op) const {
  const Row *row = find(op);
  return row ? ArrayRef(row->operands) : ArrayRef<int64_t>();
}

void Overrides::warnOfMove(Operation *op, StringRef why) const {
  if (op->hasAttr(ttcore::gridName))
    op->emitWarning() << ttcore::gridName << ": the result cannot stay in L1, and goes back to DRAM: " << why;
  const Row *row = find(op);
  if (!row)
    return;
  // An inserted change of layout has the name of the op after it.
  const bool isInserted = isa<ToMemoryConfigOp>(op);
  if (isInserted ? !row->operands.empty() : !row->layout.empty())
    op->emitWarning() << "option " << (isInserted ? "insert-memreconfig" : "override-output-layout")
                      << ": the result cannot stay in L1, and goes back to DRAM: " << why;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

FailureOr<TTNNLayoutAttr> Overrides::layoutOf(Operation *op, const ChipMemory &chip) const {
  const Row *row = find(op);
  if (!row || row->layout.empty() || !isPlaceable(op))
    return TTNNLayoutAttr();
  auto error = [&]() { return op->emitOpError() << "option override-output-layout: "; };
  if (op->getNumResults() != 1)
    return error() << "the op has " << op->getNumResults() << " results; expected one";
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(op->getResult(0).getType());
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<std::pair<int64_t, int64_t>> grid;
  std::optional<BufferType> buffer;
  std::optional<TensorMemoryLayout> memory;
  llvm::StringMap<StringRef> given;
  for (StringRef part : row->layout) {
    StringRef what;
    auto [first, second] = part.split('x');
    int64_t rows, columns;
    if (!first.getAsInteger(10, rows) && !second.getAsInteger(10, columns)) {
      what = "grid";
      grid = {rows, columns};
    } else if (auto found = symbolizeBufferType(part)) {
      what = "buffer";
      buffer = *found;
    } else if (auto found = symbolizeTensorMemoryLayout(part)) {
      what = "memory layout";
      memory = *found;
    } else if (part == "tile" || part == "row_major") {
      what = "order";
      if ((part == "tile") != layout.isTiled())
        return error() << "the order of the result is " << (layout.isTiled() ? "tile" : "row_major") << ", not '"
                       << part << "'; only its place can be chosen";
    } else if (auto found = ttcore::symbolizeDataType(part)) {
      what = "data type";
      if (*found != layout.getDataType())
        return error() << "the data type of the result is " << ttcore::stringifyDataType(layout.getDataType())
                       << ", not '" << part << "'; only its place can be chosen";
    } else {
      return error() << "'" << part
                     << "' is no grid (8x8), buffer (dram, l1), memory layout (interleaved, height_sharded, "
                        "width_sharded, block_sharded), order (tile, row_major) or data type";
    }
    if (auto [entry, isNew] = given.try_emplace(what, part); !isNew)
      return error() << "the " << what << " is given twice, as '" << entry->getValue() << "' and as '" << part << "'";
  }
  const TensorMemoryLayout kind = memory.value_or(TensorMemoryLayout::Interleaved);
  const BufferType where = buffer.value_or(kind == TensorMemoryLayout::Interleaved ? BufferType::DRAM : BufferType::L1);
  if (kind == TensorMemoryLayout::Interleaved) {
    if (grid)
      return error() << "'" << given.lookup("grid")
                     << "' is a grid of shards, and the result is interleaved; expected height_sharded, width_sharded "
                        "or block_sharded with it, or no grid";
    if (where == BufferType::DRAM)
      return layout;
    if (where == BufferType::L1)
      return interleavedInL1(type, layout);
  } else if (where == BufferType::L1) {
    TTNNLayoutAttr created =
        grid ? shardedInL1(type, layout, kind, grid->first, grid->second, chip) : shardedInL1(type, layout, kind, chip);
    if (created)
      return created;
    return error() << "no shards of " << type.getShape() << " in whole tiles lie on that grid; the chip has "
                   << chip.gridRows << 'x' << chip.gridColumns << " cores";
  }
  return error() << "results lie in dram (interleaved) or in l1, not " << stringifyTensorMemoryLayout(kind) << " in "
                 << stringifyBufferType(where);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The fields of `to` that are given, else those of `from`.
static Conv2dConfigAttr merged(Conv2dConfigAttr from, Conv2dConfigAttr to) {
  if (!from)
    return to;
  auto pick = [](auto given, auto old) { return given ? given : old; };
  return Conv2dConfigAttr::get(
      to.getContext(), pick(to.getWeightsDtype(), from.getWeightsDtype()),
      pick(to.getActivation(), from.getActivation()),
      pick(to.getDeallocateActivation(), from.getDeallocateActivation()),
      pick(to.getReallocateHaloOutput(), from.getReallocateHaloOutput()),
      pick(to.getActBlockHOverride(), from.getActBlockHOverride()), pick(to.getActBlockWDiv(), from.getActBlockWDiv()),
      pick(to.getReshardIfNotOptimal(), from.getReshardIfNotOptimal()),
      pick(to.getOverrideShardingConfig(), from.getOverrideShardingConfig()),
      pick(to.getShardLayout(), from.getShardLayout()), pick(to.getCoreGrid(), from.getCoreGrid()),
      pick(to.getTransposeShards(), from.getTransposeShards()), pick(to.getOutputLayout(), from.getOutputLayout()),
      pick(to.getEnableActDoubleBuffer(), from.getEnableActDoubleBuffer()),
      pick(to.getEnableWeightsDoubleBuffer(), from.getEnableWeightsDoubleBuffer()),
      pick(to.getEnableKernelStrideFolding(), from.getEnableKernelStrideFolding()),
      pick(to.getConfigTensorsInDram(), from.getConfigTensorsInDram()));
}

/// Null, with the error in `why`.
static Conv2dConfigAttr parseConfig(StringRef text, MLIRContext *context, std::string &why) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (why.empty())
      why = diagnostic.str();
    return success();
  });
  return dyn_cast_or_null<Conv2dConfigAttr>(parseAttribute(text, context));
}

LogicalResult Overrides::applyConvConfigs(ModuleOp module) const {
  WalkResult result = module.walk([&](Operation *op) {
    const Row *row = find(op);
    if (!row || row->conv.empty() || !isConvolution(op))
      return WalkResult::advance();
    std::string text = "#ttnn.conv2d_config<";
    auto refuse = [&](const Twine &why) {
      op->emitOpError() << "option override-conv2d-config: " << why;
      return WalkResult::interrupt();
    };
    for (const auto &[field, value] : row->conv) {
      // An activation changes the values of the program: it is fused, or it is not.
      if (field == "activation")
        return refuse("activation is fused from the program, and not chosen here");
      text += (text.back() == '<' ? "" : ", ") + field + " = " + value;
    }
    std::string why;
    Conv2dConfigAttr config = parseConfig(text + ">", module.getContext(), why);
    if (!config)
      return refuse(why);
    // Types of tensors are the program's, too.
    TTNNLayoutAttr weight = TTNNLayoutAttr::of(op->getOperand(1).getType()),
                   result = TTNNLayoutAttr::of(op->getResult(0).getType());
    if (auto requested = config.getWeightsDtype(); requested && weight && *requested != weight.getDataType())
      return refuse("weights_dtype is " + ttcore::stringifyDataType(*requested) + ", and the weights are " +
                    ttcore::stringifyDataType(weight.getDataType()));
    if (auto requested = config.getOutputLayout(); requested && result && *requested != result.getLayout())
      return refuse("output_layout is " + stringifyLayout(*requested) + ", and the result is " +
                    stringifyLayout(result.getLayout()));
    if (config.getActBlockWDiv() == 0u)
      return refuse("act_block_w_div is 0; expected a divisor of at least 1");
    op->setAttr("conv2d_config", merged(op->getAttrOfType<Conv2dConfigAttr>("conv2d_config"), config));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

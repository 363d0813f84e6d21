//===- Calls.cpp - mapping of TTNN ops to library calls -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Calls.h"

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AggregateTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/FromDeviceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TypecastOp.h"
#include "ttmlir/Target/TTNN/Api.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;
namespace api = ::tt::ttnn::api;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string emit::nameOf(Location location) {
  Location inner = ttcore::withoutSourceNumber(location);
  if (auto fused = dyn_cast<FusedLoc>(inner)) {
    for (Location part : fused.getLocations())
      if (std::string name = nameOf(part); !name.empty())
        return name;
    return "";
  }
  if (auto call = dyn_cast<CallSiteLoc>(inner))
    return nameOf(call.getCallee());
  auto named = dyn_cast<NameLoc>(inner);
  if (!named)
    return "";
  // "model.py:31" is where the op was written and not a name.
  StringRef name = named.getName(), line = name.rsplit(':').second;
  if (name.contains(':') && !line.empty() && llvm::all_of(line, llvm::isDigit))
    return "";
  return name.str();
}

SmallVector<StringRef> emit::resultNames(Operation *op) {
  const StringRef name = op->getName().getStringRef();
  const api::Op *described = api::findOp({name.data(), name.size()});
  if (!described || described->results.size() < 2)
    return {};
  // "result" is the computed value, in addition to "result_indices".
  return llvm::map_to_vector(described->results, [](std::string_view each) {
    StringRef result(each);
    result.consume_front("result_");
    return result == "result" ? StringRef("values") : result;
  });
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
/// Makes the call of one op.
class CallBuilder {
public:
  CallBuilder(Operation *op, const api::Function &row, const Syntax &syntax) : op(op), row(row), syntax(syntax) {}
  FailureOr<Call> run();
  /// The public name of the parameter that takes a value; empty if none does.
  StringRef parameterOf(Value value) {
    if (succeeded(matchOperands()))
      for (const auto &entry : tensors)
        if (llvm::is_contained(entry.second, value))
          return entry.first();
    return "";
  }

private:
  static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }
  bool isAttribute(const api::Parameter &parameter) const { return described && described->find(parameter.ods); }
  bool isTensor(const api::Parameter &parameter) const {
    return parameter.role == api::Role::Value && !isAttribute(parameter);
  }
  LogicalResult matchOperands();
  LogicalResult add(const api::Parameter &parameter);
  LogicalResult addValue(const api::Parameter &parameter, Argument &argument);
  void addResult(StringRef name, bool isRequired, Argument &argument);
  ttnn::TTNNLayoutAttr firstTensor() const;
  std::string defaultType(unsigned result, ttcore::DataType &type) const;
  std::optional<ttnn::Layout> defaultLayout() const;
  ttnn::BufferType defaultBuffer() const;

  Operation *op;
  const api::Function &row;
  const api::Op *described = api::findOp(row.op);
  const Syntax &syntax;
  Call call;
  bool keywords = false;
  llvm::StringMap<SmallVector<Value, 1>> tensors; // by public name
  bool givesDevice = false;
};
} // namespace

/// The tensors among the row's parameters are the op's operands in the same order.
LogicalResult CallBuilder::matchOperands() {
  SmallVector<const api::Parameter *> requested;
  for (const api::Parameter &parameter : row.parameters)
    if (isTensor(parameter))
      requested.push_back(&parameter);

  // Operands by ODS name, without the device.
  SmallVector<SmallVector<Value, 1>> groups;
  auto segments = dyn_cast_or_null<DenseI32ArrayAttr>(op->getInherentAttr("operandSegmentSizes").value_or(Attribute()));
  auto isDevice = [](Value value) { return isa<ttnn::DeviceType>(value.getType()); };
  if (segments) {
    unsigned next = 0;
    for (int32_t size : segments.asArrayRef()) {
      SmallVector<Value, 1> group(op->getOperands().slice(next, size));
      next += size;
      if (group.empty() || !isDevice(group.front()))
        groups.push_back(std::move(group));
    }
    // An absent device is a group as well; it comes after the tensors.
    while (groups.size() > requested.size() && groups.back().empty())
      groups.pop_back();
  } else if (requested.size() == 1 && requested.front()->variadic) {
    groups.emplace_back(llvm::make_filter_range(op->getOperands(), std::not_fn(isDevice)));
  } else {
    auto count = llvm::count_if(op->getOperands(), std::not_fn(isDevice));
    // One of the op's tensors may be absent; ops with more of them have segments.
    bool hasAbsent = static_cast<size_t>(count) < requested.size();
    auto values = llvm::make_filter_range(op->getOperands(), std::not_fn(isDevice));
    auto next = values.begin();
    for (const api::Parameter *parameter : requested) {
      groups.emplace_back();
      if (hasAbsent && parameter->optional)
        hasAbsent = false;
      else if (next != values.end())
        groups.back().push_back(*next++);
    }
    if (next != values.end())
      groups.emplace_back();
  }
  if (groups.size() != requested.size())
    return op->emitOpError() << "has " << groups.size() << " kinds of tensor operands, its function ttnn."
                             << ref(row.name) << " takes " << requested.size();
  for (auto [parameter, group] : llvm::zip(requested, groups))
    tensors[ref(parameter->name)] = std::move(group);
  return success();
}

ttnn::TTNNLayoutAttr CallBuilder::firstTensor() const {
  for (Value operand : op->getOperands())
    if (auto layout = ttnn::TTNNLayoutAttr::of(operand.getType()))
      return layout;
  return {};
}

//===----------------------------------------------------------------------===//
// Defaults of the library
//===----------------------------------------------------------------------===//

static bool isOnDevice(ttnn::TTNNLayoutAttr layout) {
  return layout && layout.getBufferType() != ttnn::BufferType::SystemMemory;
}

/// The memory of results: with the first tensor on a device, or in DRAM if the function states it.
ttnn::BufferType CallBuilder::defaultBuffer() const {
  if (op->hasTrait<trait::GivesHostTensor>())
    return ttnn::BufferType::SystemMemory;
  for (Value operand : op->getOperands())
    if (auto layout = ttnn::TTNNLayoutAttr::of(operand.getType()); isOnDevice(layout))
      return row.defaultsToDram() ? ttnn::BufferType::DRAM : layout.getBufferType();
  return givesDevice ? ttnn::BufferType::DRAM : ttnn::BufferType::SystemMemory;
}

/// The layout of results; nothing if it depends on operands that differ.
std::optional<ttnn::Layout> CallBuilder::defaultLayout() const {
  StringRef word = ref(row.defaultLayout());
  if (auto found = tensors.find(word); found != tensors.end() && !found->second.empty())
    return ttnn::TTNNLayoutAttr::of(found->second.front().getType()).getLayout();
  if (!word.empty())
    return word == "tile" ? ttnn::Layout::Tile : ttnn::Layout::RowMajor;
  std::optional<ttnn::Layout> layout;
  for (Value operand : op->getOperands())
    if (auto each = ttnn::TTNNLayoutAttr::of(operand.getType())) {
      if (layout && *layout != each.getLayout())
        return std::nullopt;
      layout = each.getLayout();
    }
  return layout;
}

/// The type of a result, and whether it comes from a tensor ("") or from the row.
std::string CallBuilder::defaultType(unsigned result, ttcore::DataType &type) const {
  StringRef from = ref(row.defaultType(result).name);
  ttnn::TTNNLayoutAttr tensor = firstTensor();
  if (auto found = tensors.find(from); found != tensors.end() && !found->second.empty())
    tensor = ttnn::TTNNLayoutAttr::of(found->second.front().getType());
  else if (std::optional<ttcore::DataType> named = ttcore::symbolizeDataType(from)) {
    type = *named;
    return from.str();
  }
  if (tensor)
    type = tensor.getDataType();
  return "";
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Whether a block format is row-major, which the library never produces by default.
static bool isInRows(ttnn::TTNNLayoutAttr layout) {
  return layout.getLayout() == ttnn::Layout::RowMajor && ttcore::isBlockFormat(layout.getDataType());
}

/// dtype, memory_config or layout of the results, if it differs from the library's default.
void CallBuilder::addResult(StringRef name, bool isRequired, Argument &argument) {
  SmallVector<std::string> given;
  SmallVector<ttcore::DataType> defaults;
  bool differs = isRequired, areAlike = true;
  for (OpResult result : op->getResults()) {
    auto layout = ttnn::TTNNLayoutAttr::of(result.getType());
    if (name == "dtype") {
      ttcore::DataType type = layout.getDataType();
      const bool isPlain = row.defaultType(result.getResultNumber()).rule == api::DefaultType::Rule::Plain;
      defaultType(result.getResultNumber(), type);
      defaults.push_back(type);
      areAlike &= isPlain;
      // The type is written if the library would derive one, and if row-major layout cannot hold the format.
      differs |= type != layout.getDataType() || !isPlain || isInRows(layout);
      given.push_back(syntax.dataType(layout.getDataType()));
    } else if (name == "layout") {
      differs |= (firstTensor() || !row.defaultLayout().empty()) && defaultLayout() != layout.getLayout();
      given.push_back(syntax.layout(layout.getLayout()));
    } else {
      differs |= isOnDevice(layout) && (layout.isSharded() || layout.getBufferType() != defaultBuffer());
      given.push_back(syntax.memory(layout));
    }
  }
  argument.text = syntax.none();
  if (!differs)
    return;
  argument.kind = Argument::Kind::Text;
  // The type applies to the results that have the operand's type; indices keep their own.
  const bool isOne = llvm::all_equal(given) && llvm::all_equal(defaults) && (areAlike || given.size() == 1);
  argument.text = isOne ? given.front() : syntax.list(given);
}

/// Returns the text of an omitted argument.
static std::string defaultText(const api::Parameter &parameter, const api::Function &row, const Syntax &syntax) {
  if (!parameter.hasDefault)
    return syntax.none();
  const api::Op *op = api::findOp(row.op);
  const api::AttributeSpec *attribute = op ? op->find(parameter.ods) : nullptr;
  const std::string_view text = parameter.defaultValue, type = attribute ? attribute->type : std::string_view();
  return syntax.defaultValue({text.data(), text.size()}, {type.data(), type.size()});
}

LogicalResult CallBuilder::addValue(const api::Parameter &parameter, Argument &argument) {
  argument.text = defaultText(parameter, row, syntax);
  if (isTensor(parameter)) {
    argument.operands = tensors.lookup(argument.name);
    if (parameter.variadic)
      argument.kind = Argument::Kind::Tensors;
    else if (!argument.operands.empty())
      argument.kind = Argument::Kind::Tensor;
    return success();
  }
  Attribute attr = op->getAttr(ref(parameter.ods));
  if (!attr || (parameter.hasDefault && isDefault(attr, ref(parameter.defaultValue))))
    return success();
  FailureOr<std::string> text = syntax.attribute(attr);
  if (failed(text))
    return op->emitOpError() << "attribute '" << ref(parameter.ods) << "' is " << attr
                             << ", which a program cannot write";
  argument.kind = Argument::Kind::Text;
  argument.text = *text;
  return success();
}

LogicalResult CallBuilder::add(const api::Parameter &parameter) {
  Argument argument;
  argument.name = ref(parameter.name);
  switch (parameter.role) {
  case api::Role::Value:
    if (failed(addValue(parameter, argument)))
      return failure();
    break;
  case api::Role::Device:
    argument.text = syntax.none();
    if (givesDevice)
      argument.kind = Argument::Kind::Device;
    break;
  case api::Role::Result:
    addResult(argument.name, !parameter.omissible(), argument);
    break;
  case api::Role::Fixed:
    argument.text = syntax.defaultValue(ref(parameter.defaultValue), "");
    if (parameter.defaultValue != "false")
      argument.kind = Argument::Kind::Text;
    break;
  }
  // Tensors and a single required value are positional, the rest are keywords.
  bool isPlain = argument.kind == Argument::Kind::Tensor || argument.kind == Argument::Kind::Tensors ||
                 argument.kind == Argument::Kind::Device;
  auto isRequiredValue = [&](const api::Parameter &each) {
    return !each.omissible() && !isTensor(each) && each.role != api::Role::Device;
  };
  bool isOnlyOne = isRequiredValue(parameter) && llvm::count_if(row.parameters, isRequiredValue) == 1;
  argument.isKeyword = keywords || parameter.keywordOnly || !(isPlain || isOnlyOne);
  // After an omitted or named argument, all further ones must be named.
  keywords |= argument.isKeyword || argument.kind == Argument::Kind::Left;
  call.arguments.push_back(std::move(argument));
  return success();
}

/// Ops that a fixed argument distinguishes are one function, with the parameters of the row that has most.
static const api::Function &signatureOf(const api::Function &row) {
  auto isFixed = [](const api::Parameter &parameter) { return parameter.role == api::Role::Fixed; };
  const api::Function *fullest = &row;
  if (llvm::any_of(row.parameters, isFixed))
    for (const api::Function &other : api::functions())
      if (other.name == row.name && other.parameters.size() > fullest->parameters.size())
        fullest = &other;
  return *fullest;
}

FailureOr<Call> CallBuilder::run() {
  for (OpResult result : op->getResults())
    if (!ttnn::TTNNLayoutAttr::of(result.getType()))
      return op->emitOpError() << "result " << result.getResultNumber() << " is " << result.getType()
                               << "; expected a tensor with a #ttnn.ttnn_layout (run ttnn-layout first)";
  if (failed(matchOperands()))
    return failure();
  call.callee = syntax.path(ref(row.name));

  // The device is stated if nothing else determines where the results are.
  bool fromHost = llvm::none_of(op->getOperands(),
                                [](Value operand) { return isOnDevice(ttnn::TTNNLayoutAttr::of(operand.getType())); });
  bool toDevice = llvm::any_of(op->getResults(),
                               [](OpResult result) { return isOnDevice(ttnn::TTNNLayoutAttr::of(result.getType())); });
  for (const api::Parameter &parameter : row.parameters)
    if (parameter.role == api::Role::Device)
      givesDevice |= !parameter.omissible() || (fromHost && toDevice);

  const api::Function &signature = signatureOf(row);
  for (const api::Parameter &parameter : signature.parameters) {
    const api::Parameter *own = row.find(parameter.name);
    if (own) {
      if (failed(add(*own)))
        return failure();
      continue;
    }
    // Belongs to another op under this name.
    Argument left;
    left.name = ref(parameter.name);
    left.text = defaultText(parameter, signature, syntax);
    keywords = true;
    call.arguments.push_back(std::move(left));
  }
  if (op->getNumResults() > 0)
    for (StringRef name : {"dtype", "memory_config", "layout"})
      if (!row.find({name.data(), name.size()})) {
        Argument argument;
        argument.name = name;
        argument.isKeyword = true;
        addResult(name, /*isRequired=*/false, argument);
        call.arguments.push_back(std::move(argument));
      }
  return std::move(call);
}

std::string emit::nameByUse(Value value) {
  // An op that only changes the form of a weight is not a use of it.
  for (unsigned steps = 0; steps < 8; ++steps) {
    auto isUse = [](Operation *user) { return !isa<ttnn::DeallocateOp>(user); };
    auto user = llvm::find_if(value.getUsers(), isUse);
    if (user == value.getUsers().end())
      return "";
    auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
    if (llvm::count_if((*user)->getOperandTypes(), isTensor) == 1 &&
        (movesOnlyOperands(*user) || isa<ttnn::TypecastOp>(*user))) {
      value = user->getResult(0);
      continue;
    }
    StringRef name = user->getName().getStringRef();
    const api::Function *row = api::findFunction({name.data(), name.size()});
    if (!row)
      return "";
    StringRef parameter = CallBuilder(*user, *row, Syntax(Language::Python)).parameterOf(value);
    if (parameter == "input_tensor_b" && (*user)->hasTrait<trait::TakesWeight>())
      parameter = "weight";
    parameter.consume_back("_tensor");
    parameter.consume_front("input_tensor_");
    if (parameter.empty())
      return "";
    StringRef function(row->name.data(), row->name.size());
    return (function.drop_front(function.rfind('.') + 1) + "_" + parameter).str();
  }
  return "";
}

FailureOr<Call> emit::callOf(Operation *op, const Syntax &syntax) {
  StringRef name = op->getName().getStringRef();
  const api::Function *row = api::findFunction({name.data(), name.size()});
  if (!row || !op->isRegistered())
    return op->emitError() << "'" << name << "' has no function in the TTNN library; a program cannot call it";
  FailureOr<Call> call = CallBuilder(op, *row, syntax).run();
  // The library also frees tensors that nothing else holds; programs say just `deallocate(x)`.
  if (succeeded(call) && isa<ttnn::DeallocateOp>(op))
    call->arguments.truncate(1);
  return call;
}

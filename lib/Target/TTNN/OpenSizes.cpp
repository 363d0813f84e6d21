//===- OpenSizes.cpp - files that leave sizes open ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/TTNN/OpenSizes.h"

#include "Fit.h"
#include "binary_generated.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <cstring>
#include <map>

using namespace llvm;
using namespace mlir::tt::ttnn;
using ::tt::shapes::Code;
using ::tt::shapes::Term;
namespace fb = ::tt::target;

template <class T> static uint32_t count(const flatbuffers::Vector<T> *vector) { return vector ? vector->size() : 0; }

template <class T> static bool same(const flatbuffers::Vector<T> *a, const flatbuffers::Vector<T> *b) {
  return count(a) == count(b) && (!count(a) || std::equal(a->begin(), a->end(), b->begin()));
}

static StringRef text(const flatbuffers::String *string) {
  return string ? StringRef(string->c_str(), string->size()) : StringRef();
}
static bool same(const flatbuffers::String *a, const flatbuffers::String *b) { return text(a) == text(b); }

/// "Float32 in tiles, DRAM Interleaved, of 3 dimensions"
static std::string describe(const fb::TensorDesc *desc) {
  return std::string(fb::EnumNameDataType(desc->data_type())) +
         (desc->layout() == fb::Layout::Tile ? " in tiles, " : " in rows, ") +
         fb::EnumNameBufferType(desc->buffer_type()) + " " +
         (desc->memory_layout() == fb::TensorMemoryLayout::Unset
              ? "of the host"
              : fb::EnumNameTensorMemoryLayout(desc->memory_layout())) +
         ", of " + std::to_string(count(desc->shape())) + " dimensions" + (desc->distributed() ? ", distributed" : "");
}

namespace {
/// The values on which the numbers of an op may depend.
struct Known {
  ArrayRef<Leaf> leaves;
  int64_t number = 0; // of equal leaves
};

/// Expressions of numbers, each searched once: the layers of a model have equal ones.
class Fits {
public:
  Known known(ArrayRef<Leaf> leaves) {
    std::string key;
    for (const Leaf &leaf : leaves) {
      append(key, leaf.code);
      append(key, leaf.series);
      append(key, {leaf.period.modulus, leaf.period.isKnown, leaf.period.rise});
    }
    return {leaves, numbers.try_emplace(key, numbers.size()).first->second};
  }
  std::optional<Fitted> of(const Series &series, const Known &known) {
    std::string key;
    append(key, known.number);
    append(key, series);
    auto [found, isNew] = fits.try_emplace(key);
    if (isNew)
      found->second = fit(series, known.leaves);
    return found->second;
  }
  size_t count() const { return fits.size(); }

private:
  static void append(std::string &key, ArrayRef<int64_t> values) {
    const int64_t count = values.size();
    key.append(reinterpret_cast<const char *>(&count), sizeof(count));
    key.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(int64_t));
  }

  StringMap<int64_t> numbers; // of leaves
  StringMap<std::optional<Fitted>> fits;
};

/// A file whose numbers are those of the first, and the expressions for them.
class Comparison {
public:
  Comparison(ArrayRef<const fb::Binary *> files, ArrayRef<OpenSize> sizes, ArrayRef<ArrayRef<int64_t>> points)
      : files(files), sizes(sizes), points(points) {
    for (auto [k, size] : enumerate(sizes)) {
      Leaf leaf{{static_cast<int64_t>(Term::Size), static_cast<int64_t>(k)}, {}, {}};
      for (ArrayRef<int64_t> point : points)
        leaf.series.push_back(point[k]);
      leaves.push_back(std::move(leaf));
    }
    ofSizes = fits.known(leaves);
  }

  Error compare();
  /// The first file with what is open in it.
  std::string write(StringRef file) const;
  SmallVector<Quotient> quotients;
  size_t searches() const { return fits.count(); }

private:
  template <class... Parts> Error decides(const Parts &...parts) const {
    std::string message;
    if (op)
      message = (text(op->name()) + (text(op->loc()).empty() ? "" : " at " + text(op->loc())) + ": ").str();
    ((message += parts), ...);
    return createStringError(inconvertibleErrorCode(), message + ", so that the sizes cannot stay open");
  }
  /// "4, 8 and 12 for batch 1, 2 and 3"
  std::string listed(ArrayRef<int64_t> series) const;
  /// Records that the number repeats with the sizes.
  void note(const Period &period, StringRef name);

  /// The same part of every file, in the order of points.
  template <class T> using Each = SmallVector<const T *, 6>;
  template <class T, class Get> Each<T> each(const auto &parents, Get get) const {
    Each<T> all;
    for (const auto *parent : parents)
      all.push_back(get(parent));
    return all;
  }

  Error compareProgram(uint32_t index);
  Error compareValue(const Each<fb::Program> &programs, uint32_t value, bool isInput, const Known &known);
  Error compareOperation(const Each<fb::Operation> &operations, const Each<fb::Program> &programs);
  Error compareAttribute(const Each<fb::Attribute> &attributes, StringRef name, const Each<fb::Program> &programs,
                         const Known &known);
  Error addNumber(const Series &series, StringRef name, const Known &known);
  Error addReal(ArrayRef<double> values, fb::DataType type, StringRef name, const Known &known);
  Error compareConstant(const Each<fb::Attribute> &attributes, const Each<fb::Program> &programs, const Known &known);
  const fb::TensorDesc *descOf(size_t file, const fb::Program *program, uint32_t value) const {
    return files[file]->tensor_descs()->Get(program->values()->Get(value)->desc());
  }
  SmallVector<Leaf> leavesOf(const Each<fb::Program> &programs, const fb::Operation *operation) const;

  struct Dimension {
    uint32_t program, value, dimension;
    Code code;
  };
  struct Number {
    uint32_t program, operation;
    std::vector<uint32_t> path;
    Code code;
    bool reciprocal = false;
  };

  const ArrayRef<const fb::Binary *> files;
  const ArrayRef<OpenSize> sizes;
  const ArrayRef<ArrayRef<int64_t>> points;
  SmallVector<Leaf> leaves; // of the sizes
  Known ofSizes;
  Fits fits;
  // Of dimensions of values of the program.
  std::map<std::pair<uint32_t, uint32_t>, Period> periods;
  std::vector<Dimension> dimensions;
  std::vector<Number> numbers;
  uint32_t program = 0, operation = 0;
  std::vector<uint32_t> path;
  const fb::Operation *op = nullptr; // of the first file
};
} // namespace

std::string Comparison::listed(ArrayRef<int64_t> series) const {
  const auto list = [](auto &&values) {
    std::string all;
    for (auto [i, value] : enumerate(values))
      all += (i == 0 ? "" : i + 1 == size_t(range_size(values)) ? " and " : ", ") + std::to_string(value);
    return all;
  };
  constexpr size_t most = 5;
  std::string all = list(series.take_front(most)) + " for";
  for (auto [size, leaf] : zip_equal(sizes, leaves))
    all += (&size == sizes.begin() ? " " : ", ") + size.name + " " + list(ArrayRef(leaf.series).take_front(most));
  return all;
}

Error Comparison::compare() {
  const fb::Binary *first = files.front();
  uint32_t most = 0, least = count(first->programs());
  for (const fb::Binary *file : files) {
    most = std::max(most, count(file->programs()));
    least = std::min(least, count(file->programs()));
    if (file->native() || file->open())
      return decides("functions of the host are compiled for one size");
    if (file != first && !same(file->system_desc()->mesh_shape(), first->system_desc()->mesh_shape()))
      return decides("the mesh depends on them");
  }
  // An op that exists for some sizes only can add programs of constants: the op is a better error than their number.
  for (program = 0; program < least; ++program)
    if (Error error = compareProgram(program))
      return error;
  if (most != least)
    return decides("the number of programs depends on them");
  return Error::success();
}

void Comparison::note(const Period &period, StringRef name) {
  if (period.isPlain())
    return;
  const auto isSame = [&](const Quotient &other) {
    return other.period == period.modulus && other.isKnown == period.isKnown;
  };
  if (any_of(quotients, isSame))
    return;
  const std::string where =
      op ? (text(op->name()) + (text(op->loc()).empty() ? "" : " at " + text(op->loc())) + ": ").str() : "";
  quotients.push_back({period.modulus, period.isKnown, where + name.str()});
}

Error Comparison::compareProgram(uint32_t index) {
  periods.clear();
  const Each<fb::Program> programs =
      each<fb::Program>(files, [&](const fb::Binary *file) { return file->programs()->Get(index); });
  const fb::Program *first = programs.front();
  for (const fb::Program *other : programs) {
    if (other->pipeline())
      return decides("program ", text(first->name()).str(), " has stages");
    if (!same(other->name(), first->name()) || count(other->values()) != count(first->values()) ||
        count(other->operations()) != count(first->operations()) || !same(other->inputs(), first->inputs()) ||
        !same(other->outputs(), first->outputs()) || !same(other->mesh_shape(), first->mesh_shape())) {
      for (uint32_t i = 0; i < std::min(count(first->operations()), count(other->operations())); ++i) {
        op = first->operations()->Get(i);
        if (const fb::Operation *otherOp = other->operations()->Get(i); !same(op->name(), otherOp->name()))
          return decides("another op, ", text(otherOp->name()).str(), ", is there for other sizes");
      }
      const uint32_t counts[] = {count(first->operations()), count(other->operations())};
      if (counts[0] != counts[1]) {
        op = (counts[0] > counts[1] ? first : other)->operations()->Get(std::min(counts[0], counts[1]));
        return decides("it is there for some sizes only");
      }
      op = nullptr;
      return decides("program ", text(first->name()).str(), " has other ops for other sizes");
    }
  }
  for (uint32_t input = 0; input < count(first->inputs()); ++input)
    if (Error error = compareValue(programs, first->inputs()->Get(input), !first->is_private(), ofSizes))
      return error;
  for (operation = 0; operation < count(first->operations()); ++operation) {
    const Each<fb::Operation> operations =
        each<fb::Operation>(programs, [&](const fb::Program *each) { return each->operations()->Get(operation); });
    op = operations.front();
    if (Error error = compareOperation(operations, programs))
      return error;
  }
  op = nullptr;
  return Error::success();
}

Error Comparison::compareValue(const Each<fb::Program> &programs, uint32_t value, bool isInput, const Known &known) {
  Each<fb::TensorDesc> descs;
  for (auto [k, each] : enumerate(programs))
    descs.push_back(descOf(k, each, value));
  const fb::TensorDesc *first = descs.front();
  const std::string name = text(programs.front()->values()->Get(value)->name()).str();
  for (const fb::TensorDesc *other : descs)
    if (other->data_type() != first->data_type() || other->layout() != first->layout() ||
        other->buffer_type() != first->buffer_type() || other->memory_layout() != first->memory_layout() ||
        other->distributed() != first->distributed() || count(other->shape()) != count(first->shape()))
      return decides(name, " is ", describe(first), ", and ", describe(other), " for other sizes");
  for (uint32_t dim = 0; dim < count(first->shape()); ++dim) {
    Series series;
    for (const fb::TensorDesc *desc : descs)
      series.push_back(desc->shape()->Get(dim));
    if (all_equal(series))
      continue;
    if (count(first->shard_shape()))
      return decides("the shards of ", name, " are for one size");
    std::optional<Fitted> found = fits.of(series, known);
    // Results mostly follow from the op's shape rule.
    if (!found && isInput)
      return decides("dimension ", std::to_string(dim), " of ", name, " is ", listed(series));
    const Period period = found ? found->period : Period{1, false};
    periods[{value, dim}] = period;
    // A rule derives results from operands: they only tell that there are quotients.
    const bool isRuled = (op && count(op->ins()) > 0) || (found && found->isOnly);
    note(isRuled && !period.isPlain() ? Period{1, false} : period, ("dimension " + Twine(dim) + " of " + name).str());
    if (found)
      dimensions.push_back({program, value, dim, std::move(found->code)});
  }
  return Error::success();
}

SmallVector<Leaf> Comparison::leavesOf(const Each<fb::Program> &programs, const fb::Operation *first) const {
  SmallVector<Leaf> known(leaves);
  for (uint32_t i = 0; i < count(first->ins()); ++i) {
    const uint32_t value = first->ins()->Get(i);
    if (value >= count(programs.front()->values()))
      continue; // absent
    const uint32_t rank = count(descOf(0, programs.front(), value)->shape());
    for (uint32_t dim = 0; dim < rank; ++dim) {
      const auto period = periods.find({value, dim});
      Leaf leaf{
          {static_cast<int64_t>(Term::Dimension), i, dim}, {}, period == periods.end() ? Period() : period->second};
      for (auto [k, each] : enumerate(programs))
        leaf.series.push_back(descOf(k, each, value)->shape()->Get(dim));
      const auto isSame = [&](const Leaf &other) { return other.series == leaf.series; };
      if (!all_equal(leaf.series) && none_of(known, isSame))
        known.push_back(std::move(leaf));
    }
  }
  return known;
}

Error Comparison::compareOperation(const Each<fb::Operation> &operations, const Each<fb::Program> &programs) {
  const fb::Operation *first = operations.front();
  for (const fb::Operation *other : operations)
    if (!same(other->name(), first->name()))
      return decides("another op, ", text(other->name()).str(), ", is there for other sizes");
    else if (!same(other->ins(), first->ins()) || !same(other->outs(), first->outs()) ||
             count(other->attributes()) != count(first->attributes()))
      return decides("its operands, or which attributes it has, depend on them");
  const SmallVector<Leaf> leavesOfOp = leavesOf(programs, first);
  const Known known = fits.known(leavesOfOp);
  for (uint32_t i = 0; i < count(first->attributes()); ++i) {
    const Each<fb::Attribute> attributes =
        each<fb::Attribute>(operations, [&](const fb::Operation *each) { return each->attributes()->Get(i); });
    path = {i};
    if (Error error = compareAttribute(attributes, text(attributes.front()->name()), programs, known))
      return error;
  }
  for (uint32_t i = 0; i < count(first->outs()); ++i)
    if (Error error = compareValue(programs, first->outs()->Get(i), /*isInput=*/false, known))
      return error;
  return Error::success();
}

Error Comparison::addNumber(const Series &series, StringRef name, const Known &known) {
  if (all_equal(series))
    return Error::success();
  std::optional<Fitted> found = fits.of(series, known);
  if (!found)
    return decides("attribute ", name.str(), " is ", listed(series));
  note(found->isOnly ? Period{1, false} : found->period, ("attribute " + name).str());
  numbers.push_back({program, operation, path, std::move(found->code)});
  return Error::success();
}

/// A number as a tensor of that type holds it.
static double rounded(double value, fb::DataType type) {
  const fltSemantics &kind = type == fb::DataType::Float32   ? APFloat::IEEEsingle()
                             : type == fb::DataType::Float16 ? APFloat::IEEEhalf()
                                                             : APFloat::BFloat();
  APFloat number(value);
  bool lost;
  number.convert(kind, APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

/// Numbers that are sizes, or 1 over sizes, as in means.
Error Comparison::addReal(ArrayRef<double> values, fb::DataType type, StringRef name, const Known &known) {
  for (bool reciprocal : {false, true}) {
    Series series;
    for (double value : values) {
      const double number = std::round(reciprocal ? 1 / value : value);
      if (!(std::abs(number) < double(1ll << 53)) || rounded(reciprocal ? 1 / number : number, type) != value)
        break;
      series.push_back(static_cast<int64_t>(number));
    }
    if (series.size() < values.size())
      continue;
    std::optional<Fitted> found =
        all_equal(series) ? Fitted{{static_cast<int64_t>(Term::Constant), series.front()}, {}} : fits.of(series, known);
    if (!found)
      continue;
    note(found->isOnly ? Period{1, false} : found->period, name);
    numbers.push_back({program, operation, path, std::move(found->code), reciprocal});
    return Error::success();
  }
  std::string list;
  for (double value : values)
    list += (list.empty() ? "" : ", ") + std::to_string(value);
  return decides(name.str(), " is ", list, " for other sizes");
}

/// The value that all elements of a constant have.
static std::optional<double> splat(const flatbuffers::Vector<uint8_t> *values, fb::DataType type) {
  const auto valueOf = [&]<class T>(T) -> std::optional<double> {
    T first;
    if (count(values) < sizeof(T) || count(values) % sizeof(T) != 0)
      return std::nullopt;
    std::memcpy(&first, values->data(), sizeof(T));
    // Each byte equals that of the previous element.
    if (std::memcmp(values->data(), values->data() + sizeof(T), count(values) - sizeof(T)) != 0)
      return std::nullopt;
    return static_cast<double>(first);
  };
  const auto half = [&](const fltSemantics &kind) -> std::optional<double> {
    if (std::optional<double> bits = valueOf(uint16_t()))
      return APFloat(kind, APInt(16, static_cast<uint64_t>(*bits))).convertToDouble();
    return std::nullopt;
  };
  switch (type) {
  case fb::DataType::Float32:
    return valueOf(float());
  case fb::DataType::Float16:
    return half(APFloat::IEEEhalf());
  case fb::DataType::BFloat16:
    return half(APFloat::BFloat());
  case fb::DataType::Int32:
    return valueOf(int32_t());
  case fb::DataType::UInt32:
    return valueOf(uint32_t());
  case fb::DataType::UInt16:
    return valueOf(uint16_t());
  case fb::DataType::UInt8:
  case fb::DataType::Bool:
    return valueOf(uint8_t());
  default:
    return std::nullopt;
  }
}

Error Comparison::compareConstant(const Each<fb::Attribute> &attributes, const Each<fb::Program> &programs,
                                  const Known &known) {
  Each<flatbuffers::Vector<uint8_t>> constants;
  for (auto [file, attribute] : zip_equal(files, attributes))
    constants.push_back(file->constants()->Get(attribute->value_as_ConstantValue()->index())->data());
  if (all_of(constants, [&](const auto *other) { return same(other, constants.front()); }))
    return Error::success();
  const fb::DataType type = descOf(0, programs.front(), op->outs()->Get(0))->data_type();
  SmallVector<double> values;
  for (const auto *each : constants)
    if (std::optional<double> value = splat(each, type))
      values.push_back(*value);
  if (values.size() < constants.size())
    return decides("the values of its constant depend on them");
  // A splat for all sizes is repeated by its bits, including -0.0.
  if (all_of(values, [&](double value) { return bit_cast<uint64_t>(value) == bit_cast<uint64_t>(values.front()); })) {
    numbers.push_back({program, operation, path, {}});
    return Error::success();
  }
  const bool isFloat = type == fb::DataType::Float32 || type == fb::DataType::Float16 || type == fb::DataType::BFloat16;
  return addReal(values, isFloat ? type : fb::DataType::Float32, "its constant", known);
}

Error Comparison::compareAttribute(const Each<fb::Attribute> &attributes, StringRef name,
                                   const Each<fb::Program> &programs, const Known &known) {
  using Kind = fb::AttributeValue;
  const fb::Attribute *first = attributes.front();
  const Kind kind = first->value_type();
  for (const fb::Attribute *other : attributes)
    if (!same(other->name(), first->name()) || other->value_type() != kind)
      return decides("attribute ", name.str(), " depends on them");
  const auto allSame = [&](auto isSame) {
    return all_of(attributes, isSame) ? Error::success() : decides("attribute ", name.str(), " depends on them");
  };
  const auto nested = [&](auto listOf) -> Error {
    for (const fb::Attribute *other : attributes)
      if (count(listOf(other)) != count(listOf(first)))
        return decides("attribute ", name.str(), " has another number of entries for other sizes");
    for (uint32_t i = 0; i < count(listOf(first)); ++i) {
      path.push_back(i);
      const Each<fb::Attribute> entries =
          each<fb::Attribute>(attributes, [&](const fb::Attribute *each) { return listOf(each)->Get(i); });
      const StringRef entry = text(entries.front()->name());
      if (Error error =
              compareAttribute(entries, entry.empty() ? name.str() : (name + "." + entry).str(), programs, known))
        return error;
      path.pop_back();
    }
    return Error::success();
  };
  switch (kind) {
  case Kind::IntValue: {
    Series series;
    for (const fb::Attribute *each : attributes)
      series.push_back(each->value_as_IntValue()->value());
    return addNumber(series, name, known);
  }
  case Kind::IntArrayValue: {
    const auto *list = first->value_as_IntArrayValue()->value();
    for (const fb::Attribute *other : attributes)
      if (count(other->value_as_IntArrayValue()->value()) != count(list))
        return decides("attribute ", name.str(), " has another number of entries for other sizes");
    for (uint32_t i = 0; i < count(list); ++i) {
      Series series;
      for (const fb::Attribute *each : attributes)
        series.push_back(each->value_as_IntArrayValue()->value()->Get(i));
      path.push_back(i);
      if (Error error = addNumber(series, (name + "[" + Twine(i) + "]").str(), known))
        return error;
      path.pop_back();
    }
    return Error::success();
  }
  case Kind::BoolValue:
    return allSame([&](const fb::Attribute *other) {
      return other->value_as_BoolValue()->value() == first->value_as_BoolValue()->value();
    });
  case Kind::FloatValue: {
    SmallVector<double> values;
    for (const fb::Attribute *each : attributes)
      values.push_back(each->value_as_FloatValue()->value());
    const auto isSame = [&](double value) { return bit_cast<uint64_t>(value) == bit_cast<uint64_t>(values.front()); };
    return all_of(values, isSame) ? Error::success() : addReal(values, fb::DataType::Float32, name, known);
  }
  case Kind::StringValue:
    return allSame([&](const fb::Attribute *other) {
      return same(other->value_as_StringValue()->value(), first->value_as_StringValue()->value());
    });
  case Kind::FloatArrayValue:
    return allSame([&](const fb::Attribute *other) {
      return same(other->value_as_FloatArrayValue()->value(), first->value_as_FloatArrayValue()->value());
    });
  case Kind::EnumValue:
    return allSame([&](const fb::Attribute *other) {
      return other->value_as_EnumValue()->value() == first->value_as_EnumValue()->value();
    });
  case Kind::ConstantValue:
    return compareConstant(attributes, programs, known);
  case Kind::StructValue:
    return nested([](const fb::Attribute *each) { return each->value_as_StructValue()->fields(); });
  case Kind::ListValue:
    return nested([](const fb::Attribute *each) { return each->value_as_ListValue()->items(); });
  case Kind::NONE:
    break;
  }
  return Error::success();
}

std::string Comparison::write(StringRef file) const {
  flatbuffers::FlatBufferBuilder builder(file.size() + (1 << 16));
  // The unchanged file is at the end, where its parts keep their offsets; the new root before it refers to them.
  builder.Align(64);
  builder.PushBytes(reinterpret_cast<const uint8_t *>(file.data()), file.size());
  const auto *end = reinterpret_cast<const uint8_t *>(file.data()) + file.size();
  const auto old = [&]<class T>(const T *part) {
    return part ? flatbuffers::Offset<T>(
                      static_cast<flatbuffers::uoffset_t>(end - reinterpret_cast<const uint8_t *>(part)))
                : flatbuffers::Offset<T>();
  };
  std::vector<flatbuffers::Offset<fb::OpenSize>> writtenSizes;
  for (auto [k, size] : enumerate(sizes))
    writtenSizes.push_back(
        fb::CreateOpenSize(builder, builder.CreateString(size.name), size.least, size.most, points.front()[k]));
  std::vector<flatbuffers::Offset<fb::OpenDimension>> writtenDimensions;
  for (const Dimension &each : dimensions)
    writtenDimensions.push_back(
        fb::CreateOpenDimension(builder, each.program, each.value, each.dimension, builder.CreateVector(each.code)));
  std::vector<flatbuffers::Offset<fb::OpenNumber>> writtenNumbers;
  for (const Number &each : numbers)
    writtenNumbers.push_back(fb::CreateOpenNumber(builder, each.program, each.operation,
                                                  builder.CreateVector(each.path), builder.CreateVector(each.code),
                                                  each.reciprocal));
  const auto open = fb::CreateOpen(builder, builder.CreateVector(writtenSizes), builder.CreateVector(writtenDimensions),
                                   builder.CreateVector(writtenNumbers));
  const fb::Binary *root = files.front();
  builder.FinishSizePrefixed(fb::CreateBinary(builder, old(root->version()), root->schema_version(),
                                              old(root->system_desc()), old(root->tensor_descs()),
                                              old(root->programs()), old(root->constants()), old(root->mlir()),
                                              old(root->native()), open),
                             fb::BinaryIdentifier());
  return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
}

Expected<OpenFile> mlir::tt::ttnn::openSizes(ArrayRef<StringRef> files, ArrayRef<OpenSize> sizes,
                                             ArrayRef<ArrayRef<int64_t>> points) {
  const auto fail = [](const Twine &message) { return createStringError(inconvertibleErrorCode(), message); };
  if (files.size() != points.size() || files.size() < 3)
    return fail("there are " + Twine(files.size()) + " files for " + Twine(points.size()) +
                " points; expected as many of both, and at least 3");
  for (ArrayRef<int64_t> point : points) {
    if (point.size() != sizes.size())
      return fail("a point has " + Twine(point.size()) + " values; expected " + Twine(sizes.size()) +
                  ", one for each size");
    for (auto [size, value] : zip_equal(sizes, point))
      if (value < size.least || value > size.most)
        return fail("size " + Twine(size.name) + " is " + Twine(value) + " at a point; expected " + Twine(size.least) +
                    " to " + Twine(size.most));
  }
  SmallVector<const fb::Binary *> roots;
  for (StringRef file : files) {
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(file.data()), file.size(), 64, 1u << 22);
    if (!verifier.VerifySizePrefixedBuffer<fb::Binary>(fb::BinaryIdentifier()))
      return fail("a file is no TTNN flatbuffer");
    roots.push_back(flatbuffers::GetSizePrefixedRoot<fb::Binary>(file.data()));
  }
  Comparison comparison(roots, sizes, points);
  if (Error error = comparison.compare())
    return std::move(error);
  return OpenFile{comparison.write(files.front()), std::move(comparison.quotients), comparison.searches()};
}

//===- Table.cpp - ops, attributes and types of VHLO in rows --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Vhlo/IR/Table.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::vhlo;

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

std::optional<Version> Version::parse(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, '.');
  if (parts.size() != 3)
    return std::nullopt;
  int64_t numbers[3];
  for (auto [part, number] : llvm::zip_equal(parts, numbers))
    if (part.empty() || part.find_first_not_of("0123456789") != StringRef::npos || part.getAsInteger(10, number))
      return std::nullopt;
  return Version{numbers[0], numbers[1], numbers[2]};
}

FailureOr<Version> Version::parseTarget(StringRef text, function_ref<void(const Twine &)> error) {
  std::optional<Version> version = parse(text);
  if (version && !(*version < minimum()) && !(current() < *version))
    return *version;
  error("the target version is '" + text + "'; expected MAJOR.MINOR.PATCH from " + minimum().str() + " to " +
        current().str());
  return failure();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static Version version(StringRef text) {
  std::optional<Version> version = Version::parse(text);
  assert(version && "a row has no version");
  return *version;
}

static Kind kindOf(StringRef name) {
  return llvm::StringSwitch<Kind>(name)
      .Case("bool", Kind::Bool)
      .Case("enum", Kind::Enum)
      .Case("number", Kind::Number)
      .Case("signed", Kind::Signed)
      .Case("numbers", Kind::Numbers)
      .Case("shape", Kind::Shape)
      .Case("integer", Kind::Integer)
      .Case("float", Kind::Float)
      .Case("double", Kind::Double)
      .Case("doubles", Kind::Doubles)
      .Case("string", Kind::String)
      .Case("blob", Kind::Blob)
      .Case("type", Kind::Type)
      .Case("types", Kind::Types)
      .Case("attr", Kind::Attr)
      .Case("optional", Kind::Optional)
      .Case("attrs", Kind::Attrs)
      .Case("pairs", Kind::Pairs);
}

static DataRow dataRow(uint64_t code, StringRef mnemonic, StringRef since, StringRef fields, StringRef values) {
  DataRow row{code, mnemonic, version(since), {}, {}};
  SmallVector<StringRef> words;
  fields.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [name, kind] = word.split(':');
    row.fields.push_back({name, kindOf(kind)});
  }
  words.clear();
  values.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [name, text] = word.split('=');
    uint64_t value = 0;
    [[maybe_unused]] bool wrong = text.getAsInteger(10, value);
    assert(!wrong && "a value of an enum has no number");
    row.values.emplace_back(name, value);
  }
  return row;
}

static Inherent inherent(StringRef word) {
  Inherent result;
  auto [left, value] = word.split('=');
  StringRef form, whole;
  std::tie(left, whole) = left.split('@');
  std::tie(left, form) = left.split(':');
  result.name = left;
  result.whole = whole;
  result.form = !whole.empty() ? Form::Part
                               : llvm::StringSwitch<Form>(form)
                                     .Case("", Form::Plain)
                                     .Case("array", Form::Array)
                                     .Case("bools", Form::Bools)
                                     .Case("symbol", Form::Symbol)
                                     .Case("symbols", Form::Symbols)
                                     .Case("unit", Form::Unit);
  result.value = llvm::StringSwitch<Default>(value)
                     .Case("", Default::None)
                     .Case("false", Default::False)
                     .Case("0", Default::Zero)
                     .Case("-1", Default::MinusOne)
                     .Case("''", Default::EmptyString)
                     .Case("[]", Default::EmptyArray)
                     .Case("{}", Default::EmptyDictionary)
                     .Case("empty", Default::EmptyTensor)
                     .Case("ones", Default::Ones)
                     .Case("zeros", Default::Zeros)
                     .Case("falses", Default::Falses)
                     .Case("precision", Default::Precision)
                     .Case("none", Default::NoType)
                     .Case("accuracy", Default::Accuracy)
                     .Case("NOTYPE", Default::NoComparisonType)
                     .Case("ORIGINAL", Default::OriginalApi)
                     .Case("config", Default::Config);
  return result;
}

static OpRow opRow(StringRef name, StringRef since, StringRef until, StringRef stablehlo, StringRef attributes) {
  OpRow row{name, version(since), std::nullopt, stablehlo, {}};
  if (!until.empty())
    row.until = version(until);
  SmallVector<StringRef> words;
  attributes.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    row.attributes.push_back(inherent(word));
  return row;
}

ArrayRef<OpRow> vhlo::opRows() {
  static const OpRow rows[] = {
#define VHLO_OP(...) opRow(__VA_ARGS__),
#include "Ops.def"
  };
  return rows;
}

ArrayRef<DataRow> vhlo::attributeRows() {
  static const DataRow rows[] = {
#define VHLO_ATTR(...) dataRow(__VA_ARGS__),
#include "Attributes.def"
  };
  return rows;
}

ArrayRef<DataRow> vhlo::typeRows() {
  static const DataRow rows[] = {
#define VHLO_TYPE(...) dataRow(__VA_ARGS__, ""),
#include "Types.def"
  };
  return rows;
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

std::optional<uint64_t> DataRow::valueOf(StringRef name) const {
  const auto *found = llvm::find_if(values, [&](const auto &value) { return value.first == name; });
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<StringRef> DataRow::nameOf(uint64_t value) const {
  const auto *found = llvm::find_if(values, [&](const auto &each) { return each.second == value; });
  return found == values.end() ? std::nullopt : std::optional(found->first);
}

const Inherent *OpRow::find(StringRef attribute) const {
  const auto *found = llvm::find_if(attributes, [&](const Inherent &each) { return each.name == attribute; });
  return found == attributes.end() ? nullptr : found;
}

std::pair<StringRef, unsigned> OpRow::split() const {
  auto [base, number] = name.rsplit("_v");
  unsigned parsed = 0;
  [[maybe_unused]] bool wrong = number.getAsInteger(10, parsed);
  assert(!wrong && "the name of an op has no version");
  return {base, parsed};
}

/// An index of rows by name; for several rows with one name, the first.
template <class Row, class Name> static llvm::StringMap<const Row *> indexBy(ArrayRef<Row> rows, Name name) {
  llvm::StringMap<const Row *> index;
  for (const Row &row : rows)
    if (StringRef key = name(row); !key.empty())
      index.try_emplace(key, &row);
  return index;
}

const OpRow *vhlo::findOp(StringRef name) {
  static const auto index = indexBy(opRows(), [](const OpRow &row) { return row.name; });
  name.consume_front("vhlo.");
  return index.lookup(name);
}

const OpRow *vhlo::findOp(StringRef base, unsigned number) { return findOp((base + "_v" + Twine(number)).str()); }

const OpRow *vhlo::findOpFor(StringRef stablehlo) {
  static const auto index = indexBy(opRows(), [](const OpRow &row) { return row.stablehlo; });
  return index.lookup(stablehlo == "func.return" ? "stablehlo.return" : stablehlo);
}

const DataRow *vhlo::findAttribute(StringRef mnemonic) {
  static const auto index = indexBy(attributeRows(), [](const DataRow &row) { return row.mnemonic; });
  return index.lookup(mnemonic);
}

const DataRow *vhlo::findType(StringRef mnemonic) {
  static const auto index = indexBy(typeRows(), [](const DataRow &row) { return row.mnemonic; });
  return index.lookup(mnemonic);
}

static const DataRow *byCode(ArrayRef<DataRow> rows, uint64_t code) {
  const auto *found = llvm::find_if(rows, [&](const DataRow &row) { return row.code == code; });
  return found == rows.end() ? nullptr : found;
}

const DataRow *vhlo::findAttribute(uint64_t code) { return byCode(attributeRows(), code); }
const DataRow *vhlo::findType(uint64_t code) { return byCode(typeRows(), code); }

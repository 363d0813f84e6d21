//===- Syntax.cpp - literals of the target language ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Syntax.h"

#include "ttmlir/Target/TTNN/Api.h"
#include "ttmlir/Target/TTNN/AttributeVisitor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;
namespace api = ::tt::ttnn::api;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

static const api::Struct *rowOf(Attribute attr) {
  const StringRef type = attr.getAbstractAttribute().getName();
  return api::findStruct({type.data(), type.size()});
}
/// The name of a struct's field in Python.
static StringRef publicName(const api::Struct &row, StringRef name) {
  for (const api::Struct::Field &each : row.fields)
    if (ref(each.name) == name)
      return ref(each.publicName);
  return name;
}

std::string Syntax::path(StringRef dotted) const {
  std::string text = "ttnn." + dotted.str();
  if (isPython())
    return text;
  std::string out;
  for (char c : text)
    out += c == '.' ? std::string("::") : std::string(1, c);
  return out;
}

std::string Syntax::dataType(ttcore::DataType type) const {
  return enumeration(ttnn::enumName<ttcore::DataType>, stringifyEnum(type));
}

std::string Syntax::layout(ttnn::Layout layout) const {
  return enumeration(ttnn::enumName<ttnn::Layout>, stringifyEnum(layout));
}

std::string Syntax::enumeration(StringRef type, StringRef symbol) const {
  const api::Enum *row = api::findEnum({type.data(), type.size()});
  StringRef name = symbol;
  if (row)
    for (const api::Enum::Case &each : row->cases)
      if (ref(each.symbol) == symbol)
        name = ref(each.name);
  // Python has short names for the two most common ones.
  if (isPython() && type == ttnn::enumName<ttcore::DataType>)
    return path(name.lower());
  if (isPython() && type == ttnn::enumName<ttnn::Layout>)
    return path((name + "_LAYOUT").str());
  return path(((row ? ref(row->name) : type) + "." + name).str());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::string Syntax::boolean(bool value) const {
  return isPython() ? (value ? "True" : "False") : (value ? "true" : "false");
}

std::string Syntax::string(StringRef text) const {
  std::string out = "\"";
  llvm::raw_string_ostream stream(out);
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      stream << '\\' << c;
    else if (c == '\n')
      stream << "\\n";
    else if (c >= 0x20 && c != 0x7f)
      stream << c;
    else // three octal digits end an escape in both languages
      stream << '\\' << char('0' + c / 64) << char('0' + c / 8 % 8) << char('0' + c % 8);
  }
  stream << '"';
  return out;
}

std::string Syntax::list(ArrayRef<std::string> items) const {
  return (isPython() ? "[" : "{") + llvm::join(items, ", ") + (isPython() ? "]" : "}");
}

std::string Syntax::make(StringRef name, ArrayRef<std::string> fields) const {
  const std::string joined = llvm::join(fields, ", ");
  return path(name) + (isPython() ? "(" + joined + ")" : "{" + joined + "}");
}

std::string Syntax::field(StringRef name, StringRef value) const {
  return ((isPython() ? "" : ".") + name + (isPython() ? "=" : " = ") + value).str();
}

std::string Syntax::memory(ttnn::TTNNLayoutAttr layout) const {
  if (!layout.isSharded()) {
    StringRef buffer = ttnn::stringifyBufferType(layout.getBufferType());
    if (layout.getBufferType() == ttnn::BufferType::DRAM || layout.getBufferType() == ttnn::BufferType::L1)
      return path(buffer.upper() + "_MEMORY_CONFIG");
  }
  ttnn::TensorMemoryLayout kind =
      layout.getMemLayout() ? layout.getMemLayout().getValue() : ttnn::TensorMemoryLayout::Interleaved;
  std::string memory = enumeration(ttnn::enumName<ttnn::TensorMemoryLayout>, ttnn::stringifyTensorMemoryLayout(kind));
  std::string buffer = enumeration(ttnn::enumName<ttnn::BufferType>, ttnn::stringifyBufferType(layout.getBufferType()));
  auto numbers = [&](ArrayRef<int64_t> values) {
    return list(llvm::map_to_vector(values, [](int64_t value) { return std::to_string(value); }));
  };
  if (isPython()) {
    std::string text = path("MemoryConfig") + "(" + memory + ", " + buffer;
    if (layout.isSharded())
      text += ", " + path("ShardSpec") + "(" + path("CoreGrid") + "(y=" + std::to_string(layout.getGridShape()[0]) +
              ", x=" + std::to_string(layout.getGridShape()[1]) + "), " + numbers(layout.getShardShape()) + ", " +
              path("ShardOrientation") + ".ROW_MAJOR)";
    return text + ")";
  }
  std::string text = path("MemoryConfig") + "{" + memory + ", " + buffer;
  if (layout.isSharded())
    text += ", " + path("ShardSpec") + "{" + path("CoreGrid") + numbers(layout.getGridShape()) + ", " +
            numbers(layout.getShardShape()) + "}";
  return text + "}";
}

FailureOr<std::string> Syntax::attribute(Attribute attr) const {
  if (auto value = dyn_cast<BoolAttr>(attr))
    return boolean(value.getValue());
  if (auto value = dyn_cast<IntegerAttr>(attr)) {
    SmallString<16> text;
    value.getValue().toString(text, 10, !value.getType().isUnsignedInteger());
    return text.str().str();
  }
  if (auto value = dyn_cast<FloatAttr>(attr))
    return floatText(value.getValueAsDouble(), language, /*isSingle=*/!value.getType().isF64());
  if (auto value = dyn_cast<StringAttr>(attr))
    return string(value);
  SmallVector<std::string> items;
  auto numbers = [&](auto values) {
    for (int64_t value : values)
      items.push_back(std::to_string(value));
    return list(items);
  };
  if (auto value = dyn_cast<DenseI32ArrayAttr>(attr))
    return numbers(value.asArrayRef());
  if (auto value = dyn_cast<DenseI64ArrayAttr>(attr))
    return numbers(value.asArrayRef());
  if (auto value = dyn_cast<ttnn::ShapeAttr>(attr))
    return numbers(value.getShape());
  if (auto value = dyn_cast<ArrayAttr>(attr)) {
    for (Attribute item : value) {
      FailureOr<std::string> text = attribute(item);
      if (failed(text))
        return failure();
      items.push_back(*text);
    }
    return list(items);
  }
  std::string text;
  auto visit = [&](auto value) { text = enumeration(ttnn::enumName<decltype(value)>, stringifyEnum(value)); };
  if (ttnn::visitEnum(attr, visit))
    return text;
  return structure(attr);
}

namespace {
template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type {};
template <class T> struct IsArray : std::false_type {};
template <class T> struct IsArray<ArrayRef<T>> : std::true_type {};
} // namespace

FailureOr<std::string> Syntax::structure(Attribute attr) const {
  SmallVector<std::string> fields;
  bool known = true;
  // Sets of cores have other names in Python, and theirs is passed even if it is empty.
  const bool isSet = isPython() && isa<ttnn::CoreRangeSetAttr>(attr);
  const bool isUnnamed = isSet || (isPython() && isa<ttnn::CoreRangeAttr>(attr));
  auto add = [&](StringRef name, FailureOr<std::string> value) {
    if (failed(value))
      known = false;
    else
      fields.push_back(isUnnamed ? *value : field(name, *value));
  };
  auto visit = [&](auto &&self, StringRef name, const auto &value) -> void {
    using T = std::decay_t<decltype(value)>;
    if constexpr (IsOptional<T>::value) {
      if (value)
        self(self, name, *value);
    } else if constexpr (IsArray<T>::value) {
      if (!value.empty() || isSet)
        add(name, attribute(ArrayAttr::get(attr.getContext(), SmallVector<Attribute>(value.begin(), value.end()))));
    } else if constexpr (std::is_base_of_v<Attribute, T>) {
      if (value)
        add(name, attribute(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      add(name, boolean(value));
    } else if constexpr (std::is_enum_v<T>) {
      add(name, enumeration(ttnn::enumName<T>, stringifyEnum(value)));
    } else {
      add(name, std::to_string(value));
    }
  };
  const api::Struct *row = rowOf(attr);
  if (!row)
    return failure();
  auto visitField = [&](StringRef name, const auto &value) {
    visit(visit, isPython() ? publicName(*row, name) : name, value);
  };
  if (!ttnn::visitFields(attr, visitField) || !known)
    return failure();
  return make(ref(row->name), fields);
}

//===----------------------------------------------------------------------===//
// Defaults
//===----------------------------------------------------------------------===//

static SmallVector<StringRef> listed(StringRef text) {
  SmallVector<StringRef> items;
  text.drop_front().drop_back().split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef &item : items)
    item = item.trim();
  return items;
}

std::string Syntax::defaultValue(StringRef text, StringRef type) const {
  if (text.starts_with("{"))
    return list(llvm::map_to_vector(listed(text), [&](StringRef item) { return defaultValue(item, type); }));
  if (text == "true" || text == "false")
    return boolean(text == "true");
  double number;
  if (!text.getAsDouble(number))
    return text.str();
  return type.empty() ? string(text) : enumeration(type, text);
}

bool emit::isDefault(Attribute attr, StringRef text) {
  if (auto value = dyn_cast<BoolAttr>(attr))
    return text == (value.getValue() ? "true" : "false");
  if (auto value = dyn_cast<IntegerAttr>(attr)) {
    int64_t number;
    return !text.getAsInteger(10, number) && value.getValue().getBitWidth() <= 64 &&
           number == (value.getType().isUnsignedInteger() ? static_cast<int64_t>(value.getValue().getZExtValue())
                                                          : value.getValue().getSExtValue());
  }
  if (auto value = dyn_cast<FloatAttr>(attr)) {
    double number;
    return !text.getAsDouble(number) &&
           (value.getType().isF64() ? number : static_cast<float>(number)) == value.getValueAsDouble();
  }
  if (auto value = dyn_cast<StringAttr>(attr))
    return value.getValue() == text;
  if (auto value = dyn_cast<ArrayAttr>(attr)) {
    if (!text.starts_with("{"))
      return false;
    auto items = listed(text);
    return items.size() == value.size() && llvm::all_of(llvm::zip(value, items), [](auto pair) {
             return isDefault(std::get<0>(pair), std::get<1>(pair));
           });
  }
  auto sameNumbers = [&](auto values) {
    SmallVector<std::string> items = llvm::map_to_vector(values, [](int64_t value) { return std::to_string(value); });
    return text.starts_with("{") && llvm::equal(listed(text), items, [](StringRef a, StringRef b) { return a == b; });
  };
  if (auto value = dyn_cast<DenseI32ArrayAttr>(attr))
    return sameNumbers(value.asArrayRef());
  if (auto value = dyn_cast<DenseI64ArrayAttr>(attr))
    return sameNumbers(value.asArrayRef());
  bool same = false;
  ttnn::visitEnum(attr, [&](auto value) { same = stringifyEnum(value) == text; });
  return same;
}

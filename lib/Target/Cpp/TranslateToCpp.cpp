//===- TranslateToCpp.cpp - printing of the emitc dialect as C++ ----------===//
// SPDX-License-Identifier: Apache-2.0
//
// MLIR's emitter numbers variables (v1, v2, ...) and writes each statement on one line. Comments after the definitions,
// "//@ v3 weights", state the names of variables; the text is rewritten with them, statement by statement.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/Target/Cpp/TranslateToCpp.h"

#include "ttmlir/Target/Emit/TensorFiles.h"
#include "ttmlir/Target/Emit/Text.h"
#include "ttmlir/Target/TTNN/Lowered.h"

#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/Cpp/CppEmitter.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;
using namespace mlir::tt;

static constexpr StringLiteral marker = "//@ ";

//===----------------------------------------------------------------------===//
// Marking
//===----------------------------------------------------------------------===//

/// The name of a variable without a requested name: that of the function that returns it.
static std::string fallbackName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return "arg" + std::to_string(argument.getArgNumber());
  if (auto call = value.getDefiningOp<emitc::CallOpaqueOp>()) {
    StringRef callee = call.getCallee();
    return callee.take_until([](char c) { return c == '<'; }).rsplit(':').second.str();
  }
  return "";
}

static void mark(OpBuilder &builder, Value value, Operation *noted, unsigned index) {
  std::string name;
  if (auto names = noted->getAttrOfType<ArrayAttr>(emit::namesAttr); names && index < names.size())
    if (auto text = dyn_cast<StringAttr>(names[index]))
      name = text.str();
  if (emit::identifierOf(name).empty())
    name = fallbackName(value);
  if (!name.empty())
    emitc::VerbatimOp::create(builder, value.getLoc(), (marker + "{} " + emit::identifierOf(name)).str(), value);
}

/// Puts markers into a copy of the module.
static void markAll(ModuleOp module) {
  OpBuilder builder(module.getContext());
  module.walk([&](emitc::FuncOp function) {
    if (function.isExternal())
      return;
    Block &body = function.getBody().front();
    builder.setInsertionPointToStart(&body);
    for (BlockArgument argument : function.getArguments())
      mark(builder, argument, function, argument.getArgNumber());
    for (auto call : llvm::make_early_inc_range(body.getOps<emitc::CallOpaqueOp>())) {
      builder.setInsertionPointAfter(call);
      for (OpResult result : call.getResults())
        mark(builder, result, call, result.getResultNumber());
    }
  });
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites the text of one function: its header, its statements, its end.
class FunctionText {
public:
  FunctionText(const emit::NameScope &outer) : scope(emit::Language::Cpp, &outer) {}
  void add(StringRef line);
  void print(llvm::raw_ostream &os);

private:
  void inlineLists();
  void bindResults();

  emit::NameScope scope;
  SmallVector<std::string> lines;
  llvm::StringMap<std::string> names;
};
} // namespace

void FunctionText::add(StringRef line) {
  if (StringRef text = line.trim(); text.consume_front(marker)) {
    auto [variable, name] = text.split(' ');
    names[variable] = scope.give(name);
    return;
  }
  lines.push_back(line.trim().str());
}

/// The number of occurrences of a word in a text, outside of strings.
static unsigned countWord(StringRef text, StringRef word) {
  unsigned count = 0;
  emit::renamed(text, [&](StringRef each) {
    count += each == word;
    return each;
  });
  return count;
}

/// Moves `std::vector<ttnn::Tensor> v = ttnn::tensors(a, b);` to the only use of v, as `{a, b}`; likewise a std::array
/// of tensors.
void FunctionText::inlineLists() {
  static constexpr StringLiteral call = " = ttnn::tensors(";
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    StringRef text = lines[i];
    if (!(text.starts_with("std::vector<") || text.starts_with("std::array<")) || !text.consume_back(");"))
      continue;
    auto [declared, items] = text.split(call);
    if (declared.size() == text.size())
      continue;
    StringRef variable = declared.rsplit(' ').second;
    unsigned uses = 0;
    for (const std::string &other : ArrayRef(lines).drop_front(i + 1))
      uses += countWord(other, variable);
    if (uses != 1 || countWord(lines[i + 1], variable) != 1)
      continue;
    std::string listed = ("{" + items + "}").str();
    lines[i + 1] = emit::renamed(lines[i + 1], [&](StringRef word) { return word == variable ? listed : word; });
    lines.erase(lines.begin() + i--);
  }
}

/// `T a; T b; std::tie(a, b) = f();` is `auto [a, b] = f();`.
void FunctionText::bindResults() {
  for (size_t i = 0; i < lines.size(); ++i) {
    StringRef text = lines[i];
    if (!text.consume_front("std::tie("))
      continue;
    auto [variables, rest] = text.split(") = ");
    SmallVector<StringRef> parts;
    variables.split(parts, ", ");
    if (parts.size() > i)
      continue;
    bool declared = true;
    for (auto [offset, variable] : llvm::enumerate(parts))
      declared &= StringRef(lines[i - parts.size() + offset]).ends_with((" " + variable + ";").str());
    if (!declared)
      continue;
    lines[i] = ("auto [" + variables + "] = " + rest).str();
    lines.erase(lines.begin() + (i - parts.size()), lines.begin() + i);
    i -= parts.size();
  }
}

void FunctionText::print(llvm::raw_ostream &os) {
  bindResults(); // first: it removes what may stand between a list and its use
  inlineLists();
  auto name = [&](StringRef word) -> StringRef {
    auto found = names.find(word);
    return found == names.end() ? word : StringRef(found->second);
  };
  for (auto [index, line] : llvm::enumerate(lines)) {
    bool isOuter = index == 0 || index + 1 == lines.size();
    os << emit::wrapped(emit::Language::Cpp, emit::renamed(line, name), isOuter ? 0 : 2);
  }
}

/// Copies the top level, and rewrites functions, with an empty line between two of them. Texts of several lines stay.
static void rewrite(StringRef code, const emit::NameScope &outer, llvm::raw_ostream &os) {
  SmallVector<StringRef> lines;
  code.split(lines, '\n');
  std::optional<FunctionText> function;
  StringRef previous;
  bool isRaw = false;
  for (StringRef line : lines) {
    if (isRaw) {
      os << line << '\n';
      isRaw = !line.contains(emit::rawEnd);
      continue;
    }
    if (function) {
      function->add(line);
      if (line == "}") {
        function->print(os);
        function.reset();
        previous = line;
      }
      continue;
    }
    if (line.trim().empty())
      continue;
    bool opens = line.ends_with("{") && !line.starts_with(" ") && !line.contains(emit::rawBegin);
    auto isKind = [](StringRef text, StringRef kind) { return text.starts_with(kind); };
    bool isTogether = (isKind(line, "#include") && isKind(previous, "#include")) ||
                      (isKind(line, "TTNN_PROGRAM") && isKind(previous, "TTNN_PROGRAM")) || line.starts_with(" ");
    if (!previous.empty() && !isTogether)
      os << '\n';
    previous = line;
    if (opens) {
      function.emplace(outer);
      function->add(line);
    } else {
      os << line << '\n';
      isRaw = line.contains(emit::rawBegin) && !line.contains(emit::rawEnd);
    }
  }
}

LogicalResult emit::translateToCpp(Operation *op, llvm::raw_ostream &os) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError() << "expected a module, found '" << op->getName() << "'";
  if (failed(checkLowered(module, Written::Cpp)))
    return failure();
  OwningOpRef<ModuleOp> marked(module.clone());
  NameScope outer(Language::Cpp);
  for (auto function : module.getOps<emitc::FuncOp>())
    outer.reserve(function.getSymName());
  for (auto text : module.getOps<emitc::VerbatimOp>())
    if (auto defined = text->getAttrOfType<ArrayAttr>(namesAttr))
      for (StringRef name : defined.getAsValueRange<StringAttr>())
        outer.reserve(name);
  markAll(*marked);
  std::string code;
  llvm::raw_string_ostream stream(code);
  if (failed(emitc::translateToCpp(*marked, stream)))
    return failure();
  rewrite(code, outer, os);
  return success();
}

void emit::registerTranslateToCpp(void (*dialects)(DialectRegistry &)) {
  registerTensorDirectoryOption();
  static TranslateFromMLIRRegistration registration(
      "mlir-to-cpp", "Print a module of the emitc dialect as C++",
      [](Operation *op, llvm::raw_ostream &os) {
        keepDiagnosticsShort(op);
        return failure(failed(writeTensorFilesOfOption(op)) || failed(translateToCpp(op, os)));
      },
      dialects);
}

//===- TranslateToPython.cpp - printing of the emitpy dialect as Python ---===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/Python/TranslateToPython.h"

#include "ttmlir/Dialect/EmitPy/IR/EmitPy.h"
#include "ttmlir/Target/Emit/TensorFiles.h"
#include "ttmlir/Target/Emit/Text.h"
#include "ttmlir/Target/TTNN/Lowered.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emitpy;

/// Modules of Python's library, which are imported before others.
static bool isStandard(StringRef module) {
  return llvm::is_contained({"functools", "math", "os", "pathlib", "sys"}, module.split('.').first);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static std::string quoted(StringRef text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    switch (c) {
    case '"':
    case '\\':
      out.push_back('\\');
      out.push_back(static_cast<char>(c));
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      if (c < 0x20 || c == 0x7f)
        out += "\\x" + llvm::utohexstr(c, /*LowerCase=*/true, 2);
      else
        out.push_back(static_cast<char>(c));
    }
  }
  return out + "\"";
}

/// An attribute as a Python value; `operand` writes operands.
static std::string spelled(Attribute attr, function_ref<std::string(unsigned)> operand) {
  return TypeSwitch<Attribute, std::string>(attr)
      .Case([](BoolAttr value) { return value.getValue() ? "True" : "False"; })
      .Case([&](IntegerAttr value) {
        if (value.getType().isIndex())
          return operand(value.getInt());
        SmallString<16> text;
        value.getValue().toString(text, 10, !value.getType().isUnsignedInteger());
        return text.str().str();
      })
      .Case([](FloatAttr value) {
        return emit::floatText(value.getValueAsDouble(), emit::Language::Python, !value.getType().isF64());
      })
      .Case([](StringAttr value) { return quoted(value); })
      .Case([](UnitAttr) { return "None"; })
      .Case([](emitpy::OpaqueAttr value) { return value.getValue().str(); })
      .Case([&](ArrayAttr list) {
        std::string text = "[";
        llvm::interleave(list, [&](Attribute item) { text += spelled(item, operand); }, [&] { text += ", "; });
        return text + "]";
      })
      .Default([](Attribute) { return "..."; }); // the verifier lets none pass
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

namespace {
class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}
  /// Prints the top level of a module or file.
  LogicalResult print(Block &top);

private:
  LogicalResult printTop(Operation &op);
  LogicalResult printFunction(func::FuncOp function);
  LogicalResult printStatement(Operation &op);
  std::string call(CallOpaqueOp op);
  std::string nameOf(Value value) const { return names.lookup(value); }
  std::string list(ValueRange values) const;
  void assign(Operation &op, StringRef expression);
  void line(StringRef text, size_t indent) { os << emit::wrapped(emit::Language::Python, text, indent); }
  void verbatim(StringRef text, size_t indent);
  /// Blank lines between two top-level items, as PEP 8 requires.
  void separate(Operation &op);

  llvm::raw_ostream &os;
  Operation *previous = nullptr;
  emit::NameScope module{emit::Language::Python};
  std::optional<emit::NameScope> scope;
  DenseMap<Value, std::string> names;
};
} // namespace

std::string Printer::list(ValueRange values) const {
  std::string text;
  llvm::interleave(values, [&](Value value) { text += nameOf(value); }, [&] { text += ", "; });
  return text;
}

void Printer::verbatim(StringRef text, size_t indent) {
  SmallVector<StringRef> lines;
  text.rtrim('\n').split(lines, '\n');
  for (StringRef each : lines)
    if (each.empty())
      os << '\n';
    else
      os.indent(indent) << each << '\n';
}

void Printer::separate(Operation &op) {
  if (!previous)
    return;
  bool far = isa<func::FuncOp, VerbatimOp>(op) || isa<func::FuncOp>(previous);
  auto import = dyn_cast<ImportOp>(op), before = dyn_cast<ImportOp>(previous);
  // Python's library first, then others, then modules of the program.
  auto group = [](ImportOp op) { return isStandard(op.getModuleName()) ? 0 : op.getNamesAttr() ? 2 : 1; };
  bool near = import && before && group(import) == group(before);
  if (far)
    os << "\n\n";
  else if (!near && !(isa<GlobalOp>(op) && isa<GlobalOp>(previous)))
    os << '\n';
}

LogicalResult Printer::print(Block &top) {
  for (func::FuncOp function : top.getOps<func::FuncOp>())
    module.reserve(function.getSymName());
  for (auto text : top.getOps<VerbatimOp>())
    if (auto defined = text->getAttrOfType<ArrayAttr>(emit::namesAttr))
      for (StringRef name : defined.getAsValueRange<StringAttr>())
        module.reserve(name);
  for (auto import : top.getOps<ImportOp>())
    if (ArrayAttr names = import.getNamesAttr())
      for (StringRef name : names.getAsValueRange<StringAttr>())
        module.reserve(name);
  for (Operation &each : top) {
    separate(each);
    if (failed(printTop(each)))
      return failure();
    previous = &each;
  }
  return success();
}

LogicalResult Printer::printTop(Operation &op) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](ImportOp import) {
        ArrayAttr imported = import.getNamesAttr();
        std::string text = ((imported ? "from " : "import ") + import.getModuleName()).str();
        if (imported)
          text += " import " + llvm::join(imported.getAsValueRange<StringAttr>(), ", ");
        line(text, 0);
        return success();
      })
      .Case([&](GlobalOp global) {
        line((global.getSymName() + " = " + global.getValue().getValue()).str(), 0);
        return success();
      })
      .Case([&](VerbatimOp op) {
        verbatim(op.getText(), 0);
        return success();
      })
      .Case([&](func::FuncOp function) { return printFunction(function); })
      .Default([](Operation *op) {
        return op->emitError() << "'" << op->getName() << "' has no form in Python; run convert-ttnn-to-emitpy first";
      });
}

/// The preferred name for a value: the one that the conversion recorded, or `fallback`.
static StringRef wish(Operation *op, unsigned index, StringRef fallback) {
  auto noted = op->getAttrOfType<ArrayAttr>(emit::namesAttr);
  if (noted && index < noted.size())
    if (auto name = dyn_cast<StringAttr>(noted[index]); name && !name.empty())
      return name;
  return fallback;
}

LogicalResult Printer::printFunction(func::FuncOp function) {
  if (function.isExternal())
    return function.emitOpError() << "has no body; a Python function has one";
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError() << "has " << function.getBody().getBlocks().size()
                                  << " blocks; a Python function is printed from one";
  if (!isIdentifier(function.getSymName()))
    return function.emitOpError() << "is not a Python name";
  names.clear();
  scope.emplace(emit::Language::Python, &module);
  for (BlockArgument argument : function.getArguments())
    names[argument] =
        scope->give(wish(function, argument.getArgNumber(), "arg" + std::to_string(argument.getArgNumber())));
  SmallVector<std::string> parameters = llvm::map_to_vector(function.getArguments(), [&](BlockArgument argument) {
    // The uses of tensors and devices reveal what they are.
    auto type = dyn_cast<emitpy::OpaqueType>(argument.getType());
    bool isList = type && type.getValue().starts_with("list[");
    return isList ? names[argument] + ": " + type.getValue().str() : names[argument];
  });
  line(("def " + function.getSymName() + "(" + llvm::join(parameters, ", ") + "):").str(), 0);
  Block &body = function.getBody().front();
  for (Operation &op : body)
    if (failed(printStatement(op)))
      return failure();
  bool returnsNothing = body.getTerminator()->getNumOperands() == 0;
  if (returnsNothing && llvm::hasSingleElement(body))
    line("pass", emit::indentation);
  return success();
}

void Printer::assign(Operation &op, StringRef expression) {
  StringRef callee;
  if (auto opaque = dyn_cast<CallOpaqueOp>(op))
    callee = opaque.getCallee();
  else if (auto call = dyn_cast<func::CallOp>(op))
    callee = call.getCallee();
  StringRef base = callee.contains('.') ? callee.rsplit('.').second : callee;
  for (OpResult result : op.getResults())
    names[result] = scope->give(wish(&op, result.getResultNumber(), base));
  std::string text = op.getNumResults() == 0 ? "" : list(op.getResults()) + " = ";
  // A list of names that fills a line can be broken within brackets.
  if (op.getNumResults() > 1 && text.size() + emit::indentation > emit::lineWidth)
    text = "(" + list(op.getResults()) + ") = ";
  line(text + expression.str(), emit::indentation);
}

std::string Printer::call(CallOpaqueOp op) {
  StringRef callee = op.getCallee();
  OperandRange operands = op.getOperands();
  std::string text = callee.starts_with(".") ? nameOf(operands.front()) : "";
  text += (callee + "(").str();
  if (std::optional<ArrayAttr> args = op.getArgs()) {
    std::optional<ArrayAttr> keywords = op.getKeywords();
    for (auto [index, argument] : llvm::enumerate(*args)) {
      if (index > 0)
        text += ", ";
      if (StringRef keyword = keywords ? cast<StringAttr>((*keywords)[index]).getValue() : ""; !keyword.empty())
        text += (keyword + "=").str();
      text += spelled(argument, [&](unsigned operand) { return nameOf(operands[operand]); });
    }
  } else {
    text += list(callee.starts_with(".") ? operands.drop_front() : operands);
  }
  return text + ")";
}

LogicalResult Printer::printStatement(Operation &op) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](CallOpaqueOp callee) {
        assign(op, call(callee));
        return success();
      })
      .Case([&](func::CallOp callee) {
        assign(op, (callee.getCallee() + "(" + list(callee.getOperands()) + ")").str());
        return success();
      })
      .Case([&](LiteralOp literal) {
        names[literal.getResult()] = literal.getValue().getValue().str();
        return success();
      })
      .Case([&](ListOp created) {
        names[created.getResult()] = "[" + list(created.getItems()) + "]";
        return success();
      })
      .Case([&](UnpackOp unpack) {
        for (OpResult item : unpack.getResults())
          names[item] = scope->give(wish(unpack, item.getResultNumber(), "item"));
        std::string variables = list(unpack.getItems());
        line((unpack.getItems().size() == 1 ? "[" + variables + "]" : variables) + " = " + nameOf(unpack.getList()),
             emit::indentation);
        return success();
      })
      .Case([&](VerbatimOp text) {
        verbatim(text.getText(), emit::indentation);
        return success();
      })
      .Case([&](func::ReturnOp done) {
        std::string text = "return " + list(done.getOperands());
        if (done.getNumOperands() > 1 && text.size() + emit::indentation > emit::lineWidth)
          text = "return (" + list(done.getOperands()) + ")";
        if (done.getNumOperands() > 0)
          line(text, emit::indentation);
        return success();
      })
      .Default([](Operation *op) {
        return op->emitError() << "'" << op->getName() << "' has no form in Python; run convert-ttnn-to-emitpy first";
      });
}

SmallVector<StringRef> emitpy::fileIds(Operation *module) {
  SmallVector<StringRef> ids;
  for (Region &region : module->getRegions())
    for (auto file : region.getOps<FileOp>())
      ids.push_back(file.getId());
  return ids;
}

LogicalResult emitpy::translateToPython(Operation *op, llvm::raw_ostream &os, StringRef id) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError() << "expected a module, found '" << op->getName() << "'";
  if (failed(checkLowered(module, Written::Python)))
    return failure();
  SmallVector<StringRef> ids = fileIds(module);
  auto listed = [&] { return llvm::join(ids, ", "); };
  if (ids.empty()) {
    if (!id.empty())
      return module.emitError() << "the program is one file; there is none called '" << id << "'";
    return Printer(os).print(*module.getBody());
  }
  if (id.empty())
    return module.emitError() << "the program has the files " << listed() << "; choose one with --emitpy-file-id";
  for (auto file : module.getOps<FileOp>())
    if (file.getId() == id)
      return Printer(os).print(file.getBody().front());
  return module.emitError() << "the program has no file '" << id << "'; there are " << listed();
}

void emitpy::registerTranslateToPython(void (*dialects)(DialectRegistry &)) {
  emit::registerTensorDirectoryOption();
  static llvm::cl::opt<std::string> fileId("emitpy-file-id",
                                           llvm::cl::desc("The file to print of a program that has several"));
  static TranslateFromMLIRRegistration registration(
      "mlir-to-python", "Print a module of the emitpy dialect as Python",
      [](Operation *op, llvm::raw_ostream &os) {
        keepDiagnosticsShort(op);
        return failure(failed(emit::writeTensorFilesOfOption(op)) || failed(translateToPython(op, os, fileId)));
      },
      dialects);
}

//===- Text.cpp - names and formatting of emitted programs ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/Emit/Text.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>

using namespace mlir::tt;
using llvm::SmallVector;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static const llvm::StringSet<> &reservedWords(emit::Language language) {
  // Variables may hide builtins of Python, but that would confuse readers.
  static const llvm::StringSet<> python = {
      "False",    "None",      "True",  "and",   "as",     "assert",   "async",   "await",  "break", "class",
      "continue", "def",       "del",   "elif",  "else",   "except",   "finally", "for",    "from",  "global",
      "if",       "import",    "in",    "is",    "lambda", "nonlocal", "not",     "or",     "pass",  "raise",
      "return",   "try",       "while", "with",  "yield",  "abs",      "all",     "any",    "bool",  "bytes",
      "compile",  "dict",      "dir",   "eval",  "exec",   "filter",   "float",   "format", "hash",  "id",
      "input",    "int",       "iter",  "len",   "list",   "map",      "max",     "min",    "next",  "object",
      "open",     "pow",       "print", "range", "repr",   "reversed", "round",   "set",    "slice", "sorted",
      "str",      "sum",       "super", "tuple", "type",   "vars",     "zip",     "ttnn",   "Path",  "TENSORS",
      "main",     "MESH_SHAPE"};
  static const llvm::StringSet<> cpp = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
      "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit",
      "const_cast", "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
      "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
      "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
      "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
      "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
      "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "std", "ttnn", "tensors", "main", "tt", "TTNN_PROGRAM",
      // Of the C library: macros, types and variables.
      "EOF", "NULL", "errno", "stdin", "stdout", "stderr", "environ", "timezone", "daylight", "optarg", "optind",
      "opterr", "optopt", "signgam", "size_t", "ssize_t", "time_t", "clock_t", "FILE", "int8_t", "int16_t", "int32_t",
      "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intptr_t", "uintptr_t", "ptrdiff_t", "off_t", "pid_t",
      "div_t", "assert", "INFINITY", "NAN"};
  return language == emit::Language::Python ? python : cpp;
}

bool emit::isReserved(Language language, StringRef word) { return reservedWords(language).contains(word); }

std::string emit::identifierOf(StringRef text) {
  std::string name;
  bool gap = false;
  for (char c : text) {
    if (!llvm::isAlnum(c) && c != '_') {
      gap = !name.empty();
      continue;
    }
    if (gap && c != '_' && name.back() != '_')
      name.push_back('_');
    name.push_back(c);
    gap = false;
  }
  if (!name.empty() && llvm::isDigit(name.front()))
    name.insert(0, "v");
  return name;
}

std::string emit::NameScope::give(StringRef wish) {
  std::string base = identifierOf(wish);
  if (base.empty())
    base = "v";
  std::string name = isReserved(language, base) ? base + "_" : base;
  unsigned &number = next[base];
  while (isTaken(name))
    name = base + "_" + std::to_string(++number);
  reserve(name);
  return name;
}

std::string emit::floatText(double value, Language language, bool isSingle) {
  if (!std::isfinite(value)) {
    bool isPython = language == Language::Python;
    if (std::isnan(value))
      return isPython ? "float(\"nan\")" : "std::numeric_limits<double>::quiet_NaN()";
    std::string sign = value < 0 ? "-" : "";
    return isPython ? "float(\"" + sign + "inf\")" : sign + "std::numeric_limits<double>::infinity()";
  }
  char text[32];
  std::to_chars_result end = isSingle ? std::to_chars(text, std::end(text), static_cast<float>(value))
                                      : std::to_chars(text, std::end(text), value);
  std::string out(text, end.ptr);
  // An integer would have another type.
  if (out.find_first_of(".e") == std::string::npos)
    out += ".0";
  return out;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// The position after the string or comment that starts at `at`, or `at` if none starts there.
static size_t skipQuoted(StringRef code, size_t at) {
  char first = code[at];
  if (first == '"' || first == '\'') {
    size_t end = at + 1;
    while (end < code.size() && code[end] != first)
      end += code[end] == '\\' ? 2 : 1;
    return std::min(end + 1, code.size());
  }
  if (code.substr(at).starts_with("/*")) {
    size_t end = code.find("*/", at + 2);
    return end == StringRef::npos ? code.size() : end + 2;
  }
  return at;
}

namespace {
/// The brackets of a statement that are broken first: the last nonempty outermost ones that open on the first line.
struct Brackets {
  size_t open = StringRef::npos, close = StringRef::npos;
  SmallVector<size_t> commas;
};
} // namespace

static Brackets outerBrackets(StringRef code, size_t width) {
  Brackets last, current;
  size_t depth = 0;
  for (size_t at = 0; at < code.size();) {
    if (size_t behind = skipQuoted(code, at); behind != at) {
      at = behind;
      continue;
    }
    char c = code[at];
    if (c == '(' || c == '[' || c == '{') {
      if (depth++ == 0)
        current = {at, StringRef::npos, {}};
    } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
      bool fits = last.close == StringRef::npos || current.open < width;
      if (--depth == 0 && at > current.open + 1 && fits) {
        current.close = at;
        last = current;
      }
    } else if (c == ',' && depth == 1) {
      current.commas.push_back(at);
    }
    ++at;
  }
  return last;
}

static void wrap(emit::Language language, StringRef code, size_t indent, std::string &out) {
  Brackets brackets;
  if (indent + code.size() > emit::lineWidth)
    brackets = outerBrackets(code, emit::lineWidth - std::min(indent, emit::lineWidth));
  if (brackets.close == StringRef::npos) {
    out.append(indent, ' ').append(code.str()).append("\n");
    return;
  }
  StringRef head = code.take_front(brackets.open + 1), tail = code.drop_front(brackets.close);
  StringRef body = code.slice(brackets.open + 1, brackets.close).trim();
  size_t inner = indent + emit::indentation;
  bool isPython = language == emit::Language::Python;
  out.append(indent, ' ').append(head.str()).append("\n");
  if (inner + body.size() + (isPython ? 0 : tail.size()) <= emit::lineWidth) {
    out.append(inner, ' ').append(body.str());
  } else {
    size_t begin = brackets.open + 1;
    brackets.commas.push_back(brackets.close);
    for (size_t end : brackets.commas) {
      StringRef item = code.slice(begin, end).trim();
      begin = end + 1;
      if (item.empty())
        continue;
      bool isLast = end == brackets.close;
      wrap(language, (item + (isLast && !isPython ? "" : ",")).str(), inner, out);
    }
    out.pop_back(); // the newline
  }
  // Python closes on a separate line, C++ after the last item if the rest fits there.
  size_t lastLine = out.size() - (out.rfind('\n') + 1);
  if (isPython || lastLine + tail.size() > emit::lineWidth) {
    out.append("\n");
    wrap(language, tail, indent, out);
  } else {
    out.append(tail.str()).append("\n");
  }
}

/// Puts Python's names on the left in brackets if they leave no room for the call after them.
static std::string bracketed(StringRef statement, size_t indent) {
  size_t equals = statement.find(" = "), call = statement.find('(');
  StringRef names = statement.take_front(equals);
  if (equals == StringRef::npos || call == StringRef::npos || call < equals || indent + call < emit::lineWidth ||
      !names.contains(','))
    return statement.str();
  return ("(" + names + ")" + statement.drop_front(equals)).str();
}

std::string emit::wrapped(Language language, StringRef statement, size_t indent) {
  std::string out, code = statement.trim().str();
  wrap(language, language == Language::Python ? bracketed(code, indent) : code, indent, out);
  return out;
}

std::string emit::renamed(StringRef code, llvm::function_ref<StringRef(StringRef)> word) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  std::string out;
  for (size_t at = 0; at < code.size();) {
    size_t end = skipQuoted(code, at);
    if (end != at) {
      out.append(code.slice(at, end).str());
    } else if (isWord(code[at])) {
      end = at + 1;
      while (end < code.size() && isWord(code[end]))
        ++end;
      StringRef text = code.slice(at, end);
      out.append(llvm::isDigit(text.front()) ? text.str() : word(text).str());
    } else {
      end = at + 1;
      out.push_back(code[at]);
    }
    at = end;
  }
  return out;
}

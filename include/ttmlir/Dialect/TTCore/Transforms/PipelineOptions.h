//===- PipelineOptions.h - options of pipelines, described ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The options of a pipeline are members of a struct. Each member describes itself here: its name, default, help, and
// accepted values. Every entrance reads these descriptions, and checks values against them.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_PIPELINEOPTIONS_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_PIPELINEOPTIONS_H

#include "ttmlir/Dialect/TTCore/Transforms/ChoiceParser.h"

#include "mlir/Pass/PassOptions.h"

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tt::ttcore {

/// The values that an option takes.
struct OptionValues {
  enum class Kind { Boolean, Integer, Number, Text, Choice };
  struct Choice {
    std::string value, help;
  };

  Kind kind = Kind::Text;
  /// The text of an error for the expected value: "1 or more".
  std::string expected;
  /// The range of an integer option.
  int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  /// The values of a choice.
  std::vector<Choice> choices = {};
  /// The reason why a choice has no other values; may be empty.
  std::string reason = {};

  static OptionValues boolean();
  static OptionValues integer(int64_t least, int64_t most, StringRef expected = {});
  static OptionValues choice(std::vector<Choice> choices, StringRef reason = {});

  /// Returns the canonical form of a value, or nothing if it is refused.
  std::optional<std::string> canonical(StringRef value) const;
};

/// A single option.
struct OptionDescription {
  std::string name, help, fallback; // fallback: the default, as text
  bool isList = false;
  OptionValues values;

  /// Returns why a value is refused, or an empty text. `value` becomes its canonical form.
  std::string check(std::string &value) const;
};

/// The values that a parser of options accepts. Parsers of this project have a function `values(option)`, or a
/// specialization.
template <class Parser> struct ParserTraits {
  static OptionValues values(const llvm::cl::Option &option, const Parser &parser) {
    using Data = typename Parser::parser_data_type;
    if constexpr (requires { Parser::values(option); }) {
      return Parser::values(option);
    } else if constexpr (std::is_base_of_v<llvm::cl::generic_parser_base, Parser>) {
      std::vector<OptionValues::Choice> choices;
      for (unsigned i = 0; i < parser.getNumOptions(); ++i)
        choices.push_back({parser.getOption(i).str(), parser.getDescription(i).str()});
      return OptionValues::choice(std::move(choices));
    } else if constexpr (std::is_same_v<Data, bool>) {
      return OptionValues::boolean();
    } else if constexpr (std::is_integral_v<Data>) {
      constexpr auto most = std::min<uint64_t>(std::numeric_limits<Data>::max(), std::numeric_limits<int64_t>::max());
      return OptionValues::integer(std::numeric_limits<Data>::min(), most);
    } else {
      static_assert(std::is_same_v<Data, std::string>, "this parser says nothing about its values");
      return {OptionValues::Kind::Text, "text"};
    }
  }
};

/// Options that describe themselves.
class DescribedOptions : public virtual mlir::detail::PassOptions {
  using Base = mlir::detail::PassOptions;

public:
  template <class T, class Parser = OptionParser<T>> struct Option : Base::Option<T, Parser> {
    template <class... Args>
    Option(DescribedOptions &owner, StringRef name, Args &&...args)
        : Base::Option<T, Parser>(owner, name, std::forward<Args>(args)...) {
      owner.add(*this, text(this->getParser(), this->getValue()), /*isList=*/false);
    }
    using Base::Option<T, Parser>::operator=;
  };
  template <class T, class Parser = OptionParser<T>> struct ListOption : Base::ListOption<T, Parser> {
    template <class... Args>
    ListOption(DescribedOptions &owner, StringRef name, Args &&...args)
        : Base::ListOption<T, Parser>(owner, name, std::forward<Args>(args)...) {
      std::string fallback;
      for (const T &value : **this)
        fallback += (fallback.empty() ? "" : ",") + text(this->getParser(), value);
      owner.add(*this, std::move(fallback), /*isList=*/true);
    }
    using Base::ListOption<T, Parser>::operator=;
  };

  ArrayRef<OptionDescription> described() const { return descriptions; }

private:
  template <class Option> void add(Option &option, std::string fallback, bool isList) {
    using Parser = std::remove_reference_t<decltype(option.getParser())>;
    descriptions.push_back({option.ArgStr.str(), option.HelpStr.str(), std::move(fallback), isList,
                            ParserTraits<Parser>::values(option, option.getParser())});
  }

  /// The text form of a value.
  template <class T, class Parser> static std::string text(Parser &parser, const T &value) {
    if constexpr (std::is_base_of_v<llvm::cl::generic_parser_base, Parser>)
      return parser.findArgStrForValue(value).value_or("").str();
    else if constexpr (std::is_same_v<T, std::string>)
      return value;
    else if constexpr (std::is_same_v<T, bool>)
      return value ? "true" : "false";
    else if constexpr (std::is_floating_point_v<decltype(+value)>)
      return written(value);
    else
      return std::to_string(static_cast<int64_t>(value));
  }
  static std::string written(double value);

  std::vector<OptionDescription> descriptions;
};

/// The base of a pipeline's options, in place of PassPipelineOptions.
template <class Options> struct PipelineOptions : PassPipelineOptions<Options>, virtual DescribedOptions {
  template <class T, class Parser = mlir::detail::PassOptions::OptionParser<T>>
  using Option = DescribedOptions::Option<T, Parser>;
  template <class T, class Parser = mlir::detail::PassOptions::OptionParser<T>>
  using ListOption = DescribedOptions::ListOption<T, Parser>;
};

/// A registered pipeline.
struct PipelineDescription {
  std::string name, help;
  std::vector<OptionDescription> options; // by name
};

/// Registers a pipeline; its options are described on demand.
void addPipelineDescription(StringRef name, StringRef help, std::function<std::vector<OptionDescription>()> options);

/// Returns the description of a registered pipeline, or null.
const PipelineDescription *describePipeline(StringRef name);

/// Returns the names of the registered pipelines, sorted.
std::vector<std::string> pipelineNames();

/// Returns why a pipeline refuses an option or its value, or an empty text. `value` becomes its canonical form.
std::string checkPipelineOption(StringRef pipeline, StringRef name, std::string &value);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_PIPELINEOPTIONS_H

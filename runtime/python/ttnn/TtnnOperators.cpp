//===- TtnnOperators.cpp - operators and indexing of tensors --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnFunctions.h"

#include <algorithm>
#include <array>

namespace tt::python {
namespace {

using ttnn::Tensor;

nb::object notImplemented() { return nb::borrow(Py_NotImplemented); }

nb::object called(const Function &function, std::initializer_list<nb::handle> arguments) {
  std::vector<PyObject *> pointers;
  for (const nb::handle argument : arguments)
    pointers.push_back(argument.ptr());
  return function.call(pointers);
}

/// Python's names of an operator and of the one with exchanged operands, and the function that computes it.
struct BinaryOperator {
  const char *name, *reversed, *function;
  bool takesNumbers = true;
};
constexpr std::array<BinaryOperator, 17> binaryOperators = {{
    {"__add__", "__radd__", "add"},
    {"__sub__", "__rsub__", "subtract"},
    {"__mul__", "__rmul__", "multiply"},
    {"__truediv__", "__rtruediv__", "divide"},
    {"__mod__", "__rmod__", "remainder"},
    {"__pow__", nullptr, "pow"},
    {"__lt__", nullptr, "lt"},
    {"__le__", nullptr, "le"},
    {"__gt__", nullptr, "gt"},
    {"__ge__", nullptr, "ge"},
    {"__eq__", nullptr, "eq"},
    {"__ne__", nullptr, "ne"},
    {"__and__", "__rand__", "bitwise_and"},
    {"__or__", "__ror__", "bitwise_or"},
    {"__xor__", "__rxor__", "bitwise_xor"},
    {"__lshift__", nullptr, "logical_left_shift"},
    {"__matmul__", nullptr, "matmul", false},
}};

struct UnaryOperator {
  const char *name, *function;
};
constexpr std::array<UnaryOperator, 3> unaryOperators = {
    {{"__neg__", "neg"}, {"__abs__", "abs"}, {"__invert__", "bitwise_not"}}};

/// The part of one dimension that an index selects.
struct Cut {
  int64_t begin, end, step;
};

/// x[1, 2:5, ..., None]: a slice, and then a reshape if dimensions are added or removed.
class Index {
public:
  Index(const Tensor &tensor, nb::handle key) : shape(tensor.shape()) {
    const nb::tuple items = PyTuple_Check(key.ptr()) ? nb::borrow<nb::tuple>(key) : nb::make_tuple(key);
    size_t named = 0, ellipses = 0;
    for (nb::handle item : items) {
      ellipses += isEllipsis(item);
      named += !item.is_none() && !isEllipsis(item);
    }
    if (named > shape.size() || ellipses > 1)
      throw nb::index_error((ellipses > 1 ? "more than one ellipsis in an index"
                                          : std::to_string(named) + " indices for a tensor of shape " + toString(shape))
                                .c_str());
    for (nb::handle item : items) {
      if (item.is_none())
        result.push_back(1);
      else if (isEllipsis(item))
        whole(cuts.size() + shape.size() - named);
      else
        add(item);
    }
    whole(shape.size());
  }

  nb::object of(const Tensor &tensor) const {
    nb::object value = nb::cast(tensor);
    bool all = true;
    nb::list begins, ends, steps;
    for (size_t i = 0; i < cuts.size(); ++i) {
      all &= cuts[i].begin == 0 && cuts[i].end == shape[i] && cuts[i].step == 1;
      begins.append(cuts[i].begin);
      ends.append(cuts[i].end);
      steps.append(cuts[i].step);
    }
    if (!all)
      value = called(publicFunction("slice"), {value, begins, ends, steps});
    if (result != nb::cast<Tensor &>(value).shape())
      value = called(publicFunction("reshape"), {value, pyShape(result)});
    return value;
  }

private:
  static bool isEllipsis(nb::handle item) { return item.ptr() == Py_Ellipsis; }
  /// All of the dimensions up to one.
  void whole(size_t to) {
    while (cuts.size() < to) {
      result.push_back(shape[cuts.size()]);
      cuts.push_back({0, shape[cuts.size()], 1});
    }
  }
  void add(nb::handle item) {
    const size_t dim = cuts.size();
    const int64_t size = shape[dim];
    if (PySlice_Check(item.ptr())) {
      Py_ssize_t begin, end, step;
      if (PySlice_Unpack(item.ptr(), &begin, &end, &step) < 0)
        throw nb::python_error();
      if (step < 1)
        throw nb::value_error(("index of dimension " + std::to_string(dim) + ": step " + std::to_string(step) +
                               "; expected a positive one")
                                  .c_str());
      const int64_t count = PySlice_AdjustIndices(size, &begin, &end, step);
      cuts.push_back({begin, count ? end : begin, step});
      result.push_back(count);
      return;
    }
    // An array may convert to an integer, and only an array with its own conversion refuses.
    if (PyBool_Check(item.ptr()) || !isNumber(item.ptr()) || !PyIndex_Check(item.ptr()))
      throw nb::type_error(("index of dimension " + std::to_string(dim) + " is " + reprOf(item) + " of type " +
                            Py_TYPE(item.ptr())->tp_name + "; expected an integer or a slice")
                               .c_str());
    const nb::object index = nb::steal(PyNumber_Index(item.ptr()));
    if (!index.is_valid())
      throw nb::python_error();
    int overflow = 0;
    const int64_t given = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (given == -1 && !overflow && PyErr_Occurred())
      throw nb::python_error();
    const int64_t at = given < 0 ? given + size : given;
    if (overflow || at < 0 || at >= size)
      throw nb::index_error(("index " + reprOf(index) + " of dimension " + std::to_string(dim) + ", which has size " +
                             std::to_string(size))
                                .c_str());
    cuts.push_back({at, at + 1, 1});
  }

  const Shape shape; // a copy: __index__ of what is given may do anything
  std::vector<Cut> cuts;
  Shape result;
};

} // namespace

void bindTtnnOperators(nb::class_<Tensor> &tensor) {
  const auto sig = [](std::string_view name, std::string_view other) {
    return "def " + std::string(name) + "(self" + std::string(other) + ") -> Tensor";
  };
  for (const BinaryOperator &row : binaryOperators) {
    const auto takes = [numbers = row.takesNumbers](nb::handle value) {
      return nb::isinstance<Tensor>(value) || (numbers && isNumber(value.ptr()));
    };
    const std::string other = row.takesNumbers ? ", other: Tensor | float" : ", other: Tensor";
    tensor.def(
        row.name,
        [takes, name = row.function](nb::handle self, nb::handle other) {
          return takes(other) ? called(publicFunction(name), {self, other}) : notImplemented();
        },
        nb::arg("other").none(), nb::sig(sig(row.name, other).c_str()));
    if (row.reversed)
      tensor.def(
          row.reversed,
          [takes, name = row.function](nb::handle self, nb::handle other) {
            return takes(other) ? called(publicFunction(name), {other, self}) : notImplemented();
          },
          nb::arg("other").none(), nb::sig(sig(row.reversed, other).c_str()));
  }
  for (const UnaryOperator &row : unaryOperators)
    tensor.def(
        row.name, [name = row.function](nb::handle self) { return called(publicFunction(name), {self}); },
        nb::sig(sig(row.name, "").c_str()));

  // numpy's scalars leave operators to this class, instead of treating a tensor as a sequence.
  tensor.attr("__array_ufunc__") = nb::none();
  tensor.def("__hash__", &Tensor::id)
      .def(
          "__getitem__", [](const Tensor &self, nb::handle key) { return Index(self, key).of(self); },
          nb::sig("def __getitem__(self, key: typing.Any) -> Tensor"),
          "Integers, slices with positive steps, an ellipsis and None.")
      .def(
          "reshape",
          [](nb::handle self, nb::args sizes) {
            const bool one = sizes.size() == 1 && !PyIndex_Check(sizes[0].ptr());
            return called(publicFunction("reshape"), {self, one ? nb::borrow(sizes[0]) : nb::object(sizes)});
          },
          nb::sig("def reshape(self, *shape: typing.Any) -> Tensor"), "The same elements in another shape.")
      .def(
          "to",
          [](nb::handle self, nb::handle where, nb::handle memory) {
            const bool isLayout = nb::isinstance<tt::Layout>(where);
            if (!isLayout && !nb::isinstance<sim::MeshDevice>(where))
              throw nb::type_error(
                  ("Tensor.to: found " + reprOf(where) + "; expected a device or a ttnn.Layout").c_str());
            if (isLayout)
              return called(publicFunction("to_layout"), {self, where, nb::none(), memory});
            return called(publicFunction("to_device"), {self, where, memory});
          },
          nb::arg("where"), nb::arg("memory_config").none() = nb::none(),
          nb::sig("def to(self, where: typing.Any, memory_config: typing.Any = None) -> Tensor"),
          "On a device, or in another layout.")
      .def(
          "to_torch",
          [](nb::handle self, nb::kwargs options) {
            return nb::module_::import_("ttnn").attr("to_torch")(self, **options);
          },
          nb::sig("def to_torch(self, **options: typing.Any) -> typing.Any"),
          "A torch tensor of the values; see ttnn.to_torch.")
      .def(
          "cpu", [](nb::handle self, bool) { return called(publicFunction("from_device"), {self}); },
          nb::arg("blocking") = true, nb::sig("def cpu(self, blocking: bool = True) -> Tensor"), "On the host.");
}

} // namespace tt::python

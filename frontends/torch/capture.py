# SPDX-License-Identifier: Apache-2.0
"""Dynamo's graphs, and functions, as graphs of aten ops in one pass, where nothing is differentiated.

Sizes that change stay symbols: what the run asks of them becomes guards of PyTorch's, as in any other run.

AOTAutograd runs a graph several times to learn what it writes, what its results share memory with, and what is
differentiated, and records each op in Python twice. A graph that gives back values of its own, and no gradients, has
one run to do: PyTorch's functionalization in C++ makes its writes results, and what arrives below it is recorded.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.experimental.proxy_tensor import disable_autocast_cache
from torch.fx.experimental.sym_node import SymNode
from torch.fx.node import map_aggregate
from torch.fx.traceback import get_current_meta, has_preserved_node_meta
from torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass

from .decompositions import decompositions
from .importer import is_draw
from .strided import memory

aten = torch.ops.aten
ENTER_AUTOCAST, EXIT_AUTOCAST = torch.amp.autocast_mode._enter_autocast, torch.amp.autocast_mode._exit_autocast
# Functions without a value for the graph. Others would change a state of PyTorch that is not known here.
VALUELESS = {ENTER_AUTOCAST, EXIT_AUTOCAST, torch._C._set_grad_enabled, torch._C._log_api_usage_once, operator.setitem}


class UnsuitedError(Exception):
    """Raised when one pass cannot capture a graph; the text says why."""


def size(expression: str) -> int:
    """Stands in a graph for a number that depends on sizes of arguments; its node has the number in `meta["val"]`."""
    raise AssertionError(f"a graph was run without its sizes: {expression}")


@dataclass(frozen=True)
class View:
    """A result that is an argument or a view of it.

    argument: by number. shape: None for the argument itself. offset: from the argument's first element.
    """

    argument: int
    shape: tuple[Any, ...] | None = None
    stride: tuple[Any, ...] = ()
    offset: Any = 0

    def of(self, arguments: Sequence[Any], known: Callable[[Any], int]) -> torch.Tensor:
        """Returns the view. known: returns the value of a symbolic number."""
        argument = arguments[self.argument]
        if self.shape is None:
            return argument
        viewed = argument.detach() if argument.requires_grad else argument
        shape, stride = tuple(map(known, self.shape)), tuple(map(known, self.stride))
        return viewed.as_strided(shape, stride, argument.storage_offset() + known(self.offset))


@dataclass
class Captured:
    """A graph of aten ops.

    parameters: numbers of its arguments that are parameters and buffers.
    views: of each result of the graph of Dynamo, where it is a view of an argument; the graph does not give these.
    """

    graph_module: GraphModule
    parameters: list[int]
    views: list[View | None]


class Recorder(TorchDispatchMode):
    """Records the ops that run on fake tensors while it is active, with results in `meta["val"]`.

    Raises (where it is active):
        UnsuitedError: an op that writes, or a value that the graph does not have.
    """

    def __init__(self) -> None:
        super().__init__()
        self.graph = Graph()
        self.sizes: dict[Any, Node] = {}  # by their expression
        self.constants = torch.nn.Module()
        self.stack_trace: str | None = None  # of what runs now
        self.decompositions = decompositions()
        # By a tensor's id: the tensor, which keeps the id its own, and a node, or the number of the node's result.
        self.nodes: dict[int, tuple[torch.Tensor, Node, int | None]] = {}

    def own(self, value: torch.Tensor, node: Node, number: int | None = None) -> Node:
        """Records that a tensor is the result of a node."""
        if value.dtype.is_complex or value.layout is not torch.strided:
            raise UnsuitedError(f"a tensor of {value.dtype}, {value.layout}, {list(value.shape)}")
        self.nodes[id(value)] = (value, node, number)
        if number is None:
            self.describe(node, value)
        return node

    def argument(self, name: str, value: Any) -> Node:
        """Returns the node of an argument, a tensor or a symbolic number."""
        node = self.graph.placeholder(name)
        if isinstance(value, torch.Tensor):
            return self.own(value, node)
        self.describe(node, value)
        return node

    def describe(self, node: Node, value: Any) -> None:
        node.meta["val"] = value
        if self.stack_trace:
            node.meta["stack_trace"] = self.stack_trace
        if has_preserved_node_meta() and "custom" in (marks := get_current_meta()):
            node.meta["custom"] = dict(marks["custom"])

    def node_of(self, value: Any) -> Any:
        """Returns the node of a tensor or of a symbolic number; other values are unchanged."""
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return self.number(value)
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in self.nodes:
            raise UnsuitedError("a tensor that is neither an argument nor a result")
        tensor, node, number = self.nodes[id(value)]
        return node if number is None else self.own(tensor, self.graph.call_function(operator.getitem, (node, number)))

    def number(self, value: torch.SymInt | torch.SymFloat | torch.SymBool) -> Any:
        """Returns the node of a symbolic number, one for each expression."""
        symbol = value.node
        if not isinstance(symbol, SymNode) or not symbol.has_hint():
            raise UnsuitedError("a number that is not known")
        if not symbol.is_symbolic():
            return symbol.hint
        known = self.sizes.get(symbol._expr)
        if known is None:
            known = self.sizes[symbol._expr] = self.graph.call_function(size, (str(symbol.expr),))
            known.meta["val"] = value
        return known

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload):
            raise UnsuitedError(f"{func}, which is no op")
        if func.namespace == "prim":  # asks what device or layout a tensor has
            return func(*args, **kwargs)
        # Most ops that PyTorch derives from others are listed above; not those of tensors created in inference mode.
        for function in (self.decompositions.get(func), func.decompose):
            if function is not None:
                with self:
                    result = function(*args, **kwargs)
                if result is not NotImplemented:
                    return result
        result = func(*args, **kwargs)
        if func is aten.lift_fresh.default:  # gives numbers of Python as a tensor
            name = f"constant_{len(vars(self.constants))}"
            vars(self.constants)[name] = args[0]
            self.own(result, self.graph.get_attr(name))
            return result
        if func._schema.is_mutable:
            raise UnsuitedError(f"{func}, which writes")
        node = self.graph.create_node(
            "call_function", func, map_aggregate(args, self.node_of), map_aggregate(kwargs, self.node_of),
            name=func._schema.name.rpartition("::")[2],
        )  # fmt: skip
        if isinstance(result, torch.Tensor):
            self.own(result, node)
        elif isinstance(result, tuple | list):
            self.describe(node, result)
            for number, value in enumerate(result):
                if isinstance(value, torch.Tensor):
                    self.own(value, node, number)
        else:
            raise UnsuitedError(f"{func}, whose result is {type(result).__name__}")
        return result


class Replay(Interpreter):
    """Runs a graph of Dynamo. `autocasts`: states of `torch.autocast` that it entered and did not leave yet."""

    def __init__(self, graph_module: GraphModule) -> None:
        super().__init__(graph_module)
        self.autocasts = list[Any]()
        self.extra_traceback = False  # errors are reasons to be read

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n.target is ENTER_AUTOCAST:
            self.autocasts.append(result)
        elif n.target is EXIT_AUTOCAST:
            self.autocasts.pop()
        return result

    def replay(self, arguments: Sequence[torch.Tensor]) -> Any:
        """Returns the graph's results. Autocast is as before, also after an exception."""
        try:
            return self.run(*arguments, enable_io_processing=False)
        finally:
            while self.autocasts:
                EXIT_AUTOCAST(self.autocasts.pop())


class Run(Replay):
    """Runs a graph of Dynamo that is recorded."""

    def __init__(self, graph_module: GraphModule, recorder: Recorder) -> None:
        super().__init__(graph_module)
        self.recorder = recorder

    def run_node(self, n: Node) -> Any:
        self.recorder.stack_trace = n.stack_trace
        return super().run_node(n)


@contextmanager
def functionalization() -> Iterator[None]:
    torch._enable_functionalization(reapply_views=True)
    try:
        yield
    finally:
        torch._disable_functionalization()


def check(graph: Graph, inputs: Sequence[Any]) -> FakeTensorMode:
    """Returns the mode of the graph's fake tensors.

    inputs: the arguments of the first call.

    Raises:
        UnsuitedError: what the graph has that one pass does not capture, as far as that is seen before.
    """
    modes = set()
    for node, given in zip(graph.find_nodes(op="placeholder"), inputs, strict=True):
        value = node.meta.get("example_value")
        if isinstance(value, torch.SymInt):
            continue
        if not isinstance(value, FakeTensor) or is_traceable_wrapper_subclass(value):
            raise UnsuitedError(f"an argument that is {type(given).__name__}")
        if value.dtype is not given.dtype or hints(value) != hints(given):
            raise UnsuitedError("an argument that gets another shape")
        modes.add(value.fake_mode)
    for node in graph.nodes:
        if node.meta.get("unbacked_bindings"):  # a second run would leave the shape environment with unused symbols
            raise UnsuitedError(f"{node.target}, which gives a number or sizes that depend on values")
        if node.op in ("call_module", "get_attr") or isinstance(node.target, HigherOrderOperator):
            raise UnsuitedError(f"{node.target}, which the graph holds or which has a graph of its own")
        called = node.op in ("call_function", "call_method")
        if called and "example_value" not in node.meta and node.target not in VALUELESS:
            raise UnsuitedError(f"{getattr(node.target, '__name__', node.target)}, which gives no value")
    if any(isinstance(value, torch.Tensor) and value.requires_grad for value in results(graph)):
        raise UnsuitedError("gradients")
    if len(modes) > 1:
        raise UnsuitedError("fake tensors of several modes")
    return modes.pop() if modes else FakeTensorMode()


def hints(tensor: torch.Tensor) -> list[Any]:
    """Returns shape and strides, symbols as the numbers that they stand for. Comparing symbols would make a guard of
    it."""
    return [n.node.hint if isinstance(n, torch.SymInt) else n for n in (*tensor.shape, *tensor.stride())]


def results(graph: Graph) -> list[Any]:
    (output,) = graph.find_nodes(op="output")
    return [node.meta.get("example_value") if isinstance(node, Node) else node for node in output.args[0]]


def capture(graph_module: GraphModule, inputs: Sequence[Any]) -> Captured:
    """Returns a graph of Dynamo as one of aten ops.

    inputs: the arguments of the first call.

    Raises:
        UnsuitedError: says what AOTAutograd is needed for.
    """
    mode, recorder = check(graph_module.graph, inputs), Recorder()
    placeholders = graph_module.graph.find_nodes(op="placeholder")
    differentiable = torch.is_grad_enabled() or bool(
        graph_module.graph.find_nodes(op="call_function", target=torch._C._set_grad_enabled)
    )
    arguments = {node.name: node.meta["example_value"] for node in placeholders}
    captured, views = recorded(recorder, mode, arguments, Run(graph_module, recorder).replay, differentiable)
    return Captured(captured, [i for i, n in enumerate(placeholders) if is_static(n)], views)


def capture_function(function: Callable[..., Sequence[Any]], arguments: Sequence[torch.Tensor]) -> GraphModule:
    """Returns the effect of a function on these tensors, without gradients, as a graph of aten ops.

    The marks of `torch.fx.traceback.annotate` are on its nodes.

    Raises:
        UnsuitedError: says what AOTAutograd is needed for.
    """
    for value in arguments:
        if is_traceable_wrapper_subclass(value):
            raise UnsuitedError(f"an argument that is {type(value).__name__}")
    mode = FakeTensorMode()  # loads Dynamo, as elementwise ops of "meta" tensors do, too
    fakes = {f"arg{i}_1": mode.from_tensor(value, static_shapes=True) for i, value in enumerate(arguments)}
    captured, views = recorded(Recorder(), mode, fakes, lambda given: function(*given), torch.is_grad_enabled())
    if any(views):
        raise UnsuitedError("a result that shares memory with another one or an argument")
    return captured


def is_static(placeholder: Node) -> bool:
    return bool(placeholder.meta.get("tensor_dict", {}).get("_dynamo_static_input_type"))


def recorded(
    recorder: Recorder,
    mode: FakeTensorMode,
    arguments: Mapping[str, Any],
    function: Callable[[Sequence[torch.Tensor]], Sequence[Any]],
    differentiable: bool,
) -> tuple[GraphModule, list[View | None]]:
    """Returns the effect of a function of functional tensors; written arguments are written at its end.

    arguments: fake tensors of `mode`, and symbolic numbers, by the names of their nodes.
    differentiable: writes to arguments can be parts of a gradient.

    Returns:
        The graph, and of each result whether it is a view of an argument, which the graph then does not give.
    Raises:
        UnsuitedError: says what AOTAutograd is needed for.
    """
    try:
        with torch.no_grad(), disable_autocast_cache(), enable_python_dispatcher(), mode, recorder:
            views = fill(recorder, arguments, function, differentiable)
    except UnsuitedError:
        raise
    except Exception as error:  # AOTAutograd's way may do; if not, it says what is wrong
        raise UnsuitedError(f"{type(error).__name__}: {error}") from error
    # Unused numbers are still drawn, as in eager mode.
    recorder.graph.eliminate_dead_code(lambda node: node.is_impure() or (node.op == "call_function" and is_draw(node)))
    # Its Python is needed where PyTorch runs a part of it.
    return _LazyGraphModule(recorder.constants, recorder.graph), views


def fill(
    recorder: Recorder,
    arguments: Mapping[str, Any],
    function: Callable[[Sequence[torch.Tensor]], Sequence[Any]],
    differentiable: bool,
) -> list[View | None]:
    """Fills the recorder's graph, where the recorder and the mode of `arguments` are active."""
    fakes = list(arguments.values())
    nodes = [recorder.argument(name, value) for name, value in arguments.items()]
    tensors = [fake for fake in fakes if isinstance(fake, torch.Tensor)]
    with functionalization():
        given = [torch._to_functional_tensor(x) if isinstance(x, torch.Tensor) else x for x in fakes]
        outputs = function(given)
        views = [view_of(value, given) for value in outputs]
        result = [value for value, view in zip(outputs, views, strict=True) if view is None]
        places = [memory(value) for value in result if isinstance(value, torch.Tensor)]
        if len(set(places)) < len(places):
            raise UnsuitedError("a result that shares memory with another one")
        returned = [recorder.node_of(settled(value)) for value in result]
        written = [(i, value) for i, fake in enumerate(fakes) if (value := settled(given[i])) is not fake]
    sharers = Counter(map(memory, tensors))
    for number, value in written:
        if sharers[memory(fakes[number])] > 1:
            raise UnsuitedError("an argument that is written and shares memory with another one")
        if differentiable and any(fake.requires_grad for fake in tensors):
            raise UnsuitedError("gradients of what is written to an argument")
        node = recorder.graph.call_function(aten.copy_.default, (nodes[number], recorder.node_of(value)))
        recorder.describe(node, fakes[number])
    recorder.graph.output(tuple(returned))
    return views


def view_of(value: Any, given: Sequence[Any]) -> View | None:
    """Returns the relation of a result to an argument; None if it has separate memory.

    Raises:
        UnsuitedError: a view of another type, or of memory that several arguments have.
    """
    if not isinstance(value, torch.Tensor):
        return None
    owners = [i for i, x in enumerate(given) if isinstance(x, torch.Tensor) and memory(x) == memory(value)]
    if not owners:
        return None
    same = [i for i in owners if given[i] is value]
    if same:
        return View(same[0])
    (number, *others) = owners
    viewed = given[number]
    if others or viewed.dtype is not value.dtype:
        raise UnsuitedError("a result that shares memory with several arguments, or one of another type")
    offset = value.storage_offset() - viewed.storage_offset()
    return View(number, tuple(value.shape), tuple(value.stride()), offset)


def settled(value: Any) -> Any:
    """Returns the value of a functional tensor after all writes to its memory."""
    if not isinstance(value, torch.Tensor):
        return value
    torch._sync(value)
    return torch._from_functional_tensor(value)

# SPDX-License-Identifier: Apache-2.0
"""Statements and calls of kernels; `compiled` returns the C++ of a kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .. import building, language
from ..buffers import DataflowBuffer
from ..building import KernelFunction
from ..errors import BlockError, DefinitionError, ShapeError
from ..pipes import PipeNet
from . import tree
from .core import Frame, Surroundings, described
from .expressions import is_constant
from .functions import BlockFunction
from .movement import Movement
from .scope import Scope, names_stored, parsed
from .tree import Leaf, Node
from .values import Block, Carried, Function, Group, Number, PipeEnd, Signpost, Text, Transfer, Unknown

_MOST_CALLS = 32  # in each other
_MOST_ROUNDS = 4096  # of a loop over constants, which is expanded
_BUILTINS = (min, max, abs, int, bool, divmod, slice, tuple, len)


class Compiler(Movement):
    """Compiles the statements of a kernel."""

    def run(self) -> None:
        """Compiles the whole kernel."""
        self.body(self.node.body)
        self.line = self.node.end_lineno or self.line
        self._close(self.frames[-1])

    def body(self, statements: list[ast.stmt]) -> None:
        """Compiles statements one after the other."""
        for each in statements:
            self.line = each.lineno
            method: Callable[[Any], None] | None = getattr(self, f"_{type(each).__name__.lower()}_statement", None)
            if method is None:
                self.unsupported(f"{type(each).__name__.lower()} ({ast.unparse(each).splitlines()[0]})")
            method(each)

    # Names.

    def bind(self, name: str, value: Any) -> None:
        """Gives a name a value."""
        before = self.scope.names.get(name)
        if isinstance(before, Carried) and isinstance(value, Node | Carried | Block):
            self._update(name, before, self.operand(value, name))
            return
        if isinstance(value, Number | bool | int) and (isinstance(value, Number) or name in self.scope.variables):
            variable = self.variable(f"{self.scope.prefix}_{name}")
            self.emit(f"{variable} = {self.code(value, name)};")
            value = Number(variable)
        elif isinstance(value, tuple):
            value = tuple(self._own(each) for each in value)
        elif isinstance(value, Block) and not value.name:
            value.name = name
        self.scope.names[name] = value

    def _own(self, value: Any) -> Any:
        """Returns a number in a variable that nothing changes."""
        if not isinstance(value, Number):
            return value
        variable = self.fresh()
        self.emit(f"{variable} = {value.code};")
        return Number(variable)

    def assign(self, target: ast.expr, value: Any) -> None:
        """Assigns a value to a name or to a tuple of names."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
            return
        if not isinstance(target, ast.Tuple | ast.List):
            self.unsupported(f"an assignment to {ast.unparse(target)}", "assignments to names")
        if not isinstance(value, tuple | list) or len(value) != len(target.elts):
            self.fail(DefinitionError, f"{ast.unparse(target)}: {described(value)}; expected {len(target.elts)} values")
        for name, each in zip(target.elts, [self._own(each) for each in value], strict=True):
            self.assign(name, each)

    # Block expressions that names hold.

    def _update(self, name: str, carried: Carried, node: Any) -> None:
        if not isinstance(node, Node) or node.shape != carried.leaf.shape:
            self.fail(
                ShapeError,
                f"{name} is a block expression of shape {carried.leaf.shape}, and gets "
                f"{getattr(node, 'shape', node)!r}; expected one shape",
            )
        port, tiles = carried.leaf.port, carried.tiles
        self.before_change(carried, name)
        self.emit(f"cb_reserve_back({port}, {tiles});")
        self.evaluator.store(node, port)
        self.emit(f"cb_push_back({port}, {tiles}); cb_pop_front({port}, {tiles}); cb_wait_front({port}, {tiles});")

    def carry(self, name: str, node: Node) -> None:
        """Evaluates the block expression of a name into a buffer of its own, which later assignments replace."""
        tiles = 1
        for size in node.shape:
            tiles *= size
        dtype = self.evaluator.dtype_of(node)
        # Two blocks: the value, and the next one while that is made of it.
        port = self.around.intermediates.take(2 * tiles, dtype)
        self.emit(f"cb_reserve_back({port}, {tiles});")
        self.evaluator.store(node, port)
        self.emit(f"cb_push_back({port}, {tiles}); cb_wait_front({port}, {tiles});")
        carried = Carried(Leaf(node.shape, port), tiles)
        carried.leaf.owner = carried
        self.frames[-1].carried.append(carried)
        self.scope.names[name] = carried

    def before_change(self, owner: object, changes: str = "") -> None:
        """Keeps what names still need of a block or of a carried expression that changes."""
        loops = [frame.node for frame in self.frames if frame.kind == "loop"]
        for name, value in list(self.scope.names.items()):
            if name == changes or not isinstance(value, Node) or isinstance(value, Leaf):
                continue
            uses = any(isinstance(each, Leaf) and each.owner is owner for each in tree.walk(value))
            if uses and self.scope.is_read_later(
                name, self.line, [each for each in loops if isinstance(each, ast.stmt)]
            ):
                self.carry(name, value)

    def _carry_assigned(self, statements: list[ast.stmt]) -> None:
        """Gives block expressions that a loop or a branch changes a buffer before it begins."""
        for name in sorted(names_stored(statements)):
            value = self.scope.names.get(name)
            if isinstance(value, Node):
                self.carry(name, value)

    # Frames.

    def _close(self, frame: Frame) -> None:
        """Ends a function, a loop or a branch: gives its blocks back."""
        for block in reversed(frame.blocks):
            if block.open:
                self.release(block)
        for carried in frame.carried:
            self.emit(f"cb_pop_front({carried.leaf.port}, {carried.tiles});")
            self.around.intermediates.give(carried.leaf.port)
            for name, value in self.scope.names.items():
                if value is carried:
                    self.scope.names[name] = Unknown(
                        f"{name}, a block expression of a loop or a branch, behind its end,"
                    )

    def _inside(self, kind: str, node: ast.stmt, statements: list[ast.stmt]) -> None:
        """Compiles the body of a loop or of a branch."""
        frame = Frame(kind, node)
        outer = [block for block in self.handles.values() if block.open]
        self.frames.append(frame)
        self.body(statements)
        self.line = statements[-1].end_lineno or self.line
        self._close(frame)
        self.frames.pop()
        for block in outer:
            if not block.open:
                self.fail(
                    BlockError,
                    f"{block} (line {block.line}) is given back in a {kind}, and was acquired in front "
                    "of it; "
                    f"expected both in the {kind}",
                )

    def _merge(self, before: dict[str, Any], *after: dict[str, Any]) -> None:
        """Keeps the names that have the same value on every way."""
        names = set().union(*after)
        merged = {}
        for name in names:
            values = [each.get(name, Unknown(f"{name}, which has a value on one way only,")) for each in after]
            first = values[0]
            same = all(each is first or (type(each) is type(first) and is_equal(each, first)) for each in values)
            if same:
                merged[name] = first
            elif any(isinstance(each, Number) for each in values) and all(
                isinstance(each, Number | Unknown) for each in values
            ):
                merged[name] = next(each for each in values if isinstance(each, Number))
            else:
                known = [each for each in values if not isinstance(each, Unknown)]
                late = len(known) == 1 and name not in before
                merged[name] = (
                    known[0]
                    if late and is_constant(known[0])
                    else Unknown(f"{name}, which has another value on each way,")
                )
        self.scope.names = merged

    # Statements.

    def _expr_statement(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        value = self.value(node.value)
        if isinstance(value, Transfer) and not value.waited:
            self.wait(value)

    def _pass_statement(self, node: ast.Pass) -> None:
        pass

    def _assign_statement(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        self.line = node.lineno
        for target in node.targets:
            self.assign(target, value)
        if isinstance(value, Transfer):
            target = node.targets[0]
            used = isinstance(target, ast.Name) and any(
                loads and name == target.id and line >= node.lineno for line, _, name, loads in self.scope.uses
            )
            if not used:
                self.wait(value)

    def _annassign_statement(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def _augassign_statement(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name):
            self.unsupported(f"an assignment to {ast.unparse(node.target)}", "assignments to names")
        before = self.value(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))
        if isinstance(before, Block):
            self.fail(
                BlockError,
                f"{ast.unparse(node)}: {before} is a block; only block expressions are changed in "
                "place, "
                "and store writes to a reserved block",
            )
        value = self.value(node.value)
        self.line = node.lineno
        self.bind(node.target.id, self.binary(type(node.op), before, value, ast.unparse(node)))

    def _assert_statement(self, node: ast.Assert) -> None:
        test = self.value(node.test)
        message = ast.unparse(node.test)
        if node.msg is not None:
            given = self.value(node.msg)
            message = str(given) if is_constant(given) else message
        if is_constant(test):
            if not test:
                self.fail(DefinitionError, f"assertion failed: {message}")
            return
        self.emit(f"ASSERT({self.code(test, 'assert')}, {quoted(message)});")

    def _functiondef_statement(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            self.unsupported(f"a decorator of function {node.name}")
        self.scope.names[node.name] = Function(node, self.scope, self.scope.file)

    def _return_statement(self, node: ast.Return) -> None:
        self.unsupported("return in the middle of a function", "a return at the end of a function that a kernel calls")

    def _if_statement(self, node: ast.If) -> None:
        test = self.value(node.test)
        if is_constant(test):
            self.body(node.body if test else node.orelse)
            return
        if isinstance(test, Node):
            self.unsupported("a condition of blocks", "integers there; ttl.block.where selects elements")
        self.line = node.lineno
        text = self.code(test, "a condition")
        self._carry_assigned([*node.body, *node.orelse])
        self.emit(f"if ({text}) {{")
        before = dict(self.scope.names)
        stored = {block: block.stored for block in self.handles.values()}
        self._inside("branch", node, node.body)
        first, first_stored = self.scope.names, {block: block.stored for block in stored}
        self.scope.names = dict(before)
        for block, value in stored.items():
            block.stored = value
        if node.orelse:
            self.emit("} else {")
            self._inside("branch", node, node.orelse)
        self.emit("}")
        for block in stored:
            block.stored = block.stored and first_stored[block]
        self._merge(before, first, self.scope.names)

    def _loop(self, node: ast.stmt, statements: list[ast.stmt], start: str, bind: Callable[[], None]) -> None:
        self._carry_assigned(statements)
        self.line = node.lineno
        self.emit(start)
        before = dict(self.scope.names)
        bind()
        self._inside("loop", node, statements)
        self.emit("}")
        self._merge(before, self.scope.names, {**self.scope.names, **before})

    def _for_statement(self, node: ast.For) -> None:
        if node.orelse:
            self.unsupported("else of a loop")
        iterable = node.iter
        if isinstance(iterable, ast.Call) and self.value(iterable.func) is range and not iterable.keywords:
            bounds = [self.value(each) for each in iterable.args]
            if isinstance(node.target, ast.Name) and 1 <= len(bounds) <= 3:
                self._range_loop(node, node.target, bounds)
                return
        values = self.value(iterable)
        if not isinstance(values, tuple | list | range):
            self.unsupported(f"a loop over {ast.unparse(iterable)}", "loops over range(...) and over tuples")
        if len(values) > _MOST_ROUNDS:
            self.unsupported(f"a loop over {len(values)} constants", f"up to {_MOST_ROUNDS} there")
        for each in values:
            self.line = node.lineno
            self.assign(node.target, each)
            self.body(node.body)

    def _range_loop(self, node: ast.For, target: ast.Name, bounds: list[Any]) -> None:
        start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        counter, end, by = (self.fresh(kind) for kind in ("i", "n", "s"))
        begin = self.code(start, "range")
        if is_constant(step):
            if type(step) is not int or step == 0:
                self.fail(DefinitionError, f"range: the step is {step!r}; expected an integer that is not 0")
            test = f"{counter} {'<' if step > 0 else '>'} {end}"
        else:
            test = f"({by} > 0 ? {counter} < {end} : {counter} > {end})"
        text = (
            f"for ({counter} = {begin}, {end} = {self.code(stop, 'range')}, {by} = "
            f"ttl::step({self.code(step, 'range')}); "
            f"{test}; {counter} += {by}) {{"
        )
        variable = self.variable(f"{self.scope.prefix}_{target.id}")

        def bind() -> None:
            self.emit(f"{variable} = {counter};")
            self.scope.names[target.id] = Number(variable)

        self._loop(node, node.body, text, bind)

    def _while_statement(self, node: ast.While) -> None:
        if node.orelse:
            self.unsupported("else of a loop")

        def test() -> None:
            value = self.value(node.test)
            if value is not True:
                self.emit(f"if (!{self.code(value, 'a condition')}) break;")

        self._loop(node, node.body, "while (true) {", test)

    def _leave(self, word: str) -> None:
        inner = []
        for frame in reversed(self.frames):
            inner.append(frame)
            if frame.kind == "loop":
                break
        else:
            self.unsupported(f"{word} outside of a loop over range or of while")
        if any(frame.blocks or frame.carried for frame in inner):
            self.unsupported(f"{word} where the loop has a block", f"{word} in front of the loop's blocks")
        self.emit(f"{word};")

    def _break_statement(self, node: ast.Break) -> None:
        self._leave("break")

    def _continue_statement(self, node: ast.Continue) -> None:
        self._leave("continue")

    def _with_statement(self, node: ast.With) -> None:
        opened: list[Block] = []
        zones = 0
        for item in node.items:
            value = self.value(item.context_expr)
            if isinstance(value, Block):
                opened.append(value)
            elif isinstance(value, Signpost):
                zones += 1
                self.emit(f"{{ DeviceZoneScopedN({quoted(value.name)});")
            else:
                self.unsupported(
                    f"with {ast.unparse(item.context_expr)}", "with dfb.wait(), dfb.reserve() and ttl.signpost"
                )
            if item.optional_vars is not None:
                if not isinstance(item.optional_vars, ast.Name):
                    self.unsupported(f"with ... as {ast.unparse(item.optional_vars)}", "a name there")
                self.bind(item.optional_vars.id, value)
        self.body(node.body)
        self.line = node.body[-1].end_lineno or self.line
        for block in reversed(opened):
            if block.open:
                self.release(block)
        if zones:
            self.emit("}" * zones)

    # Calls.

    def _call(self, node: ast.Call) -> Any:
        what = ast.unparse(node)
        what = what if len(what) < 60 else f"{ast.unparse(node.func)}(...)"
        if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
            self.unsupported(f"{what} with * or **")
        owner = callee = None
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if not isinstance(owner, _OWNERS):
                callee, owner = self.attribute(owner, node.func.attr), None
        else:
            callee = self.value(node.func)
        args = [self.value(each) for each in node.args]
        kwargs = {str(each.arg): self.value(each.value) for each in node.keywords}
        self.line = node.lineno
        if owner is not None:
            assert isinstance(node.func, ast.Attribute)
            return self._method(owner, node.func.attr, args, kwargs, what)
        if callee is language.copy:
            given = dict(zip(("src", "dst"), args, strict=False)) | kwargs
            if set(given) != {"src", "dst"} or len(args) + len(kwargs) != 2:
                self.fail(DefinitionError, f"{what}: expected ttl.copy(src, dst)")
            return self.copy(given["src"], given["dst"])
        if callee in (building.node, building.grid_size):
            return self.grid_call(callee, args, kwargs)
        if callee is language.GroupTransfer:
            return Group()
        if callee is language.signpost:
            return self._signpost(args, kwargs, what)
        if callee is print:
            return self._print(args, kwargs)
        if isinstance(callee, BlockFunction):
            return self.block_function(callee, args, kwargs)
        if callee is abs and len(args) == 1 and isinstance(args[0], Block | Node | Carried):
            return tree.unary("abs_tile", self.operand(args[0], what))
        if is_constant(callee) and callable(callee) and is_constant(args) and is_constant(list(kwargs.values())):
            if not hasattr(callee, "__code__"):
                return self.call_constant(callee, args, kwargs, what)
        elif callee in _BUILTINS and not kwargs:
            return self.builtin(callee, args, what)
        function = self.as_function(callee)
        if function is None:
            if callable(callee) and not kwargs:
                return self.builtin(callee, args, what)
            self.unsupported(what)
        return self.expand(function, args, kwargs)

    def _signpost(self, args: list[Any], kwargs: dict[str, Any], what: str) -> Signpost:
        given = [*args, *kwargs.values()]
        if len(given) != 1 or set(kwargs) - {"name"} or not isinstance(given[0], str):
            self.fail(DefinitionError, f"{what}: expected ttl.signpost(name), with a string")
        return Signpost(given[0])

    def expand(self, function: Function, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Compiles the body of a function in the place of its call."""
        node = function.node
        if self.scope.prefix.count("_") > _MOST_CALLS:
            self.unsupported(f"calls of {node.name} in each other, more than {_MOST_CALLS}")
        parameters = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or len(args) > len(parameters):
            self.fail(
                DefinitionError, f"{node.name}: takes {len(parameters)} arguments; {len(args) + len(kwargs)} are given"
            )
        given = dict(zip(parameters, args, strict=False)) | kwargs
        for name, default in zip(reversed(parameters), reversed(node.args.defaults), strict=False):
            if name not in given:
                given[name] = self.value(default)
        if set(given) != set(parameters) or len(args) + len(kwargs) > len(parameters):
            self.fail(
                DefinitionError, f"{node.name}: takes {', '.join(parameters) or 'nothing'}; {sorted(given)} are given"
            )
        self.calls += 1
        around = function.scope
        inner = Scope(node, function.file, around, None)
        if isinstance(around, Scope) and around.node is node:  # of Python
            inner = Scope(node, function.file, None, around.function)
        inner.prefix = f"{self.scope.prefix}_{self.calls}"
        inner.variables |= set(parameters) & inner.locals
        outer, line = self.scope, self.line
        values = {name: self._own(value) for name, value in given.items()}
        self.scope = inner
        for name, value in values.items():
            self.bind(name, value)
        statements, result = list(node.body), None
        if statements and isinstance(statements[-1], ast.Return):
            last = statements.pop()
            self.body(statements)
            assert isinstance(last, ast.Return)
            result = None if last.value is None else self.value(last.value)
        else:
            self.body(statements)
        self.scope, self.line = outer, line
        return result

    def _method(self, owner: Any, name: str, args: list[Any], kwargs: dict[str, Any], what: str) -> Any:
        if isinstance(owner, DataflowBuffer) and name in ("wait", "reserve"):
            block = self.acquire(owner, name == "reserve")
            label = kwargs.get("name", args[0] if args else None)
            block.name = label if isinstance(label, str) else ""
            return block
        if isinstance(owner, PipeNet):
            return self._net_method(owner, name, args, kwargs, what)
        if kwargs and name != "store":
            self.fail(DefinitionError, f"{what}: takes no arguments by name")
        if isinstance(owner, Block) and name == "store" and len(args) == 1:
            return self.store(owner, args[0])
        if isinstance(owner, Block) and name in ("push", "pop") and not args:
            if owner.reserved != (name == "push"):
                self.fail(
                    BlockError,
                    f"{what}: {owner} was {'reserved' if owner.reserved else 'waited for'}; expected "
                    + ("push" if owner.reserved else "pop"),
                )
            return self.release(owner)
        if isinstance(owner, Transfer) and name == "wait" and not args:
            return self.wait(owner)
        if isinstance(owner, Group) and name == "add" and len(args) == 1 and isinstance(args[0], Transfer):
            if owner.waited:
                self.fail(BlockError, "GroupTransfer.add: behind wait_all; expected a new group")
            owner.transfers.append(args[0])
            return None
        if isinstance(owner, Group) and name == "wait_all" and not args:
            if owner.waited:
                self.fail(BlockError, "GroupTransfer.wait_all: was called already")
            owner.waited = True
            for barrier in sorted({each.barrier for each in owner.transfers}):
                if barrier:
                    self.emit(barrier)
            for each in owner.transfers:
                each.waited = True
            return None
        self.fail(DefinitionError, f"{what}: {described(owner)} has no {name} with {len(args)} arguments")

    def _net_method(self, net: PipeNet, name: str, args: list[Any], kwargs: dict[str, Any], what: str) -> Any:
        if self.kernel.computes:
            self.fail(
                DefinitionError,
                f"{what}: kernel {self.kernel.__name__} computes; pipe nets are for @ttl.datamovement()",
            )
        with self.located():
            placed = self.around.net(net)
        prefix = self.net_table(placed)
        if name in ("is_src", "is_dst", "is_active") and not args:
            sends, receives = name != "is_dst", name != "is_src"
            return Number(f"{prefix}_any({str(sends).lower()}, {str(receives).lower()})")
        function = self.as_function(args[0] if args else kwargs.get("cond_fun"))
        if name not in ("if_src", "if_dst") or len(args) + len(kwargs) != 1 or function is None:
            self.fail(
                DefinitionError,
                f"{what}: expected if_src(function), if_dst(function), is_src(), is_dst() or is_active()",
            )
        sends = name == "if_src"
        self.calls += 1
        index = f"p{self.calls}"
        own = "sends" if sends else "receives"
        names = self.scope.names
        before = dict(names)
        self.emit(f"for (uint32_t {index} = 0; {index} < {prefix}_pipes; ++{index}) if ({prefix}_{own}({index})) {{")
        frame = Frame("pipe", function.node)
        outer = [block for block in self.handles.values() if block.open]
        self.frames.append(frame)
        self.expand(function, [PipeEnd(placed, sends, index)], {})
        self._close(frame)
        self.frames.pop()
        self.emit("}")
        for block in outer:
            if not block.open:
                self.fail(
                    BlockError,
                    f"{what}: {block} (line {block.line}) is given back in the function; expected this outside",
                )
        self.scope.names = before
        return None

    # Prints.

    def _print(self, args: list[Any], kwargs: dict[str, Any]) -> None:
        if set(kwargs) - {"sep", "end"} or not is_constant(list(kwargs.values())):
            self.unsupported("print with " + ", ".join(sorted(kwargs)), "print with sep and end")
        separator, parts = kwargs.get("sep", " "), []
        for at, each in enumerate(args):
            parts += [separator] if at else []
            parts += each.parts if isinstance(each, Text) else [each]
        parts.append(kwargs.get("end", "\n"))
        text = ""
        for each in parts:
            if isinstance(each, Number):
                text += f" << long({each.code})"
            elif isinstance(each, Block):
                text += self._printed_block(each)
            elif isinstance(each, tuple) and not is_constant(each):
                self.unsupported("print of a tuple with numbers of the kernel's run time", "the numbers one by one")
            elif is_constant(each):
                text += f" << {quoted(str(each))}"
            else:
                self.unsupported(f"print of {described(each)}", "text, numbers, blocks and dataflow buffers")
        self.emit(f"DPRINT{text};")

    def _printed_block(self, block: Block) -> str:
        self.check_open(block, "print")
        if not block.buffer.tiled:
            self.unsupported(f"print of {block}, which has elements in row-major order,", "blocks of tiles")
        all_of_it = "SliceRange{0, 32, 1, 0, 32, 1}"
        return "".join(
            f' << "\\n" << TSLICE({block.buffer.index}, {at}, ({all_of_it}))' for at in range(block.buffer.pages)
        )


_OWNERS = (DataflowBuffer, PipeNet, Block, Transfer, Group)


def is_equal(a: Any, b: Any) -> bool:
    """Compares two values of one type; values of another meaning than numbers and text only with themselves."""
    if isinstance(a, Number | bool | int | str | float):
        return bool(a == b)
    if isinstance(a, tuple) and len(a) == len(b):
        return all(type(x) is type(y) and (x is y or is_equal(x, y)) for x, y in zip(a, b, strict=True))
    return isinstance(a, Unknown)


def quoted(text: str) -> str:
    """Returns text as a C++ string."""
    escaped = "".join(
        {'"': '\\"', "\\": "\\\\", "\n": "\\n"}.get(each)
        or (each if " " <= each <= "~" else "".join(f"\\{b:03o}" for b in each.encode()))
        for each in text
    )
    return f'"{escaped}"'


def compiled(kernel: KernelFunction, around: Surroundings) -> Compiler:
    """Compiles a kernel; its text is there when all kernels of the operation are compiled."""
    compiler = Compiler(kernel, around)
    if parsed(kernel.function)[0].args.args:
        compiler.fail(DefinitionError, f"kernel {kernel.__name__} takes arguments; expected none")
    compiler.run()
    return compiler

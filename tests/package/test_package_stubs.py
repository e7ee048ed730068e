#!/usr/bin/env python3
"""The Python package's type stubs: every public name with its parameters, and no other.

SPDX-License-Identifier: Apache-2.0
"""

import ast
import inspect
import pathlib

from package_checks import PACKAGE, T, check, run


def members(module):
    """What a stub declares: {class: {name: function or None}}, module-level functions and names
    under "".
    """
    tree = ast.parse(pathlib.Path(module).read_text())
    found = {"": {}}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {
                item.name if isinstance(item, ast.FunctionDef) else item.target.id: item
                if isinstance(item, ast.FunctionDef)
                else None
                for item in node.body
            }
        elif isinstance(node, ast.FunctionDef):
            found[""][node.name] = node
    return found


def test_stubs():
    """The type stubs have every public name with its parameters, and no other."""
    folder = PACKAGE / "turnstile"
    core, grammar_stub, vocab_stub = (
        members(folder / name) for name in ("_core.pyi", "grammar.pyi", "vocab.pyi")
    )
    public = {
        name
        for name, value in vars(T).items()
        if not name.startswith("_") and not isinstance(value, type(T))
    }
    check(
        set(T.__all__) == public | {"__version__"},
        f"__all__ has every public name: {public ^ set(T.__all__)}",
    )
    for kind, stubs in (
        (T.Vocab, (core["Vocab"], vocab_stub["Vocab"])),
        (T.Grammar, (core["Grammar"], grammar_stub["Grammar"])),
        (T.Matcher, (core["Matcher"],)),
        (T.Budget, (core["Budget"],)),
        (T.Sampler, (core["Sampler"],)),
        (T.Align, (core["Align"],)),
        (T.Events, (core["Events"],)),
        (T.Parser, (core["Parser"],)),
        (T.Cancel, (core["Cancel"],)),
        (T.Threads, (core["Threads"],)),
        (T.Cache, (core["Cache"],)),
        (T.Compile, (core["Compile"],)),
    ):
        declared = {name: node for stub in stubs for name, node in stub.items()}
        real = {name for name in dir(kind) if not name.startswith("_")}
        check(
            {name for name in declared if not name.startswith("__")} == real,
            f"{kind.__name__}: {real ^ {n for n in declared if not n.startswith('__')}}",
        )
        for name, node in declared.items():
            if node is not None and not name.startswith("__"):
                same_parameters(
                    f"{kind.__name__}.{name}",
                    getattr(kind, name),
                    node,
                    skip_self=not any(
                        isinstance(d, ast.Name) and d.id == "classmethod"
                        for d in node.decorator_list
                    ),
                )
    for name, node in core[""].items():
        same_parameters(name, getattr(T, name), node)


def parameters(node):
    """Of a function: its names, and which come by position alone or by name alone."""
    a = node.args
    return (
        [[arg.arg for arg in group] for group in (a.posonlyargs, a.args, a.kwonlyargs)],
        len(a.defaults),
        [default is not None for default in a.kw_defaults],
    )


def test_stubs_of_modules():
    """Every module has a stub, or types in its text. Modules of hosts cannot be imported here;
    their stubs have the names and parameters of the text.
    """
    folder = PACKAGE / "turnstile"
    modules = sorted(path for path in folder.rglob("*.py") if path.stem != "__init__")
    check(len(modules) > 10, "there are modules")
    for path in modules:
        if not path.with_suffix(".pyi").exists():
            typed(path)
            continue
        if path.stem in ("grammar", "vocab"):
            continue
        text, stub = (ast.parse(file.read_text()) for file in (path, path.with_suffix(".pyi")))
        same_names(path.stem, text, stub)


def typed(path):
    """A module without a stub: its public functions have types for parameters and results."""
    public = [
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")
    ]
    check(public, f"{path.stem} has a stub, or something public with types")
    for node in public:
        given = [arg for arg in ast.walk(node) if isinstance(arg, ast.arg)]
        check(
            isinstance(node, ast.FunctionDef)
            and node.returns
            and all(arg.annotation for arg in given),
            f"{path.stem}.{node.name}: a stub, or a type for each parameter",
        )


def same_names(what, text, stub):
    """Public classes and functions, those in classes too, and constants."""

    def named(tree):
        found = {}
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found[node.name] = node
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                found.update({target.id: None} if isinstance(target, ast.Name) else {})
        return {
            name: node
            for name, node in found.items()
            if not name.startswith("_") or name in ("__init__", "__call__")
        }

    real, declared = named(text), named(stub)
    missing = {name for name in real if name not in declared} | {
        name for name, node in declared.items() if node is not None and name not in real
    }
    check(not missing, f"{what}: in one of text and stub alone: {missing}")
    for name, node in real.items():
        if isinstance(node, ast.ClassDef):
            same_names(f"{what}.{name}", node, declared[name])
        elif node is not None:
            check(
                parameters(node) == parameters(declared[name]),
                f"{what}.{name}: the stub has {parameters(declared[name])}, it takes "
                f"{parameters(node)}",
            )


def same_parameters(what, function, node, skip_self=False):
    limits = {
        "max_memory",
        "max_stacks",
        "max_depth",
        "max_steps",
        "deadline",
        "cancel",
        "cache",
    }  # **limits
    declared = [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
    try:
        real = [
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.kind is not p.VAR_KEYWORD
        ]
    except ValueError:
        check(False, f"{what} has no signature: {function.__doc__}")
        return
    declared = [name for name in declared if name not in ("cls", "self") and name not in limits]
    real = [name for name in real if name not in ("cls", "self") and name not in limits]
    check(declared == real, f"{what}: the stub has {declared}, it takes {real}")


run(test_stubs, test_stubs_of_modules)

"""Compare predicted with measured construction costs, over classes of installed modules that no part was fitted to.

usage: predict_classes.py [--profile FILE] [--package NAME ...] [--no-stdlib] [--verbose]

Without ``--profile`` a calibration is made first.  Each class that can be constructed without arguments is predicted
from its source and measured; printed are the share within a factor of two, the share that the model abstains on, and
how often the verdict against a queue of objects is right where cost and break-even are not within 1.5 of each other.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import io
import math
import signal
import statistics
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from pool_lint import ir
from pool_lint.catalog.load import load_catalog
from pool_lint.cost.bench import FULL, calibrate, facts_of
from pool_lint.cost.predict import Predictor, UnknownCostError
from pool_lint.cost.profile import named_profile
from pool_lint.cost.worker import minimum_ns, sample_of
from pool_lint.pools.types import Types
from pool_lint.source import parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from pool_lint.cost.profile import Profile

MODULES = (
    "argparse", "ast", "asyncio.events", "asyncio.locks", "asyncio.queues", "asyncio.tasks",
    "asyncio.transports", "bdb", "calendar", "cmd", "code", "codecs", "collections", "configparser",
    "contextlib", "copy", "csv", "dataclasses", "decimal", "difflib", "dis", "doctest", "email.charset",
    "email.headerregistry", "email.message", "email.parser", "email.policy", "email.generator", "enum",
    "fileinput", "filecmp", "fnmatch", "fractions", "ftplib", "functools", "gettext", "graphlib", "gzip",
    "html.parser", "http.client", "http.cookiejar", "http.cookies", "http.server", "imaplib", "importlib.abc",
    "importlib.machinery", "importlib.metadata", "inspect", "ipaddress", "json.decoder", "json.encoder",
    "locale", "logging", "logging.config", "logging.handlers", "mailbox", "mimetypes", "modulefinder", "netrc",
    "nntplib", "optparse", "pathlib", "pdb", "pickle", "pickletools", "pkgutil", "platform", "plistlib",
    "poplib", "pprint", "profile", "pstats", "pyclbr", "pydoc", "queue", "random", "reprlib", "rlcompleter",
    "sched", "selectors", "shelve", "shlex", "smtplib", "socketserver", "ssl", "statistics", "string", "struct",
    "symtable", "tabnanny", "tarfile", "tempfile", "textwrap", "threading", "timeit", "tokenize", "trace",
    "traceback", "tracemalloc", "types", "typing", "unittest.case", "unittest.loader", "unittest.mock",
    "unittest.result", "unittest.runner", "unittest.suite", "urllib.parse", "urllib.request",
    "urllib.robotparser", "uuid", "warnings", "wave", "weakref", "webbrowser", "wsgiref.handlers",
    "wsgiref.headers", "wsgiref.simple_server", "xml.dom", "xml.dom.minidom", "xml.dom.pulldom",
    "xml.etree.ElementTree", "xml.sax.handler", "xml.sax.saxutils", "xml.sax.xmlreader", "xmlrpc.client",
    "xmlrpc.server", "zipfile", "zipimport", "concurrent.futures._base", "multiprocessing.managers",
    "multiprocessing.pool", "multiprocessing.process", "lib2to3.pytree", "lib2to3.refactor",
    "lib2to3.pgen2.parse", "distutils.dist", "ctypes.util", "dbm.dumb", "imp", "cgi", "asyncore", "smtpd",
    "sysconfig", "aifc", "chunk", "xdrlib", "binhex", "ensurepip", "venv", "zoneinfo", "tomllib",
)  # fmt: skip
PACKAGES = ("rich", "flake8", "pycodestyle", "pyflakes", "libcst", "pip", "setuptools", "pytest", "hypothesis", "mypy")
SECONDS = 2


def modules_of(packages: list[str], stdlib: tuple[str, ...]) -> Iterator[ModuleType]:
    """Import these modules of the standard library and every module of the packages."""
    names = [name for name in stdlib if name.partition(".")[0] in sys.stdlib_module_names]
    for package in packages:
        with contextlib.suppress(Exception):
            module = importlib.import_module(package)
            names.append(package)
            for root in getattr(module, "__path__", ()):
                for path in sorted(Path(root).rglob("*.py"))[:60]:
                    parts = path.relative_to(root).with_suffix("").parts
                    if not any(part.startswith("_") or "test" in part for part in parts):
                        names.append(".".join((package, *parts)))
    for name in dict.fromkeys(names):
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                yield importlib.import_module(name)
        except BaseException:  # noqa: BLE001, S112 - whatever a module does on import, it is not measured
            continue


def constructible(module: ModuleType) -> Iterator[type]:
    """Yield the module's own classes that can be constructed without arguments, quickly and again and again."""
    for name, found in sorted(vars(module).items()):
        if not isinstance(found, type) or found.__module__ != module.__name__ or issubclass(found, type):
            continue
        if found.__name__ != name or "Thread" in name or "Process" in name or "Server" in name:
            continue
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            for _ in range(3):
                found()
        except BaseException:  # noqa: BLE001, S112 - it needs arguments
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--profile")
    parser.add_argument("--package", action="append", default=[])
    parser.add_argument("--no-stdlib", action="store_true", help="the packages alone")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    profile = named_profile(arguments.profile) if arguments.profile else calibrate(facts_of(sys.executable), FULL, 8)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _stop)
    rows = []
    for module in modules_of(arguments.package or list(PACKAGES), () if arguments.no_stdlib else MODULES):
        try:
            tree = parse(inspect.getsource(module)).tree
        except Exception:  # noqa: BLE001, S112 - no source
            continue
        types = Types(tree, load_catalog())
        for found in constructible(module):
            if found.__name__ in types.classes:  # not one that is written in C
                rows.append(_row(found, types, profile))
    report(rows, profile, verbose=arguments.verbose)


def _stop(*_: object) -> None:
    raise TimeoutError


def _row(found: type, types: Types, profile: Profile) -> tuple[str, float, float | None, str]:
    name = f"{found.__module__}.{found.__qualname__}"
    sample = sample_of("", "C()", {"C": found})
    signal.setitimer(signal.ITIMER_REAL, SECONDS * 5)
    try:
        measured = minimum_ns(sample, 8, 1e6) - minimum_ns(sample_of("", "pass"), 4, 1e6)
    except Exception:  # noqa: BLE001 - it cannot be constructed that often
        return name, math.nan, None, "not measured"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        cost, _ = Predictor(types, profile).valued(ir.Call(1, 0, ir.Name(1, 0, found.__name__), [], []), None)
    except UnknownCostError as error:
        return name, measured, None, str(error)
    return name, measured, cost.mid, ""


def report(rows: list[tuple[str, float, float | None, str]], profile: Profile, *, verbose: bool) -> None:
    rows = [row for row in rows if row[1] == row[1] and row[1] > 0]
    told = [(name, measured, predicted) for name, measured, predicted, _ in rows if predicted is not None]
    errors = [math.log2(predicted / measured) for _, measured, predicted in told]
    even = profile.borrow("queue", "method", 1)
    assert even is not None
    clear = [
        (measured > even.mid) == (predicted > even.mid)
        for _, measured, predicted in told
        if not even.mid / 1.5 <= measured <= even.mid * 1.5
    ]
    if verbose:
        for name, measured, predicted, why in sorted(rows, key=lambda row: row[0]):
            said = (
                f"{predicted:10.0f}  {math.log2(predicted / measured):+.2f}" if predicted is not None else f"   {why}"
            )
            print(f"{name:58} {measured:10.0f} {said}")
    within = sum(abs(error) <= 1 for error in errors)
    print(f"{len(rows)} classes, abstained on {len(rows) - len(told)} ({(len(rows) - len(told)) / len(rows):.0%})")
    middle = statistics.median(map(abs, errors))
    print(f"within 2x: {within} of {len(told)} ({within / len(told):.1%}), median |log2| {middle:.2f}")
    print(f"verdict against a queue right: {sum(clear)} of {len(clear)} ({sum(clear) / len(clear):.1%})")


if __name__ == "__main__":
    main()

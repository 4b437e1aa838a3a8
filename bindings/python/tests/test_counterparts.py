"""Each call of the package that blocks has a coroutine of the same name in ``sharedcore.aio``."""

import asyncio
import inspect
import unittest

import sharedcore
from sharedcore import aio

#: The coroutine has another name, because ``close`` is kept for an end that does not wait.
RENAMED = {"close": "aclose"}

#: The calls that have no coroutine, with the reason.
EXCEPTIONS = {
    "fileno": "the loop polls the descriptor by itself",
    "Executor.ask": "does not block: its future is one of asyncio",
}

#: Classes without a call that blocks: values, errors, and the protocols of a core, which are compared below.
WITHOUT_CALLS = {"BatonEnd", "Guard", "Operation"}


def calls_of(kind: type) -> set[str]:
    """The public methods of a class. A property does not block."""
    return {
        name for name, member in inspect.getmembers(kind)
        if not name.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member))
    }


def is_asynchronous(member: object) -> bool:
    """Whether it is a coroutine function, or the function of an asynchronous context manager."""
    function = inspect.unwrap(member)
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


class CounterpartTests(unittest.TestCase):
    def blocking_classes(self) -> list[type]:
        classes = [member for name in sharedcore.__all__ if inspect.isclass(member := getattr(sharedcore, name))]
        return [
            kind for kind in classes
            if calls_of(kind) and not issubclass(kind, (BaseException, dict)) and kind.__name__ not in WITHOUT_CALLS
        ]

    def test_each_call_has_a_coroutine(self) -> None:
        self.assertGreater(len(self.blocking_classes()), 15)
        missing, used = [], set()
        for kind in self.blocking_classes():
            counterpart = getattr(aio, kind.__name__, None)
            for call in sorted(calls_of(kind)):
                found = getattr(counterpart, RENAMED.get(call, call), None)
                if found is not None and is_asynchronous(found):
                    continue
                names = {call, f"{kind.__name__}.{call}"} & EXCEPTIONS.keys()
                used |= names
                if not names:
                    missing.append(f"{kind.__name__}.{call}")
        self.assertEqual(missing, [])
        self.assertEqual(used, EXCEPTIONS.keys())

    def test_the_same_parameters(self) -> None:
        """A coroutine takes what the call takes, with the same defaults, or all keywords."""
        for kind in self.blocking_classes():
            for call in calls_of(kind):
                counterpart = getattr(aio, kind.__name__, None)
                found = getattr(counterpart, RENAMED.get(call, call), None)
                if found is None or not is_asynchronous(found):
                    continue
                taken = inspect.signature(found).parameters.values()
                if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken):
                    continue
                parameters = inspect.signature(getattr(kind, call)).parameters.values()
                expected = {parameter.name: parameter.default for parameter in parameters}
                with self.subTest(f"{kind.__name__}.{call}"):
                    self.assertEqual({parameter.name: parameter.default for parameter in taken}, expected)

    def test_blocking(self) -> None:
        """Each object has the one whose calls block, but the participants, which are the loop's."""
        for kind in self.blocking_classes():
            if kind not in (sharedcore.Core, sharedcore.MovingCore, sharedcore.RestingCore):
                with self.subTest(kind.__name__):
                    has_it = "blocking" in inspect.signature(getattr(aio, kind.__name__)).parameters
                    self.assertEqual(has_it, kind not in (sharedcore.Main, sharedcore.Executor, sharedcore.Holder))

    def test_streams(self) -> None:
        for kind in self.blocking_classes():
            if hasattr(kind, "__next__"):
                self.assertTrue(hasattr(getattr(aio, kind.__name__), "__anext__"), kind)

    def test_what_is_returned(self) -> None:
        """No coroutine hands out an object whose calls block."""
        blocking = {kind.__name__ for kind in self.blocking_classes()}
        for name in aio.__all__:
            for call, member in inspect.getmembers(getattr(aio, name), inspect.isfunction):
                hints = inspect.get_annotations(member)
                words = set(str(hints.get("return", "")).replace("[", " ").replace("]", " ").replace(",", " ").split())
                for word in words & blocking:
                    self.assertTrue(hasattr(aio, word), f"{name}.{call} returns {word}")
        self.assertTrue(asyncio.iscoroutinefunction(aio.Group.open))


if __name__ == "__main__":
    unittest.main()

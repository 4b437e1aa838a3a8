"""The wheel's tag: any Python 3, and the machine's platform where the library is in the package. The rest is in pyproject.toml."""

import sysconfig
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

has_library = (Path(__file__).parent / "sharedcore" / "libsharedcore.so.0").exists()


class Package(Distribution):
    def has_ext_modules(self) -> bool:
        # So that the files are those of a platform.
        return has_library


class Wheel(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        # The library is loaded with ctypes: it is bound to no version of Python.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        return "py3", "none", platform if has_library else "any"


setup(distclass=Package, cmdclass={"bdist_wheel": Wheel})

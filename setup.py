"""Build the native library: the same C++ sources twice, for any processor and for those with AVX2.

The result is loaded with ctypes and knows nothing of Python, so one wheel serves all versions. Where it cannot be
compiled, plurank is installed without it and uses its plain Python twins, which are slow (``kernels/library.py``).
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/plurank/kernels")
SOURCES = sorted(str(path) for path in (KERNELS / "native").glob("*.cpp"))
HEADERS = sorted(str(path) for path in (KERNELS / "native").glob("*.hpp"))
KINDS = {"baseline": []}
if platform.machine().lower() in ("x86_64", "amd64"):
    KINDS["avx2"] = ["-mavx2"]
FLAGS = [
    "-std=c++20", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-s",
    "-ffp-contract=off",  # the same bits with and without fused multiply-adds
    "-fno-math-errno", "-fno-exceptions", "-fno-rtti",
    "-Wall", "-Wextra", "-Wno-psabi",
]  # fmt: skip


class BuildLibrary(build_ext):
    """Compile with $CXX, $CXXFLAGS or the system's C++ compiler; go on without where there is none or it fails."""

    def finalize_options(self):
        """Compile both kinds at once."""
        super().finalize_options()
        self.parallel = True

    def build_extension(self, ext):
        """Compile and link in one step: a library that knows nothing of Python."""
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CXX") or next(filter(shutil.which, ("c++", "g++", "clang++")), None)
        flags = [*FLAGS, *ext.extra_compile_args, *shlex.split(os.environ.get("CXXFLAGS", ""))]
        try:
            if compiler is None:
                raise OSError("no C++ compiler was found")
            subprocess.run([*shlex.split(compiler), *flags, *ext.sources, "-o", str(target)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            target.unlink(missing_ok=True)
            print(f"plurank is built WITHOUT its library {ext.name}: {error}", file=sys.stderr)
            if os.environ.get("PLURANK_REQUIRE_NATIVE"):  # make test and make release
                raise

    def get_ext_filename(self, fullname):
        """Return a name without a version of Python."""
        return fullname.replace(".", "/") + ".so"

    def get_outputs(self):
        """List what was built."""
        return [path for path in super().get_outputs() if Path(path).exists()]


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 on this platform."""

    def get_tag(self):
        """Return interpreter, ABI and platform."""
        return "py3", "none", super().get_tag()[2]


setup(
    ext_modules=[
        Extension(f"plurank.kernels.native_{kind}", SOURCES, extra_compile_args=flags, depends=HEADERS, optional=True)
        for kind, flags in KINDS.items()
    ],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)

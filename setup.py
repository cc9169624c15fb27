"""Build the native library: the same C++ sources twice, for any processor and for those with AVX2.

The result is loaded with ctypes and knows nothing of Python, so one wheel serves all versions. Where it cannot be
compiled, plurank is installed without it and uses its plain Python twins, which are slow (``kernels/library.py``).
"""

import platform
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
    "-std=c++20", "-O3", "-fPIC", "-shared", "-fvisibility=hidden",
    "-ffp-contract=off",  # the same bits with and without fused multiply-adds
    "-fno-math-errno", "-fno-exceptions", "-fno-rtti",
    "-Wall", "-Wextra", "-Wno-psabi",
]  # fmt: skip


class BuildLibrary(build_ext):
    """Compile with the C++ compiler of the system; go on without where there is none or it fails."""

    def build_extension(self, ext):
        compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        command = [compiler, *FLAGS, *ext.extra_compile_args, *ext.sources, "-o", str(target)]
        try:
            if compiler is None:
                raise OSError("no C++ compiler was found")
            subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            target.unlink(missing_ok=True)
            print(f"plurank is built WITHOUT its native library and will be slow: {error}", file=sys.stderr)

    def get_ext_filename(self, fullname):
        return fullname.replace(".", "/") + ".so"  # without a version of Python in its name

    def get_outputs(self):
        return [path for path in super().get_outputs() if Path(path).exists()]


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 on this platform."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    ext_modules=[
        Extension(f"plurank.kernels.native_{kind}", SOURCES, extra_compile_args=flags, depends=HEADERS)
        for kind, flags in KINDS.items()
    ],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)

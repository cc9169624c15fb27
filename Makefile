# Two commands do everything: `make demo` and `make test`. Both create and reuse .venv.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml setup.py README.md $(shell find src -name '*.py' -o -name '*.pyi' -o -name '*.[ch]pp' -o -name '*.jinja' -o -name '*.css' -o -path '*/web/page/*')
HAS_COMPILER = command -v "$${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null

.PHONY: help demo test test-long compiler sanitize kernels browser check format coverage mutants release docs pictures benchmarks peers clean

help:
	@echo "make demo        install into .venv and show what plurank does, on simulated people"
	@echo "make test        all checks and tests, on the built wheel"
	@echo "make test-long   what takes minutes: faults, random and extreme fits, more simulations, every screen"
	@echo "make format      sort imports and lay out the code"
	@echo "make sanitize    the kernels under address and undefined-behaviour sanitizers (about two minutes)"
	@echo "make coverage    which lines and branches the tests reach (about a quarter of an hour)"
	@echo "make mutants     whether the tests notice when the code is changed (about an hour)"
	@echo "make release     build source archive and wheel, and try both in clean environments"
	@echo "make docs        build the documentation into site/, with warnings as errors"
	@echo "make pictures    draw the pictures of the README and the documentation again"
	@echo "make benchmarks  measure what needs no data again (about three quarters of an hour)"
	@echo "make peers       a small match against other packages, in environments of their own (about ten minutes)"
	@echo "make clean       remove .venv and build products"

demo: .venv/installed
	$(BIN)/plurank demo

test:
	$(MAKE) --no-print-directory -j 3 .venv/tested-wheel browser
	$(MAKE) --no-print-directory -j 2 check kernels
	$(BIN)/python -m pytest -n 2 --dist loadfile -rs --ignore tests/kernels

# Beside the checks, of which mypy uses one core.
kernels: .venv/tested-wheel
	$(BIN)/python -m pytest tests/kernels

# The native library is C++. Where there is no compiler and none can be installed, plurank uses its slow twins in Python.
compiler:
	@$(HAS_COMPILER) || { \
	  echo "Installing g++ for the native library"; \
	  if [ "$$(id -u)" = 0 ]; then root=; else root="sudo -n"; fi; \
	  $$root apt-get update -qq && \
	  $$root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends g++ >/dev/null; \
	} || echo "g++ could not be installed: plurank will run WITHOUT its native library, many times slower"

# Address and undefined-behaviour sanitizers over the tests of the kernels and many random shapes.
sanitize: .venv/tested-wheel
	$(BIN)/python -m tests.kernels.sanitize

# The long versions of loops over faults, seeds and screens, of which make test has a short one each; short runs of the
# quality checks (python -m tests.long.soak and others); and properties on examples that are new in every run.
test-long: .venv/tested-wheel browser
	PLURANK_EXAMPLES=random $(BIN)/python -m pytest -n 2 --dist loadfile -rs tests/long $$(grep -rlE '^@given' tests)

# Tests of the live page drive chromium (or $PLURANK_CHROMIUM). Where it cannot be had they are skipped, aloud.
browser:
	@command -v "$${PLURANK_CHROMIUM:-chromium}" >/dev/null || { \
	  echo "Installing chromium for the tests of the live page"; \
	  if [ "$$(id -u)" = 0 ]; then root=; else root="sudo -n"; fi; \
	  $$root apt-get update -qq && \
	  $$root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null; \
	} || echo "chromium could not be installed: the tests of the live page will be SKIPPED"

check: .venv/tested-wheel
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror src/plurank/kernels/native/*.?pp
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.check_numbers

format: .venv/tested-wheel
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i src/plurank/kernels/native/*.?pp

# What is measured and what is not: [tool.coverage] in pyproject.toml.
coverage: .venv/tested-wheel browser
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -n 2 --dist loadfile
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered --fail-under 95

mutants: .venv/tested-wheel
	$(BIN)/python -m tools.mutants

release: .venv/dev
	rm -rf build dist .venv/wheel
	$(BIN)/python -m pip install --quiet $$($(BIN)/python .ci/requirements.py release)
	PLURANK_REQUIRE_NATIVE=1 $(BIN)/python -m build >/dev/null
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python .ci/check_release.py dist

docs: .venv/tested-wheel
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "To read it: $(BIN)/python -m http.server -d site"

pictures: .venv/tested-wheel
	$(BIN)/python -m docs.make_pictures

benchmarks: .venv/tested-wheel
	$(BIN)/python -m benchmarks.recovery
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.mixed_recovery
	$(BIN)/python -m benchmarks.components
	$(BIN)/python -m benchmarks.coverage
	$(BIN)/python -m benchmarks.selection
	$(BIN)/python -m benchmarks.new_people
	$(BIN)/python -m benchmarks.questions
	$(BIN)/python -m benchmarks.service

peers: .venv/tested-wheel
	$(BIN)/python -m benchmarks.peers.run --small

clean:
	rm -rf .venv .peers build dist site src/*.egg-info .coverage* mutants.csv

.venv/created:
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "plurank needs Python 3.11 or later, but $(PYTHON) is " + sys.version.split()[0] + ". Try make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

.venv/installed: .venv/created $(SOURCES) | compiler
	rm -rf build
	$(BIN)/python -m pip install --quiet '.[report]'  # the demo writes a page
	touch $@

.venv/wheel: .venv/created $(SOURCES) | compiler
	rm -rf build dist
	if $(HAS_COMPILER); then export PLURANK_REQUIRE_NATIVE=1 CXXFLAGS=-Werror; fi; \
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	touch $@

# Beside the wheel, which need not be there for it. pip would compile all modules in one process.
.venv/dev: .venv/created pyproject.toml
	$(BIN)/python .ci/requirements.py dev >.venv/requirements.txt
	$(BIN)/python -m pip install --quiet --upgrade --no-compile -r .venv/requirements.txt
	$(BIN)/python -m compileall -qq -j 2 -x /tests/ .venv/lib || true  # some modules are for other Pythons
	touch $@

.venv/tested-wheel: .venv/dev .venv/wheel
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps dist/plurank-*.whl
	touch $@ .venv/installed

# hippograph: every target does its own set-up in .venv, from a fresh clone, with python3, g++ and make.
#
#   make demo    index the bundled corpus and answer its multi-hop questions
#   make test    build everything and run all tests (C++ and Python, sanitizer builds included)
#   make check   format, lint, types, warnings as errors
#   make bench   the engine against its peers on one size of graph: make bench SIZE=S|M|L
#   make bench-kernels  single kernels, with pytest-benchmark
#   make format  rewrite sources in the project's format
#   make clean   remove everything that the targets above made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# torch is pinned where we install it ourselves: a plain "torch" would take a multi-gigabyte CUDA build.
TORCH := torch==2.13.0

NATIVE_SOURCES := CMakeLists.txt $(shell find csrc -name '*.cpp' -o -name '*.hpp')
CXX_SOURCES := $(shell find csrc tests/cpp -name '*.cpp' -o -name '*.hpp')

.PHONY: demo test test-python test-cpp check bench bench-kernels format clean

demo: $(STAMPS)/offline
	$(BIN)/hippograph demo

test: test-cpp test-python

test-python: $(STAMPS)/test
	$(BIN)/python -m pytest

test-cpp: $(STAMPS)/build-tools
	$(BIN)/cmake --workflow --preset tests
	$(BIN)/cmake --workflow --preset address-sanitizer
	$(BIN)/cmake --workflow --preset thread-sanitizer

check: $(STAMPS)/check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	$(BIN)/mypy
	$(BIN)/cmake --workflow --preset module

format: $(STAMPS)/check
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CXX_SOURCES)

SIZE ?= S
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

bench: $(STAMPS)/test
	@$(ONE_THREAD) $(BIN)/python benchmarks/run.py --size $(SIZE) $(ARGS)

bench-kernels: $(STAMPS)/test
	$(ONE_THREAD) $(BIN)/python -m pytest benchmarks --rootdir benchmarks \
	  -o python_files='bench_*.py' -o pythonpath=benchmarks --benchmark-only \
	  --benchmark-columns=median,iqr,rounds $(ARGS)

clean:
	rm -rf $(VENV) build

# --- set-up ------------------------------------------------------------------------------------

$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hippograph needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'
	@mkdir -p $(STAMPS)
	@touch $@

$(STAMPS)/build-tools: $(STAMPS)/venv
	$(PIP) 'scikit-build-core>=0.11' 'pybind11>=3.0' 'cmake>=3.25' ninja
	@touch $@

# Editable, so that changes to Python files need no reinstall; a change to csrc/ does.
$(STAMPS)/offline: $(STAMPS)/build-tools pyproject.toml $(NATIVE_SOURCES)
	$(PIP) --no-build-isolation --editable '.[offline]'
	@touch $@

$(STAMPS)/test: $(STAMPS)/offline
	$(PIP) $(TORCH)
	$(PIP) --no-build-isolation --editable '.[offline,hnsw,openai,torch,onnx]' --group test --group bench
	@touch $@

$(STAMPS)/check: $(STAMPS)/test
	$(PIP) --group check
	@touch $@

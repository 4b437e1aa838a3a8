# Everything that a new checkout needs: `make demo` shows it, `make test` proves it.
# Both install what is missing of the system first (see Scripts/install-dependencies).

SWIFT ?= swift
JOBS ?= $(shell nproc)
SOURCES = Sources Tests Examples Package.swift

.PHONY: demo test check-all docs examples build release format lint dependencies clean

demo: dependencies
	$(SWIFT) build -j $(JOBS) --product sharedcore
	$(SWIFT) build -j $(JOBS) --product sharedcore-executor
	"$$($(SWIFT) build --show-bin-path)/sharedcore" demo

test: dependencies
	$(SWIFT) build -j $(JOBS) --build-tests
	SWIFT="$(SWIFT)" Scripts/test

# Everything slow: the formatter's rules, the tests three times over, the examples, the optimized build, the demo again
# and again.
check-all: lint docs test release examples
	SWIFT="$(SWIFT)" Scripts/test
	SWIFT="$(SWIFT)" Scripts/test
	Scripts/repeat-demo 20

# The documentation of CoreAPI and CoreAPITesting, in .build/documentation. Every warning is an error.
docs: dependencies
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/documentation

# The packages under Examples, each with its own tests.
examples:
	@Scripts/install-dependencies libsqlite3-dev
	$(SWIFT) test -j $(JOBS) --package-path Examples/SQLiteBackend

build: dependencies
	$(SWIFT) build -j $(JOBS)

release: dependencies
	$(SWIFT) build -j $(JOBS) -c release --product sharedcore
	$(SWIFT) build -j $(JOBS) -c release --product sharedcore-executor

format:
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

dependencies:
	@Scripts/install-dependencies

clean:
	$(SWIFT) package clean

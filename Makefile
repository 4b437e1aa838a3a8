# Everything that a new checkout needs: `make demo` shows it, `make test` tries it, `make check` proves it.
# Both install what is missing of the system first (see Scripts/install-dependencies).

SWIFT ?= swift
JOBS ?= $(shell nproc)
IS_ROOT = $(filter 0,$(shell id -u))
SOURCES = Sources Tests Examples Benchmarks/Benchmarks Benchmarks/Sources Benchmarks/Package.swift Package.swift

.PHONY: demo test check test-programs attack attack-brief attack-whole attack-programs optimized simulate check-all at-length docs deb try-deb try-cold-start as-root examples file-systems sanitize nightly build \
	c-library histories wheel install short-commands check-short-commands function-order demo-picture release bench bench-brief bench-servers bench-python bench-sip without-zmq etcd sip demo-sip web fuzz api-breakage format lint dependencies clean

demo: dependencies
	$(SWIFT) build -j $(JOBS) --product sharedcore
	$(SWIFT) build -j $(JOBS) --product sharedcore-executor
	"$$($(SWIFT) build --show-bin-path)/sharedcore" demo

# Every rule once on each backend, for those who work on it: Docs/Internals/Testing.md has what is left out.
test: dependencies
	$(SWIFT) build -j $(JOBS) --build-tests
	SWIFT="$(SWIFT)" Scripts/test

# What every change must pass: all tests, all mutants, the modules that need no C, coordination in simulated time.
check: test-programs
	SWIFT="$(SWIFT)" Scripts/test --check
	@Scripts/install-dependencies python3
	programs="$$($(SWIFT) build --show-bin-path)" && Scripts/try-histories "$$programs/libsharedcore-c.so" "$$programs/sharedcore"
	SWIFT="$(SWIFT)" Scripts/check-dependencies
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/build-without-c
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" OPTIMIZED="$(OPTIMIZED)" Scripts/simulate

test-programs: dependencies
	$(SWIFT) build -j $(JOBS) --build-tests

# The machines of coordination in simulated time: a hundred thousand schedules of faults, and every mutant.
simulate: dependencies
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" OPTIMIZED="$(OPTIMIZED)" Scripts/simulate

# The memory of the optimized holder, beside its limit. Then the optimized program, attacked from outside: failing system calls,
# kills, full disks, replaced files, namespaces; then the debug build, with what needs its fail points. In the short form a sample
# of it, in at most two minutes; as a whole in hours.
# ATTACK_OPTIONS is what else Scripts/attack is told.
attack attack-brief attack-whole: attack-programs
	Scripts/check-holder "$$($(SWIFT) build $(OPTIMIZED) --show-bin-path)/sharedcore-holder" \
	    "$$($(SWIFT) build --show-bin-path)/sharedcore-test-peer"
	SWIFT="$(SWIFT)" PROGRAM="$$($(SWIFT) build $(OPTIMIZED) --show-bin-path)/sharedcore" \
	    Scripts/attack $(patsubst attack-%,--%,$(filter-out attack,$@)) --without-fail-points $(ATTACK_OPTIONS)
	SWIFT="$(SWIFT)" Scripts/attack $(patsubst attack-%,--%,$(filter-out attack,$@)) --with-fail-points $(ATTACK_OPTIONS)

attack-programs: optimized
	@Scripts/install-dependencies strace e2fsprogs util-linux
	$(SWIFT) build -j $(JOBS) --product sharedcore
	$(SWIFT) build -j $(JOBS) --product sharedcore-attack
	$(SWIFT) build -j $(JOBS) --product sharedcore-test-peer

# The optimized programs that users have, and their instructions read for async functions that write behind their context.
# OPTIMIZED says how they are built, and where.
OPTIMIZED ?= -c release
optimized: dependencies
	$(SWIFT) build -j $(JOBS) $(OPTIMIZED) --product sharedcore
	$(SWIFT) build -j $(JOBS) $(OPTIMIZED) --product sharedcore-executor
	$(SWIFT) build -j $(JOBS) $(OPTIMIZED) --product sharedcore-holder
	@Scripts/install-dependencies binutils python3
	[ "$$(uname -m)" != x86_64 ] || { cd "$$($(SWIFT) build $(OPTIMIZED) --show-bin-path)" && \
	    $(CURDIR)/Scripts/check-contexts sharedcore sharedcore-executor sharedcore-holder; }

# Everything slow: the formatter's rules, the documentation, the tests at length, the whole attack, a brief measurement, the C
# library and the Python wheel, the build without ZeroMQ, the backend on etcd, the SIP core, the fuzz targets, the examples, the suite on two kinds of file system, the
# sanitizers, the Debian packages, for root in a fresh system.
check-all: lint docs at-length attack-whole bench-brief check-short-commands c-library wheel without-zmq etcd sip web fuzz examples file-systems sanitize $(if $(IS_ROOT),try-deb,deb)
	@[ "$(IS_ROOT)" ] || echo "The Debian packages were made, but not tried: as root, make try-deb does that." >&2

# The tests three times over, the suite with the optimized build, the demo again and again.
at-length: check release
	@# For the faults of a server behind a plugin.
	@Scripts/install-dependencies redis-server libhiredis-dev
	SWIFT="$(SWIFT)" Scripts/test --check
	SWIFT="$(SWIFT)" Scripts/test --at-length
	for backend in memory file zmq; do \
	    "$$($(SWIFT) build -c release --show-bin-path)/sharedcore" --backend $$backend conformance || exit 1; \
	done
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" OPTIMIZED="$(OPTIMIZED)" Scripts/simulate --explore --states 1200000
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" OPTIMIZED="$(OPTIMIZED)" Scripts/simulate --explore --mutants --states 250000
	Scripts/repeat-demo 20

# The documentation of all library products, the tutorial and the pages under Docs as one site, in .build/documentation. Every
# warning is an error.
docs: dependencies
	@Scripts/install-dependencies python3 graphviz
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/documentation

# The optimized programs in PREFIX, without need of Swift; manual pages, completions, the units of systemd. DESTDIR stands before it.
PREFIX ?= /usr/local
install: dependencies
	@Scripts/install-dependencies binutils python3
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" DESTDIR="$(DESTDIR)" Scripts/install "$(PREFIX)"

# The time and the memory of the commands that run for a moment, as they are installed, beside redis-cli; or a few samples, which
# fail where a command has too much memory.
short-commands check-short-commands: dependencies
	@Scripts/install-dependencies binutils python3 time redis-server
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" DESTDIR="$(CURDIR)/.build/short-commands" Scripts/install /usr
	Scripts/short-commands $(if $(filter check-%,$@),check,measure) .build/short-commands/usr/libexec/sharedcore/sharedcore

# The order of functions in the programs, anew: after a change of the compiler, or if the commands have too much memory.
function-order: dependencies
	@Scripts/install-dependencies binutils python3 valgrind
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" DESTDIR="$(CURDIR)/.build/short-commands" Scripts/install /usr
	Scripts/short-commands order .build/package/release/sharedcore

# The README's picture, of a run of the demo.
demo-picture: dependencies
	@Scripts/install-dependencies python3
	$(MAKE) --silent --no-print-directory demo >.build/demo.txt
	Scripts/demo-picture <.build/demo.txt >Docs/demo.svg

# The library for C and other languages in .build/libsharedcore, without need of Swift; then its programs in C and the tests of the Python
# package, and what it exports.
c-library: dependencies
	@Scripts/install-dependencies binutils python3
	$(SWIFT) build -j $(JOBS) --product sharedcore
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" OPTIMIZED="$(OPTIMIZED)" PREFIX="$(PREFIX)" Scripts/c-library
	Scripts/try-c-library .build/libsharedcore/libsharedcore.so.0 "$$($(SWIFT) build --show-bin-path)/sharedcore" --released

# Random calls of the library during faults, judged by an independent checker: a million over files, and a million through a hub.
HISTORY_CALLS ?= 1000000
histories: dependencies
	@Scripts/install-dependencies binutils python3
	$(SWIFT) build -j $(JOBS) --product sharedcore
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" OPTIMIZED="$(OPTIMIZED)" Scripts/c-library
	Scripts/try-histories .build/libsharedcore/libsharedcore.so.0 "$$($(SWIFT) build --show-bin-path)/sharedcore" $(HISTORY_CALLS)

# The Python package with the library in it, in .build/wheel: checked by auditwheel, installed in a fresh environment, used once.
wheel: dependencies
	@Scripts/install-dependencies binutils python3 python3-venv
	@Scripts/python-wheel --check
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" OPTIMIZED="$(OPTIMIZED)" Scripts/c-library
	Scripts/python-wheel

# The Debian packages, in .build/package: programs without need of Swift, manual pages, completions, the unit of systemd; the C
# library, its header, the package for Python.
deb: dependencies
	@Scripts/install-dependencies dpkg-dev binutils python3
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/package

# That they can be installed, the demo runs, and programs in C and Python use the library, in a root file system with nothing
# else. Only root can make one, which is said before anything is built.
try-deb: as-root deb
	@Scripts/install-dependencies debootstrap
	Scripts/try-package

# The first steps of a user with only Swift, git and make: two commands in a fresh root file system, and how long they take.
try-cold-start: as-root
	@Scripts/install-dependencies debootstrap python3
	Scripts/try-cold-start

as-root:
	@[ "$(IS_ROOT)" ] || { echo "Only root can make a root file system and mount /proc in it." >&2; exit 1; }

# The packages under Examples, each with its own tests.
examples:
	@Scripts/install-dependencies libsqlite3-dev
	$(SWIFT) test -j $(JOBS) --package-path Examples/FirstPair
	$(SWIFT) test -j $(JOBS) --package-path Examples/SQLiteBackend
	@# The server runs as the user of Debian's package where root runs this.
	@Scripts/install-dependencies postgresql libpq-dev
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/try-postgres
	$(SWIFT) test -j $(JOBS) --package-path Examples/MessengerApp
	$(SWIFT) run -j $(JOBS) --package-path Examples/MessengerApp messenger story
	$(SWIFT) test -j $(JOBS) --package-path Examples/WormholeChat
	$(SWIFT) test -j $(JOBS) --package-path Examples/SharedCounter
	$(SWIFT) build -j $(JOBS) --package-path Examples/SharedNote --product sharedcore
	$(SWIFT) test -j $(JOBS) --package-path Examples/SharedNote
	@# For its test in a network namespace.
	@Scripts/install-dependencies iproute2
	$(SWIFT) test -j $(JOBS) --package-path Examples/RegisteringClient
	@# The plugins in C: the suite and the demo on each.
	@Scripts/install-dependencies redis-server libhiredis-dev
	$(SWIFT) build -j $(JOBS) --product sharedcore
	Scripts/try-plugins "$$($(SWIFT) build --show-bin-path)/sharedcore"
	@# Its mail servers need root.
	@Scripts/install-dependencies python3-venv dovecot-imapd exim4-daemon-light iproute2
	$(if $(IS_ROOT),$(SWIFT) build -j $(JOBS) --product sharedcore && $(SWIFT) build -j $(JOBS) --product sharedcore-c && Examples/DeltaChat/run "$$($(SWIFT) build --show-bin-path)/sharedcore",@echo "As root, make examples runs Examples/DeltaChat as well." >&2)

# The contract on groups in memory files and on the disk, with both durabilities.
file-systems: build
	SWIFT="$(SWIFT)" Scripts/try-file-systems

# The suite and the tests of the file backend and of the hubs, in builds with the sanitizers for addresses and for threads.
SANITIZED = ConformanceTests FileNotifyTests ZMQTests
sanitize: dependencies
	@Scripts/install-dependencies python3
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/sanitize address $(SANITIZED)
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/sanitize thread $(SANITIZED)

# All test targets with the sanitizers for addresses, threads and undefined behaviour; the suite on the optimized program, and its
# flavours. The end is a table: what ran, how long, and what it found.
nightly: dependencies
	@Scripts/install-dependencies python3
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/sanitize --nightly

build: dependencies
	$(SWIFT) build -j $(JOBS)

release: OPTIMIZED = -c release
release: optimized
	$(SWIFT) build -j $(JOBS) -c release --product sharedcore-bench
	$(SWIFT) build -j $(JOBS) -c release --product sharedcore-bench-participant
	$(SWIFT) build -j $(JOBS) -c release --product sharedcore-limits
	$(SWIFT) build -j $(JOBS) -c release --product sharedcore-limits-zmq
	$(SWIFT) build -j $(JOBS) -c release --product sharedcore-bench-services
	cd "$$($(SWIFT) build -c release --show-bin-path)" && \
	    $(CURDIR)/Scripts/check-contexts sharedcore-bench sharedcore-bench-participant

# The report in Docs/Internals/Benchmarks, on an idle machine: about five minutes. Redis, etcd, D-Bus and SQLite are measured beside it
# where they are installed. BENCH_RUNNER="chrt --rr 1" keeps other work of a busy machine out, for those who may.
bench: release
	@Scripts/install-dependencies gnuplot-nox python3 valgrind
	SWIFT="$(SWIFT)" Scripts/bench

# The examples on Redis and PostgreSQL, in Docs/Internals/Benchmarks/Servers.md: three minutes after the build.
bench-servers: dependencies
	@Scripts/install-dependencies python3 redis-server libhiredis-dev postgresql libpq-dev
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/bench-servers

# The package for Python beside redis-py, diskcache, filelock and sqlite3, on an idle machine: a minute after the build.
bench-python: dependencies
	@Scripts/install-dependencies binutils python3 python3-venv redis-server
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" OPTIMIZED="$(OPTIMIZED)" Scripts/c-library
	Scripts/bench-python

# That all of the measurement works, and that no ratio and no count of instructions is far from where it belongs.
bench-brief: release
	@Scripts/install-dependencies python3 valgrind
	SWIFT="$(SWIFT)" Scripts/bench --brief

# The program for a system without libzmq: it has no such backend and does not ask for the library.
without-zmq: dependencies
	$(SWIFT) build -j $(JOBS) --scratch-path .build/without-zmq --traits Programs --product sharedcore
	! ldd .build/without-zmq/debug/sharedcore | grep libzmq
	.build/without-zmq/debug/sharedcore --backend zmq config validate 2>&1 | grep 'this build does not have'

# The backend on etcd: the suite, the demo, the trials and their mutants on members that are started here. The first build of
# gRPC takes long.
etcd: dependencies
	@Scripts/install-dependencies etcd-server iproute2 openssl
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/try-etcd

# The SIP core and Examples/Softphone, with kamailio as the registrar, and sipp, baresip and linphonec as the far ends, on
# loopback.
SIP_PACKAGES = libsofia-sip-ua-dev kamailio kamailio-sqlite-modules kamailio-tls-modules sip-tester baresip-core linphone-cli sqlite3 \
	openssl iproute2 nftables procps
sip:
	@Scripts/install-dependencies $(SIP_PACKAGES)
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/try-sip

# What a telephone on the SIP core does with a real registrar, a line for each claim: two minutes after the build.
demo-sip:
	@Scripts/install-dependencies $(SIP_PACKAGES)
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/try-sip --demo

# The optimized telephone in turns with baresip and linphonec, on an idle machine: about four minutes after the build.
bench-sip:
	@Scripts/install-dependencies $(SIP_PACKAGES) python3
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/bench-sip

# The page of sharedcore web: requests over real sockets to the real program, the page in chromium with axe-core, measurements.
web: dependencies
	@Scripts/install-dependencies python3 python3-venv util-linux strace chromium
	$(SWIFT) build -j $(JOBS) --product sharedcore
	$(SWIFT) build -j $(JOBS) --product sharedcore-web
	$(SWIFT) build -j $(JOBS) --product sharedcore-c
	Scripts/try-web "$$($(SWIFT) build --show-bin-path)"

# The readers of untrusted bytes under libFuzzer and the address sanitizer, each for FUZZ_SECONDS; fails on a finding.
FUZZ_SECONDS ?= 60
fuzz: dependencies
	@Scripts/install-dependencies python3
	SWIFT="$(SWIFT)" JOBS="$(JOBS)" Scripts/fuzz --seconds $(FUZZ_SECONDS)

# Whether an adopter's code still compiles that did with the last release, or with what BASELINE names.
BASELINE ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
api-breakage: dependencies
	@[ -n "$(BASELINE)" ] || { echo "There is no release to compare with: make api-breakage BASELINE=COMMIT" >&2; exit 64; }
	$(SWIFT) package diagnose-api-breaking-changes $(BASELINE)

format:
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

dependencies:
	@Scripts/install-dependencies

clean:
	$(SWIFT) package clean

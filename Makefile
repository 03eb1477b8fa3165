# Runnel's tasks. On a bare Debian machine with Swift, each installs what it needs by apt (with sudo
# when you are not root) and says so.
#
#   make run        build the program and open the workspace on the demo database
#   make build      build the program: .build/release/runnel, which runs without Swift too
#   make test       build everything with warnings as errors and run all tests, or those of the
#                   suites that ONLY=PATTERN names; all output stays in .build/tests.log
#   make test-release
#                   run the end-to-end tests on the program that `make install` copies
#   make check      run everything that a change must pass: lint, then test
#   make long       run a part of the tests that take long, PART=kills, seeds, faults, large, fuzzing,
#                   simulate or soak, for MINUTES=10; the next time it goes on where it stopped
#   make fuzz       feed random and malformed input to the parsers and servers, FUZZ_SECONDS (30) each
#   make bench      measure, and print the figures beside their baselines and aims (some minutes)
#   make format     rewrite the sources in the project's format
#   make lint       check the format
#   make demo-data  regenerate Resources/demo/demo.json from its seed
#   make screens    redraw the expected screens of the tests; review the differences
#   make pictures   redraw the pictures of the README
#   make docs       make the pages of the libraries, with all public symbols, below .build/docs
#   make surface    update the list of public symbols; review the differences
#   make order      list anew which functions the program calls at start and for a key, which the
#                   linker lays side by side (some minutes)
#   make manual     regenerate Resources/man/runnel.1 from the commands and keys
#   make install    copy the program, stripped, its files, manual and completions below PREFIX
#                   (/usr/local)
#   make uninstall  remove what make install copied below PREFIX
#   make deb        make a Debian package of all that, with units of systemd, below .build/deb
#   make clean      remove what was built
#   make help       list the tasks

PREFIX ?= /usr/local
DESTDIR ?=
# Each function has a section of its own, so that the linker leaves out those that are not used, and
# keeps one of several equal ones.
SECTIONS = -Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections -Xcc -fdata-sections
# They are laid out in the order of a list, so that those of a key are side by side; see .make/order.
ORDER = -Xlinker --symbol-ordering-file=$(CURDIR)/.make/order.txt \
  -Xlinker --no-warn-symbol-ordering
RELEASE = --configuration release --static-swift-stdlib $(SECTIONS) $(ORDER)
PROGRAM = .build/release/runnel
INSTALLED = $(DESTDIR)$(PREFIX)
# Where bash, zsh and fish look for the completions of a program.
COMPLETIONS = $(INSTALLED)/share/bash-completion/completions/runnel \
  $(INSTALLED)/share/zsh/site-functions/_runnel \
  $(INSTALLED)/share/fish/vendor_completions.d/runnel.fish
SOURCES = Sources Tests Package.swift
UNITS = runnel.service runnel-backup.service runnel-backup.timer
# When the last message of the demo was written: 2026-08-30 17:45 UTC, in milliseconds since 1970.
DEMO_END = 1788111900000
# The README's pictures show the demo ten minutes later.
PICTURES = .build/pictures
DRAW = $(PROGRAM) screenshot --force --database $(PICTURES)/demo.db --at $$(($(DEMO_END) + 600000)) \
  --views Resources/demo/demo.views.yaml --resources Resources/demo/demo.resources.yaml
PACKED = $(shell getconf GNU_LIBC_VERSION | awk '$$2 >= 2.36 { \
  print "-Xlinker -z -Xlinker pack-relative-relocs" }')
FUZZ_SECONDS ?= 30
MINUTES ?= 10
ONLY ?= .

.DEFAULT_GOAL := help
.PHONY: run build test test-release long check fuzz bench format lint demo-data screens pictures docs surface \
  order manual stripped install uninstall deb clean help swift build-packages test-packages \
  bench-packages order-packages

run: build
	@$(PROGRAM) demo

build: swift build-packages
	@if [ ! -x $(PROGRAM) ]; then \
	  echo "The first build compiles the libraries too and takes a few minutes."; fi
	@swift build $(RELEASE) --product runnel

test: swift build-packages test-packages
	@.make/build-tests
	@.make/tests '$(ONLY)'

# The optimizer can break what works in the build of the tests.
test-release: stripped test-packages
	@.make/build-tests
	@RUNNEL_PROGRAM=$(CURDIR)/$(PROGRAM) FOLDER=.build/tests-release .make/tests '^EndToEndTests.*$(ONLY)'

long: swift build-packages test-packages
	@case "$(PART)" in \
	  ''|fuzzing) ;; \
	  simulate) swift build $(RELEASE) --product runnel-simulate ;; \
	  *) .make/build-tests ;; \
	esac
	@FROM="$(FROM)" .make/long "$(PART)" $$(($(MINUTES) * 60))

check: lint test

fuzz: swift
	@Tests/Fuzzing/fuzz $(FUZZ_SECONDS)

bench: swift build-packages bench-packages
	@swift build $(RELEASE) --product runnel
	@swift build $(RELEASE) --product runnel-bench
	@.build/release/runnel-bench

format: swift
	@swift format --in-place --parallel --recursive $(SOURCES)

lint: swift
	@swift format lint --strict --parallel --recursive $(SOURCES)

demo-data: build
	@$(PROGRAM) generate-demo --seed 1 --until $(DEMO_END) > Resources/demo/demo.json

screens: swift build-packages
	@swift build --build-tests
	@RUNNEL_UPDATE_SCREENS=1 swift test --skip-build --filter GoldenScreenTests
	@git status --short Tests/RunnelAppTests/Screens

pictures: build
	@rm -rf $(PICTURES)
	@mkdir -p $(PICTURES)
	@$(PROGRAM) demo --database $(PICTURES)/demo.db --make-only
	@$(DRAW) --size 90x24 --keys "gg ]] 3 j" Resources/pictures/messages.svg
	@$(DRAW) --size 110x18 --keys "g5 j j l j l j l j" Resources/pictures/tree.svg
	@$(DRAW) --size 120x30 --keys "9 k m a G k k" Resources/pictures/panes.svg
	@$(DRAW) --size 90x20 --keys "k : s o r t" Resources/pictures/palette.svg
	@git status --short Resources/pictures

docs: swift build-packages
	@swift build
	@.make/docs .build/docs

surface: swift build-packages
	@swift build --build-tests
	@RUNNEL_UPDATE_SURFACE=1 .make/tests 'TidyTests.SurfaceTests'
	@git diff --stat Tests/TidyTests/public-symbols.txt

order: build order-packages
	@.make/order $(PROGRAM) .make/order.txt

manual: build
	@$(PROGRAM) generate-manual > Resources/man/runnel.1

# The program without symbols, which makes it smaller. The linker omits them, so no other tool is
# needed. `make build` links the program with symbols again. Where the C library can read them (glibc 2.36),
# packed relocations save more.
stripped: swift build-packages
	@swift build $(RELEASE) -Xlinker -s -Xlinker --no-export-dynamic -Xlinker --icf=all $(PACKED) \
	  --product runnel

install: stripped
	@install -d $(INSTALLED)/bin $(INSTALLED)/share/man/man1 $(dir $(COMPLETIONS)) \
	  $(addprefix $(INSTALLED)/share/runnel/,demo docs pictures systemd) \
	  $(INSTALLED)/lib/systemd/system
	@install -m 755 $(PROGRAM) $(INSTALLED)/bin/runnel
	@for folder in demo docs pictures; do \
	  install -m 644 Resources/$$folder/* $(INSTALLED)/share/runnel/$$folder; done
	@install -m 644 Resources/man/runnel.1 $(INSTALLED)/share/man/man1
	@install -m 644 Resources/systemd/serve.yaml $(INSTALLED)/share/runnel/systemd
	@for unit in $(UNITS); do \
	  sed 's|/usr/bin/|$(PREFIX)/bin/|; s|/usr/share/|$(PREFIX)/share/|' Resources/systemd/$$unit \
	    > $(INSTALLED)/lib/systemd/system/$$unit || exit 1; \
	  chmod 644 $(INSTALLED)/lib/systemd/system/$$unit; done
	@$(PROGRAM) --generate-completion-script bash > $(word 1,$(COMPLETIONS))
	@$(PROGRAM) --generate-completion-script zsh > $(word 2,$(COMPLETIONS))
	@$(PROGRAM) --generate-completion-script fish > $(word 3,$(COMPLETIONS))
	@chmod 644 $(COMPLETIONS)
	@echo "Installed $(INSTALLED)/bin/runnel, and pages in $(INSTALLED)/share/runnel/docs."
	@echo "Try: runnel demo, and man runnel"

uninstall:
	@rm -f $(INSTALLED)/bin/runnel $(INSTALLED)/share/man/man1/runnel.1 $(COMPLETIONS)
	@rm -rf $(INSTALLED)/share/runnel
	@rm -f $(addprefix $(INSTALLED)/lib/systemd/system/,$(UNITS))
	@echo "Removed runnel from $(INSTALLED). Databases and configurations stay."

deb: stripped
	@.make/deb $(PROGRAM) .build/deb

clean:
	@rm -rf .build

help:
	@sed -n 's/^#   //p' $(MAKEFILE_LIST)

# The tools and packages that the tasks need. Only missing ones are installed.

swift:
	@if ! command -v swift >/dev/null 2>&1; then \
	  echo "Swift 6.3 or newer is needed and was not found."; \
	  echo "Get it from https://www.swift.org/install/linux/ and put its usr/bin folder on PATH."; \
	  exit 1; fi

build-packages:
	@.make/apt libncursesw5-dev libsqlite3-dev zlib1g-dev

# Tests start clusters of PostgreSQL of their own; the cluster that the package makes is not used.
test-packages:
	@.make/apt tmux postgresql libpq-dev

# The programs that the benchmarks compare Runnel with. Those of servers are not installed as services:
# that of Redis is among its tools, and nginx is only unpacked.
bench-packages:
	@.make/apt less vim redis-tools postgresql
	@.make/unpack nginx .build/bench

order-packages:
	@.make/apt tmux valgrind binutils

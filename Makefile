# `make test` and `make demo` need Go, make and git, and download only Go modules. `make check` also needs a C
# compiler (for the race detector) and the programs that scripts/needs.sh lists, and downloads the packages that
# the lock files of the SDKs pin. `make` builds the programs, and `make help` lists the targets.

SHELL        := /bin/sh
COMMA        := ,
GO           ?= go
TOOL         := $(GO) tool -modfile=tools/go.mod
BUF          := $(TOOL) buf
BUILD        := $(GO) build
# The version of the source tree.
CURRENT      := $(shell sed -n 's/^const Number = "\(.*\)"$$/\1/p' internal/version/version.go)
SCRATCH      := .build
FUZZTIME     ?= 60s
CHAOSTIME    ?= 60s
CHAOSRUNS    ?= 1
FAULTTIME    ?= 10m
HISTORYTIME  ?= 5m
FLEETTIME    ?= 20m
FLEETRUNS    ?= 1000
FLEETWAITING ?= 10000
# The engine of the fleet's agentds, and the program of Temporal's server; empty is a service in memory of the test.
ENGINE       ?= local
TEMPORAL     ?=
RELOADS      ?= 200
PRIVATERUNS  ?= 20
# The number of packages that are tested at the same time. It exceeds the number of processors, because
# tests wait for processes much of the time.
PACKAGES     ?= 4
# The packages of the programs with the longest tests, longest first. They start first, so that none of them runs
# alone at the end.
LONGEST      := ./internal/e2e ./internal/toolhost/host ./internal/e2e/docs ./internal/toolhost/process ./internal/toolhost/sandbox ./internal/e2e/boundary \
                ./internal/e2e/chaos ./internal/agentd/commands
# A package whose tests count what the race detector changes, and run alone.
COUNTED      := internal/e2e/counts
# Temporal's server, a module that only `make temporal` compiles: its first build takes some minutes.
TEMPORALSERVER := server/internal/e2e/temporalserver
# All other Go modules of the repository: the SDK and the client are at its root, and the programs in server/.
MODULES      := $(shell find . -name go.mod ! -path '*/.*/*' ! -path '*/testdata/*' ! -path './$(TEMPORALSERVER)/*' | sort | xargs -n 1 dirname)

# The shipped plugins: the folders of their module.
PLUGINS      := $(notdir $(patsubst %/,%,$(wildcard plugins/*/)))

# Builds, checks and tests (server/internal/e2e/programs) use the same flags, so that the build cache serves all
# of them. Only the race detector needs cgo.
GIVENFLAGS         := $(shell $(GO) env GOFLAGS)
# By default the race detector makes every process sleep for a second before it exits. The tests need no
# such delay, because they wait for what they start.
RACEENV            := CGO_ENABLED=1 GORACE=atexit_sleep_ms=0
export CGO_ENABLED := 0
# The tag leaves out gRPC's trace pages. They use templates, which keep every method of every type in the
# program.
export GOFLAGS     := $(strip $(GIVENFLAGS) -trimpath -tags=grpcnotrace -gcflags=all=-dwarf=false)
# Programs have no debug tables, which would take a third of their size. Stack traces work without them. The
# flag -dwarf=false keeps the compiler from generating them, which would take a sixth of the time of a first
# build.
LDFLAGS            := -s -w
# The folder for linked programs. Tests use it too, so that each program is linked once.
PROGRAMS           := $(SCRATCH)/programs

# step NAME,COMMAND runs one check, prints its name and duration, and records them for the report of .ci/run.
step   = @scripts/step.sh '$(1)' $(call quoted,$(2))
quoted = '$(subst ','\'',$(1))'

# in-modules COMMAND runs the command in the folder of each module, and fails if one run fails.
in-modules = (for dir in $(MODULES); do (cd $$dir && $(1)) || exit 1; done)

# COUNT prints the progress of a compilation, because the first one takes minutes.
COUNT    := awk 'NR % 100 == 0 { printf "    %d packages\n", NR; fflush() }'
EXPORT   := $(GO) list -export -deps

# tests FILES is a regular expression for the names of the tests in the files.
tests = ^($$(grep -hoE '^func (Test|Fuzz)[A-Za-z0-9_]+' $(1) | sed 's/^func //' | paste -sd'|'))$$

.DEFAULT_GOAL := build
ifndef BESIDE
.NOTPARALLEL:
endif

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/toolhost, bin/agentd and bin/plugins/NAME
	@{ (cd server && $(EXPORT) -v ./cmd/...) && cd plugins && $(EXPORT) -v ./...; } 2>&1 >/dev/null | $(COUNT)
	$(BUILD) -C server -ldflags='$(LDFLAGS)' -o ../$(PROGRAMS)/ ./cmd/...
	$(BUILD) -C plugins -ldflags='$(LDFLAGS)' -o ../$(PROGRAMS)/ ./...
	@mkdir -p bin/plugins
	install -m 755 $(addprefix $(PROGRAMS)/,$(notdir $(wildcard server/cmd/*))) bin/
	install -m 755 $(addprefix $(PROGRAMS)/,$(PLUGINS)) bin/plugins/

# The demo runs a scripted model, so its agentd has no providers with a network API, and it leaves out the
# plugin whose database drivers take long to compile. Its first build takes half the time of `make build`.
DEMO        := .build/demo
DEMOFLAGS   := -tags=grpcnotrace,demo
DEMOPLUGINS := $(addprefix ./,$(filter-out querydb,$(PLUGINS)))

.PHONY: demo
demo: ## build what the demo needs and run an agent on a scripted model; needs no key
	@{ (cd server && $(EXPORT) $(DEMOFLAGS) -v ./cmd/...) && cd plugins && $(EXPORT) $(DEMOFLAGS) -v $(DEMOPLUGINS); } 2>&1 >/dev/null | $(COUNT)
	@mkdir -p $(DEMO)/plugins
	$(BUILD) -C server $(DEMOFLAGS) -ldflags='$(LDFLAGS)' -o ../$(DEMO)/ ./cmd/...
	$(BUILD) -C plugins $(DEMOFLAGS) -ldflags='$(LDFLAGS)' -o ../$(DEMO)/plugins/ $(DEMOPLUGINS)
	@BIN=$(DEMO) scripts/demo.sh

.PHONY: generate
generate: ## regenerate gen/go and api/openapi, and the SDKs' messages if their languages are installed, from proto/
	$(BUF) generate
	@sdk/python/scripts/check.sh generate
	@GO='$(GO)' sdk/typescript/scripts/check.sh generate

# Fails if the present version is released.
.PHONY: unreleased
unreleased:
	@scripts/unreleased.sh $(CURRENT)

.PHONY: baseline
baseline: unreleased ## record the contracts and listings of the present version, which later versions keep
	@mkdir -p proto/releases api/releases/$(CURRENT)
	$(BUF) build --exclude-source-info -o proto/releases/$(CURRENT).binpb
	cp api/*.txt api/releases/$(CURRENT)/
	cp sdk/python/api.txt api/releases/$(CURRENT)/sdk_python.txt
	cp sdk/typescript/api.txt api/releases/$(CURRENT)/sdk_typescript.txt

.PHONY: fixtures
fixtures: unreleased needs ## write what the present version stores and says to server/internal/e2e/releases, for later versions
	CI=true $(GO) -C server test -count=1 -tags=grpcnotrace,more ./internal/e2e/releases -run '^TestWrite' -write

.PHONY: test
test: unit counts ## run all tests that need only Go, make and git
	@printf '\nall tests passed\n'

.PHONY: check
check: needs lint race privileged brief growth others packages ## run everything else: linters, the race detector, SDKs, and tests with more programs
	@printf '\nall checks passed\n'

# The whole forms of tests that `make test` runs briefly.
.PHONY: long
long: export TOOLHOST_LONG_TESTS := yes
long: needs further chaos nodekills histories fleet boundary reloads mutants operators replay fuzz ## run the whole forms of tests that other targets run briefly, for an hour or two

.PHONY: needs
needs:
	@scripts/needs.sh

.PHONY: lint
lint: fmt vet darwin tidy staticcheck proto generated workflows ## check the code and the contracts with linters

.PHONY: fmt
fmt:
	$(call step,gofmt,files=$$(find . -name '*.go' ! -path '*/.*/*' ! -path '*/testdata/*' | xargs gofmt -l) && \
	  if [ -n "$$files" ]; then printf 'not formatted; run gofmt -w on\n%s\n' "$$files"; false; fi)

# The second and third commands vet the tests that `make test` omits.
.PHONY: vet
vet:
	$(call step,go vet,$(call in-modules,$(GO) vet ./...) && \
	  $(GO) -C server vet -tags=grpcnotrace$(COMMA)more$(COMMA)mcp$(COMMA)clients$(COMMA)mutants$(COMMA)pictures $(MOREPACKAGES) ./internal/e2e/mcpofficial ./internal/e2e/clients ./internal/e2e/docs && \
	  $(GO) -C plugins vet -tags=grpcnotrace$(COMMA)more $(MOREPLUGINS))

# Nothing runs the compiled code, so it is not optimized.
.PHONY: darwin
darwin: ## compile everything, including tests, for macOS and run go vet on it
	$(call step,go vet for macOS,for dir in . server plugins; do GOOS=darwin GOARCH=arm64 $(GO) -C $$dir vet -gcflags='all=-dwarf=false -N -l' ./... || exit 1; done)

.PHONY: staticcheck
staticcheck:
	$(call step,staticcheck,$(call in-modules,$(GO) tool "-modfile=$(CURDIR)/tools/go.mod" staticcheck ./...))

.PHONY: proto
proto:
	$(call step,buf format,$(BUF) format -d --exit-code)
	$(call step,buf lint,$(BUF) lint)
	$(call step,buf breaking,for image in proto/releases/*.binpb; do $(BUF) breaking --against $$image || exit 1; done)

.PHONY: generated
generated:
	$(call step,generated code is up to date,rm -rf $(SCRATCH)/generated && $(BUF) generate -o $(SCRATCH)/generated && \
	  { diff -r gen/go $(SCRATCH)/generated/gen/go && diff -r api/openapi $(SCRATCH)/generated/api/openapi || \
	    { echo 'gen/go or api/openapi differs from what proto/ generates; run make generate'; false; }; })

.PHONY: workflows
workflows:
	$(call step,actionlint,$(TOOL) actionlint)

.PHONY: tidy
tidy:
	$(call step,go mod tidy,$(call in-modules,$(GO) mod tidy -diff))

# `make check` vets the tests, so `go test` need not do it. COUNTED runs alone.
.PHONY: unit
unit:
	@(cd server && $(EXPORT) -v ./...) 2>&1 >/dev/null | $(COUNT)
	$(call step,go test,$(call in-modules,"$(CURDIR)/scripts/gotest.sh" unit$$(echo $$dir | tr ./ _-) \
	  "$$(test $$dir != ./server || echo $(LONGEST)) $$($(GO) list ./... | grep -v '/$(COUNTED)$$')" -ldflags='$(LDFLAGS)' -p $(PACKAGES)))

# The packages of server/internal/e2e test programs that are compiled without the race detector. Tests that only
# compute, fill a bound or count allocations have the build constraint !race in their file: the detector slows
# them tenfold, and finds nothing in one goroutine.
.PHONY: race
race: ## run the tests with the race detector, except those of whole programs
	$(call step,go test with the race detector,(cd server && $(RACEENV) ../scripts/gotest.sh race \
	  "$(filter-out ./internal/e2e%,$(LONGEST)) $$($(GO) list ./... | grep -v '/internal/e2e')" -race -ldflags='$(LDFLAGS)' -p $(PACKAGES)) && \
	  $(RACEENV) scripts/gotest.sh race-sdk ./... -race -ldflags='$(LDFLAGS)' -p $(PACKAGES) && \
	  cd plugins && $(RACEENV) ../scripts/gotest.sh race-plugins ./... -race -ldflags='$(LDFLAGS)' -p $(PACKAGES))

# These tests of whole programs depend on what a user may do: root gets control groups and PID namespaces, and others
# get a watchdog and subreapers. `make test` runs them as whoever you are, and CI as an ordinary user. The race detector's
# tests run as root in CI, too, and have the other tests of control groups.
ASROOT := ./internal/e2e/escape ./internal/e2e/chaos

.PHONY: privileged
privileged:
	$(call step,tests that need root,if test "$$(id -u)" != 0; then echo 'not run: you are not root'; else \
	  cd server && ../scripts/gotest.sh privileged "$(ASROOT)" -ldflags='$(LDFLAGS)'; fi)

# flaky runs the tests five times, beside two processes that keep the processors busy. It runs no failed test
# again, and prints how often each failed.
.PHONY: flaky
flaky: ## run the tests five times on a busy machine, and print how often each fails: MODULE=server PACKAGE=./...
	@scripts/flaky.sh $(or $(MODULE),server) $(or $(PACKAGE),./...)

# These tests count allocations of a whole process, so they run alone.
.PHONY: counts
counts:
	$(call step,what a call costs,cd server && ../scripts/gotest.sh counts ./$(COUNTED) -count=1)

# These steps wait for processes most of the time, so make runs them in parallel.
.PHONY: others
others: build
	@$(MAKE) --no-print-directory -j3 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) BESIDE=yes further typescript python mcp kills

# Tests that need more than Go have the build tag more in their file. They install packages, so on a busy
# machine a package of tests takes more than the 10 minutes of go test.
more         = $(shell cd $(1) && grep -rl --include='*_test.go' --exclude-dir='.[!.]*' '^//go:build more$$' $(2))
folders      = $(addprefix ./,$(sort $(patsubst %/,%,$(dir $(1)))))
MOREFILES    := $(call more,server,cmd internal)
MOREPACKAGES := $(call folders,$(MOREFILES))
MOREPLUGINFILES := $(call more,plugins,*)
MOREPLUGINS  := $(call folders,$(MOREPLUGINFILES))

.PHONY: further
further:
	$(call step,go test of the further tests,(cd server && ../scripts/gotest.sh further "$(MOREPACKAGES)" -timeout 30m -tags=grpcnotrace$(COMMA)more \
	  -ldflags='$(LDFLAGS)' -p $(PACKAGES) -run "$(call tests,$(MOREFILES))") && cd plugins && \
	  ../scripts/gotest.sh further-plugins "$(MOREPLUGINS)" -timeout 30m -tags=grpcnotrace$(COMMA)more \
	  -ldflags='$(LDFLAGS)' -p $(PACKAGES) -run "$(call tests,$(MOREPLUGINFILES))")

# The script installs the SDK's packages in the checkout.
.PHONY: typescript
typescript: build ## check and test the TypeScript SDK
	$(call step,TypeScript SDK,GO='$(GO)' BIN="$(CURDIR)/bin" sdk/typescript/scripts/check.sh)

# The script installs the SDK's packages in the checkout.
.PHONY: python
python: build ## check and test the Python SDK
	$(call step,Python SDK,BIN="$(CURDIR)/bin" sdk/python/scripts/check.sh)

# official RUN runs tests with the conformance suite and the clients of the MCP project. The script installs
# the packages of the lock files in the checkout. The tests have the build tag mcp.
official = server/internal/e2e/mcpofficial/install.sh && \
	cd server && ../scripts/gotest.sh mcp ./internal/e2e/mcpofficial -count=1 -tags=grpcnotrace$(COMMA)mcp -run '$(1)'

.PHONY: mcp
mcp: ## run the official conformance suite of MCP against toolhost, and official clients
	$(call step,MCP conformance and clients,$(call official,.))

# The script installs the packages of the lock file in the checkout. The tests have the build tag clients.
.PHONY: clients
clients: ## use toolhost from Claude Code, Codex, Gemini CLI and opencode with scripted models, as root on Linux
	$(call step,MCP clients of others,server/internal/e2e/clients/install.sh && \
	  cd server && ../scripts/gotest.sh clients ./internal/e2e/clients -count=1 -tags=grpcnotrace$(COMMA)clients)

.PHONY: kills
kills: build ## kill the plugin, toolhost and agentd in the middle of calls, and count what became of the calls
	$(call step,kills in the middle of calls,bin/toolhost prove)
	$(call step,faults of toolhosts with one ledger,bin/toolhost prove --nodes 3)

.PHONY: nodekills
nodekills: build ## make faults of toolhosts with one ledger for FAULTTIME (10m), with FAULTSEED or a new one
	bin/toolhost prove --nodes 3 --for $(FAULTTIME) $(if $(FAULTSEED),--seed $(FAULTSEED))

# Its short form is one of the further tests.
.PHONY: histories
histories: ## check with Porcupine what toolhosts answer with one ledger, under faults for HISTORYTIME (5m), with HISTORYSEED or a new one
	$(GO) -C server test -count=1 -timeout 3h -v -tags=grpcnotrace$(COMMA)more ./internal/toolhost/callstore/postgres -run '^TestHistories$$' \
	  -args -histories.for=$(HISTORYTIME) $(if $(HISTORYSEED),-histories.seed=$(HISTORYSEED))

# The tests have the build tag more, so that their short forms are part of `make check`. They need Linux and PostgreSQL.
.PHONY: fleet
fleet: ## make faults of three agentds and toolhosts for FLEETTIME (20m), with FLEETSEED or a new one and ENGINE (local); restart FLEETWAITING (10000) waiting runs
	$(GO) -C server test -count=1 -timeout 3h -v -tags=grpcnotrace$(COMMA)more ./internal/e2e/fleet -args -fleet.for=$(FLEETTIME) -fleet.runs=$(FLEETRUNS) \
	  -fleet.waiting=$(FLEETWAITING) $(if $(FLEETSEED),-fleet.seed=$(FLEETSEED)) -fleet.engine=$(ENGINE) -fleet.temporal=$(TEMPORAL)

.PHONY: temporal
temporal: ## build Temporal's server, and run the fleet, 1,000 waiting runs and the histories of workflows against it; takes half an hour
	$(BUILD) -C $(TEMPORALSERVER) -o $(CURDIR)/$(PROGRAMS)/temporalserver .
	scripts/temporal.sh $(PROGRAMS)/temporalserver $(GO) -C server test -count=1 -v ./internal/agentd/temporal -run TestGoldenHistories -temporal.address
	$(MAKE) fleet ENGINE=temporal TEMPORAL=$(CURDIR)/$(PROGRAMS)/temporalserver FLEETRUNS=200 FLEETWAITING=1000

# fuzz FOLDERS,TIME runs each fuzz test in the folders for the given time.
fuzz = (grep -rno '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' --exclude-dir='.[!.]*' $(1) | \
	while IFS=: read -r file _ func; do \
	  name=$${func\#func }; printf '\n==> %s in %s\n' "$$name" "$$file"; \
	  (cd "$$(dirname "$$file")" && $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(2) . </dev/null) || exit 1; \
	done)

.PHONY: fuzz
fuzz: ## run every fuzz test for FUZZTIME (60s)
	@$(call fuzz,.,$(FUZZTIME))

# `go test` runs all fuzz tests with their stored inputs. Fuzz tests with small programs also search for new
# inputs, 5,000 each. A number has no deadline: on a busy machine, go test sometimes reports the end of a time
# as a failure (https://github.com/golang/go/issues/48591).
.PHONY: brief
brief:
	$(call step,fuzz briefly,$(call fuzz,internal/text/arguments internal/text/partialjson internal/wire/workspacepb internal/wire/workspaceserver server/internal/text/yamldoc server/internal/toolhost/manifest,5000x))

.PHONY: chaos
chaos: ## kill, stop, replace and misuse plugins at random: CHAOSRUNS (1) seeds, CHAOSTIME (60s) each
	$(GO) -C server test -count=$(CHAOSRUNS) -timeout 24h -v ./internal/e2e/chaos -args -chaos.for=$(CHAOSTIME) $(CHAOSFLAGS)

.PHONY: reloads
reloads: ## change the configuration RELOADS (200) times under 64 callers
	$(GO) -C server test -count=1 -timeout 1h -v ./internal/e2e -run '^TestReloadUnderLoad$$' -args -reloads=$(RELOADS)

.PHONY: boundary
boundary: ## kill agentd, toolhost and both at every append to a journal, and PRIVATERUNS (20) runs five times each
	$(GO) -C server test -count=1 -timeout 3h -v -tags=grpcnotrace$(COMMA)more ./internal/e2e/boundary -args -boundary.all -private.runs=$(PRIVATERUNS) $(BOUNDARYFLAGS)

# Each change compiles the packages that import its package again. MUTANTS is a regular expression for the rows
# and packages in server/internal/e2e/docs/testdata/mutants.txt.
.PHONY: mutants
mutants: ## remove a promise or a decision in turn, and check that its test fails: MUTANTS selects some
	$(GO) -C server test -count=1 -timeout 24h -v ./internal/e2e/docs -tags=grpcnotrace$(COMMA)mutants -run '^TestMutants$$/$(MUTANTS)'

# The part of the changes that the tests of a package of server/internal must notice, in per cent. Of the others, those
# of throttle change nothing that a caller sees, only how long memory is kept. gremlins counts a change that
# does not compile as noticed. It makes about a change each two seconds; loop has the most.
OPERATORS := toolhost/host/throttle:85 toolhost/host/lifecycle:70 agentd/loop:70

# gremlins copies the module, so the copy must not find the root module by a relative path.
.PHONY: operators
operators: ## change each operator in the packages that decide in turn, and check that their tests fail
	@mkdir -p $(SCRATCH)/gremlins
	sed 's|=> \.\./$$|=> $(CURDIR)|' server/go.mod >$(SCRATCH)/gremlins/go.mod && cp server/go.sum $(SCRATCH)/gremlins/
	$(GO) build -C tools -o ../$(SCRATCH)/tools/ github.com/go-gremlins/gremlins/cmd/gremlins
	cd server && for each in $(OPERATORS); do \
	  GOFLAGS='$(GOFLAGS) -modfile=$(CURDIR)/$(SCRATCH)/gremlins/go.mod' ../$(SCRATCH)/tools/gremlins unleash --timeout-coefficient 20 \
	  --threshold-efficacy $${each#*:} -S lt ./internal/$${each%:*} || exit 1; done

# It downloads the packages of the benchmarks.
.PHONY: replay
replay: build ## replay public benchmarks through agentd and toolhost, also under kills
	server/internal/e2e/replay/run.sh bin

# The part of the benchmark that grows with the number of plugins, with small numbers.
.PHONY: growth
growth:
	$(call step,growth of the benchmark in its short form,mkdir -p $(SCRATCH)/growth && $(BUILD) -C server -ldflags='$(LDFLAGS)' -o ../$(SCRATCH)/growth/ ./cmd/toolhost && \
	  $(BUILD) -C bench -ldflags='$(LDFLAGS)' -o ../$(SCRATCH)/growth/ ./cmd/bench ./cmd/crowd ./cmd/echo && \
	  $(SCRATCH)/growth/bench -bin $(SCRATCH)/growth -out $(SCRATCH)/growth/results -parts growth -short -rounds 1 -time 50ms)

# The benchmark compiles toolhost and its peers with the flags of `make build`.
.PHONY: bench
bench: ## measure calls against peers, into bench/results: BENCHFLAGS, which -help lists; AGAINST=REVISION compares with another one
	@mkdir -p $(SCRATCH)/bench
	$(if $(AGAINST),rm -rf $(SCRATCH)/against && mkdir -p $(SCRATCH)/against && git archive '$(AGAINST)' | tar -x -C $(SCRATCH)/against)
	$(if $(AGAINST),cd $(SCRATCH)/against/$$(cd $(SCRATCH)/against && ls -d server 2>/dev/null || echo .) && $(BUILD) -ldflags='$(LDFLAGS)' -o $(CURDIR)/$(SCRATCH)/against/.bench/ ./cmd/toolhost)
	$(if $(AGAINST),$(BUILD) -C $(SCRATCH)/against/bench -ldflags='$(LDFLAGS)' -o ../.bench/ ./cmd/echo)
	$(BUILD) -C server -ldflags='$(LDFLAGS)' -o ../$(SCRATCH)/bench/ ./cmd/...
	$(BUILD) -C bench -ldflags='$(LDFLAGS)' -o ../$(SCRATCH)/bench/ ./cmd/...
	$(SCRATCH)/bench/bench -bin $(SCRATCH)/bench -out bench/results $(if $(AGAINST),-against $(SCRATCH)/against/.bench) $(BENCHFLAGS)

# The Go version that built a release is in its programs (go version -m) and SBOMs. Another one may result
# in other bytes. DIRTY=yes also builds a checkout with changes. PUBLISHED=yes makes repositories of
# `toolhost new` refer to the SDKs in the registries.
.PHONY: release
release: ## build the files of a release into dist/: VERSION=0.1.0
	@mkdir -p $(SCRATCH)
	@$(GO) build -C server/tools/release -o ../../../$(SCRATCH)/release .
	@$(SCRATCH)/release -version '$(VERSION)' -out dist $(if $(DIRTY),-dirty) $(if $(PUBLISHED),-published) $(RELEASEFLAGS)

# reproduced VERSION,FLAGS,CACHE builds a release twice, in clones in different folders, and compares the
# digests. The clones contain the checkout as it is, also what is not committed. With CACHE, the second build
# has an empty build cache.
reproduced = { rm -rf $(SCRATCH)/reproduce && for clone in first second/deeper; do \
	  scripts/snapshot.sh $(SCRATCH)/reproduce/$$clone && \
	  GOCACHE=$$(test $$clone = first || test -z '$(3)' || printf %s "$(CURDIR)/$(SCRATCH)/reproduce/cache") \
	  $(MAKE) --no-print-directory -C $(SCRATCH)/reproduce/$$clone release VERSION='$(1)' RELEASEFLAGS='$(2)' >/dev/null || exit 1; \
	done && rm -rf $(SCRATCH)/reproduce/cache && \
	diff $(SCRATCH)/reproduce/first/dist/SHA256SUMS $(SCRATCH)/reproduce/second/deeper/dist/SHA256SUMS; }

.PHONY: reproduce
reproduce: ## check that two builds of the commit have equal digests: VERSION=0.1.0
	$(call step,two equal builds,$(call reproduced,$(VERSION),,yes))

# The version of the sources.
SOURCEVERSION = $(shell sed -n 's/^const Number = "\(.*\)"$$/\1/p' internal/version/version.go)

# The short form of reproduce: one architecture, and a build cache that both builds share. It also builds
# sources whose promises are not recorded (-dirty), because it tests every commit.
.PHONY: packages
packages: build ## install the packages of the SDKs in empty environments, and build an architecture twice
	$(call step,two equal builds,$(call reproduced,$(SOURCEVERSION),-dirty -arch=amd64,))
	$(call step,packages of the SDKs,$(MAKE) --no-print-directory release VERSION=$(SOURCEVERSION) DIRTY=yes RELEASEFLAGS='-arch= -out $(SCRATCH)/dist' >/dev/null && \
	  scripts/packages.sh $(SCRATCH)/dist bin $(SCRATCH)/packages)

# The script runs as root, because it runs as two other users.
.PHONY: walkthrough
walkthrough: ## use the release in dist as two users with empty homes do, as root on Linux
	$(call step,walkthrough,scripts/walkthrough.sh dist)

.PHONY: pictures
pictures: ## make the pictures of docs/console.md, with Chromium
	$(GO) -C server test -count=1 -tags=grpcnotrace$(COMMA)more$(COMMA)pictures ./internal/e2e/console -run '^TestPictures$$' -args -pictures=$(CURDIR)/docs/console

.PHONY: sizes
sizes: build ## measure the sizes of programs and plugins, first builds, and the memory of idle instances, on Linux
	@scripts/sizes.sh

.PHONY: clean
clean: ## remove the files of the other targets
	rm -rf bin dist $(SCRATCH)

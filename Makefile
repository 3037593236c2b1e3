# All targets except `more` need Go, make, git and a C compiler (for the race detector). They download
# only Go modules. `make more` needs the programs that scripts/more.sh lists, and downloads the packages
# that the lock files of the SDKs pin. `make` without a target lists the targets.

SHELL        := /bin/sh
COMMA        := ,
GO           ?= go
TOOL         := $(GO) tool -modfile=tools/go.mod
BUF          := $(TOOL) buf
BUILD        := $(GO) build
BASELINE     := proto/baseline.binpb
SCRATCH      := .build
FUZZTIME     ?= 60s
CHAOSTIME    ?= 60s
CHAOSRUNS    ?= 1
# The number of packages that are tested at the same time. It exceeds the number of processors, because
# tests wait for processes much of the time.
PACKAGES     ?= 4
# The packages with the longest tests, longest first. They start first, so that none of them runs alone
# at the end.
LONGEST      := ./internal/e2e ./internal/host ./internal/e2e/docs ./internal/plugin/process ./internal/plugin/sandbox ./internal/e2e/boundary \
                ./internal/e2e/chaos ./plugins/shell ./internal/cli/agentd
# Packages that are tested without the race detector, because it changes what they count.
UNRACED      := /internal/e2e/counts
# All Go modules of the repository.
MODULES      := $(shell find . -name go.mod ! -path '*/.*/*' ! -path '*/testdata/*' | sort | xargs -n 1 dirname)

# Builds, checks and tests (internal/e2e/programs) use the same flags, so that the build cache serves all
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

# compiled PACKAGES compiles packages without linking them, and prints its progress, because the first
# time takes minutes. The second run compiles nothing. It prints the messages and gives the exit status.
COUNT    := awk 'NR % 100 == 0 { printf "    %d packages\n", NR; fflush() }'
EXPORT   := $(GO) list -export -deps
compiled  = { $(EXPORT) -v $(1) 2>&1 >/dev/null | $(COUNT); $(EXPORT) $(1) >/dev/null; }

.DEFAULT_GOAL := help
ifndef BESIDE
.NOTPARALLEL:
endif

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/toolhost, bin/agentd and bin/plugins/NAME
	@$(EXPORT) -v ./cmd/... ./plugins/... 2>&1 >/dev/null | $(COUNT)
	$(BUILD) -ldflags='$(LDFLAGS)' -o $(PROGRAMS)/ ./cmd/... ./plugins/...
	@mkdir -p bin/plugins
	install -m 755 $(addprefix $(PROGRAMS)/,$(notdir $(wildcard cmd/*))) bin/
	install -m 755 $(addprefix $(PROGRAMS)/,$(notdir $(wildcard plugins/*))) bin/plugins/

.PHONY: demo
demo: build ## build everything and run an agent on a scripted model; needs no key
	@scripts/demo.sh

.PHONY: generate
generate: ## regenerate gen/go, and the SDKs' messages if their languages are installed, from proto/
	$(BUF) generate
	@sdk/python/scripts/check.sh generate
	@GO='$(GO)' sdk/typescript/scripts/check.sh generate

.PHONY: baseline
baseline: ## make the present contracts the baseline of `buf breaking`
	$(BUF) build --exclude-source-info -o $(BASELINE)

.PHONY: test
test: fmt compile vet darwin tidy unit counts brief ## run all tests that need only Go, make, git and a C compiler
	@printf '\nall tests passed\n'

.PHONY: more
more: needs lint others ## run the checks and tests that need more programs: scripts/more.sh lists them
	@printf '\nall further checks and tests passed\n'

.PHONY: needs
needs:
	@scripts/more.sh

.PHONY: lint
lint: vetmore staticcheck proto generated ## check the code and the contracts with linters

.PHONY: fmt
fmt:
	$(call step,gofmt,files=$$(find . -name '*.go' ! -path '*/.*/*' ! -path '*/testdata/*' | xargs gofmt -l) && \
	  if [ -n "$$files" ]; then printf 'not formatted; run gofmt -w on\n%s\n' "$$files"; false; fi)

.PHONY: compile
compile:
	$(call step,compile,$(call in-modules,$(call compiled,./...)))

.PHONY: vet
vet:
	$(call step,go vet,$(call in-modules,$(GO) vet ./...))

# The tests that `make test` omits.
.PHONY: vetmore
vetmore:
	$(call step,go vet of the further tests,$(GO) vet -tags=grpcnotrace,more $(MOREPACKAGES))

# Nothing runs the compiled code, so it is not optimized.
.PHONY: darwin
darwin: ## compile everything, including tests, for macOS and run go vet on it
	$(call step,go vet for macOS,GOOS=darwin GOARCH=arm64 $(GO) vet -gcflags='all=-dwarf=false -N -l' ./...)

.PHONY: staticcheck
staticcheck:
	$(call step,staticcheck,$(call in-modules,$(GO) tool -modfile=$(CURDIR)/tools/go.mod staticcheck ./...))

.PHONY: proto
proto:
	$(call step,buf format,$(BUF) format -d --exit-code)
	$(call step,buf lint,$(BUF) lint)
	$(call step,buf breaking,$(BUF) breaking --against $(BASELINE))

.PHONY: generated
generated:
	$(call step,generated code is up to date,rm -rf $(SCRATCH)/generated && $(BUF) generate -o $(SCRATCH)/generated && \
	  { diff -r gen/go $(SCRATCH)/generated/gen/go || { echo 'gen/go differs from what proto/ generates; run make generate'; false; }; })

.PHONY: tidy
tidy:
	$(call step,go mod tidy,$(call in-modules,$(GO) mod tidy -diff))

# The target vet has checked the tests, so `go test` need not run vet again.
.PHONY: unit
unit:
	$(call step,go test,$(call in-modules,$(RACEENV) $(CURDIR)/scripts/gotest.sh race$$(echo $$dir | tr ./ _-) \
	  "$$(test $$dir != . || echo $(LONGEST)) $$($(GO) list ./... | grep -v '$(UNRACED)$$')" -race -ldflags='$(LDFLAGS)' -p $(PACKAGES)))

# The race detector changes the number of allocations, so these tests run without it. They run alone.
.PHONY: counts
counts:
	$(call step,what a call costs,scripts/gotest.sh counts .$(UNRACED) -count=1)

# These steps wait for processes most of the time, so make runs them in parallel.
.PHONY: others
others: build
	@$(MAKE) --no-print-directory -j3 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) BESIDE=yes further typescript python

# Tests that need more than Go have the build tag more in their file.
MOREFILES    := $(shell grep -rl --include='*_test.go' --exclude-dir='.[!.]*' '^//go:build more$$' cmd internal plugins)
MOREPACKAGES := $(addprefix ./,$(sort $(patsubst %/,%,$(dir $(MOREFILES)))))

.PHONY: further
further:
	$(call step,go test of the further tests,scripts/gotest.sh further "$(MOREPACKAGES)" -tags=grpcnotrace$(COMMA)more \
	  -ldflags='$(LDFLAGS)' -p $(PACKAGES) \
	  -run "^($$(grep -hoE '^func Test[A-Za-z0-9_]+' $(MOREFILES) | sed 's/^func //' | paste -sd'|'))$$")

# The script installs the SDK's packages in the checkout.
.PHONY: typescript
typescript: build ## check and test the TypeScript SDK
	$(call step,TypeScript SDK,GO='$(GO)' BIN=$(CURDIR)/bin sdk/typescript/scripts/check.sh)

# The script installs the SDK's packages in the checkout.
.PHONY: python
python: build ## check and test the Python SDK
	$(call step,Python SDK,BIN=$(CURDIR)/bin sdk/python/scripts/check.sh)

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
# inputs, for two seconds each.
.PHONY: brief
brief:
	$(call step,fuzz briefly,$(call fuzz,internal/arguments internal/partialjson internal/yamldoc internal/plugin/manifest,2s))

.PHONY: chaos
chaos: ## kill, stop, replace and misuse plugins at random: CHAOSRUNS (1) seeds, CHAOSTIME (60s) each
	$(GO) test -count=$(CHAOSRUNS) -timeout 24h -v ./internal/e2e/chaos -args -chaos.for=$(CHAOSTIME) $(CHAOSFLAGS)

.PHONY: boundary
boundary: ## kill agentd, toolhost and both at every append to a run's journal
	$(GO) test -count=1 -timeout 2h ./internal/e2e/boundary -args -boundary.all $(BOUNDARYFLAGS)

# The benchmark compiles toolhost and its peers with the flags of `make build`.
.PHONY: bench
bench: ## measure calls against peers, into bench/results: BENCHFLAGS, which -help lists
	@mkdir -p $(SCRATCH)/bench
	$(BUILD) -ldflags='$(LDFLAGS)' -o $(SCRATCH)/bench/ ./cmd/...
	$(BUILD) -C bench -ldflags='$(LDFLAGS)' -o $(CURDIR)/$(SCRATCH)/bench/ ./cmd/...
	$(SCRATCH)/bench/bench -bin $(SCRATCH)/bench -out bench/results $(BENCHFLAGS)

.PHONY: clean
clean: ## remove the files of the other targets
	rm -rf bin $(SCRATCH)

# All targets but `more` need Go, make, git and, for the race detector, a C compiler. They download Go modules alone.
# `make more` needs what scripts/more.sh lists, and downloads what the lock files of the SDKs pin.
# `make` alone lists the targets.

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
# How many packages are tested at the same time. More than there are processors: much of the time tests wait for processes.
PACKAGES     ?= 4
# The packages whose tests take longest, in that order. They begin first, so that nothing has to wait for one of them alone.
LONGEST      := ./internal/e2e ./internal/host ./internal/e2e/docs ./internal/plugin/process ./internal/plugin/sandbox ./internal/e2e/boundary \
                ./internal/e2e/chaos ./plugins/shell ./cmd/agentd
# The packages whose tests the race detector would keep from what they count.
UNRACED      := /internal/e2e/counts
# Every Go module of the repository: the product, its build tools and whatever stands beside them.
MODULES      := $(shell find . -name go.mod ! -path '*/.*/*' ! -path '*/testdata/*' | sort | xargs -n 1 dirname)

# What is built and what is checked is compiled alike, also by the tests (internal/e2e/programs), so that each is compiled
# once. Only the race detector needs C, and tests with it have the flags that `go test` would have without this file.
GIVENFLAGS         := $(shell $(GO) env GOFLAGS)
# The detector lets every process sleep for a second before it exits, for what may still be written by then; tests wait for
# what they start.
RACEENV            := CGO_ENABLED=1 GOFLAGS='$(GIVENFLAGS)' GORACE=atexit_sleep_ms=0
export CGO_ENABLED := 0
# What gRPC traces is for pages that nobody serves, and templates in them keep every method of every type in a program.
export GOFLAGS     := $(strip $(GIVENFLAGS) -trimpath -tags=grpcnotrace)
# Programs carry no tables for debuggers, which would be a third of them. Stack traces need none.
LDFLAGS            := -s -w
# Where programs are linked: by the tests, too, so that each is linked once.
PROGRAMS           := $(SCRATCH)/programs

# step NAME,COMMAND runs one part of the checks and says what it is and how long it took.
define step
@printf '\n==> %s\n' '$(1)'; begin=$$(date +%s); \
if { $(2); }; then printf '    %s: ok, %ds\n' '$(1)' $$(($$(date +%s) - begin)); \
else printf '    %s: FAILED after %ds\n' '$(1)' $$(($$(date +%s) - begin)) >&2; exit 1; fi
endef

# in-modules COMMAND runs it in the folder of each module and fails if one of the runs does.
in-modules = (for dir in $(MODULES); do (cd $$dir && $(1)) || exit 1; done)

# compiled PACKAGES compiles them, links nothing and counts aloud: the first time takes minutes, most of them for buf.
# The second run finds all done; it is there for its messages and its status.
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
generate: ## regenerate gen/go, and the SDKs' messages where there are their languages, from proto/
	$(BUF) generate
	@sdk/python/scripts/check.sh generate
	@GO='$(GO)' sdk/typescript/scripts/check.sh generate

.PHONY: baseline
baseline: ## accept the contracts as they are as the baseline of `buf breaking`
	$(BUF) build --exclude-source-info -o $(BASELINE)

.PHONY: test
test: fmt compile vet tidy unit counts brief ## run all tests that need only Go, make, git and a C compiler
	@printf '\nall tests passed\n'

.PHONY: more
more: needs lint others ## run the checks and tests that need more tools or longer: scripts/more.sh lists what they need
	@printf '\nall further checks and tests passed\n'

.PHONY: needs
needs:
	@scripts/more.sh

.PHONY: lint
lint: vetmore darwin staticcheck proto generated ## check the form of the code and of the contracts

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

# The tests that `make test` leaves out.
.PHONY: vetmore
vetmore:
	$(call step,go vet of the further tests,$(GO) vet -tags=grpcnotrace,more $(MOREPACKAGES))

.PHONY: darwin
darwin: ## compile everything for macOS, the tests too, and let go vet look at it
	$(call step,go vet for macOS,GOOS=darwin GOARCH=arm64 $(GO) vet ./...)

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

# `go vet` has looked at the tests, too.
.PHONY: unit
unit:
	$(call step,go test,$(GO) build -C tools -o $(CURDIR)/$(SCRATCH)/gotest ./cmd/gotest && \
	  $(call in-modules,$(RACEENV) $(CURDIR)/$(SCRATCH)/gotest -vet=off -race -shuffle=on -p $(PACKAGES) \
	  $$(test $$dir != . || echo $(LONGEST)) $$($(GO) list ./... | grep -v '$(UNRACED)$$')))

# The race detector changes what is allocated, so that these tests run without it, and without others beside them.
.PHONY: counts
counts:
	$(call step,what a call costs,$(GO) test -vet=off -count=1 .$(UNRACED))

# These steps wait for processes most of the time, so that make runs them beside each other.
.PHONY: others
others: build
	@$(MAKE) --no-print-directory -j3 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) BESIDE=yes further typescript python

# Tests that need more than Go have the build tag more in their file.
MOREFILES    := $(shell grep -rl --include='*_test.go' --exclude-dir='.[!.]*' '^//go:build more$$' cmd internal plugins)
MOREPACKAGES := $(addprefix ./,$(sort $(patsubst %/,%,$(dir $(MOREFILES)))))

.PHONY: further
further:
	$(call step,go test of the further tests,$(GO) build -C tools -o $(CURDIR)/$(SCRATCH)/gotest ./cmd/gotest && \
	  $(SCRATCH)/gotest -vet=off -tags=grpcnotrace$(COMMA)more -shuffle=on -p $(PACKAGES) \
	  -run "^($$(grep -hoE '^func Test[A-Za-z0-9_]+' $(MOREFILES) | sed 's/^func //' | paste -sd'|'))$$" $(MOREPACKAGES))

# The SDK sets itself up in the checkout.
.PHONY: typescript
typescript: build ## check and test the TypeScript SDK
	$(call step,TypeScript SDK,GO='$(GO)' BIN=$(CURDIR)/bin sdk/typescript/scripts/check.sh)

# So does this one.
.PHONY: python
python: build ## check and test the Python SDK
	$(call step,Python SDK,BIN=$(CURDIR)/bin sdk/python/scripts/check.sh)

# fuzz FOLDERS,TIME lets each fuzz test in the folders look for new inputs for that time.
fuzz = (grep -rno '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' --exclude-dir='.[!.]*' $(1) | \
	while IFS=: read -r file _ func; do \
	  name=$${func\#func }; printf '\n==> %s in %s\n' "$$name" "$$file"; \
	  (cd "$$(dirname "$$file")" && $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(2) . </dev/null) || exit 1; \
	done)

.PHONY: fuzz
fuzz: ## let every fuzz test look for new inputs, each for FUZZTIME (60s)
	@$(call fuzz,.,$(FUZZTIME))

# All fuzz tests run with their kept inputs as part of the tests. Those whose programs are small also look for new ones,
# for two seconds each.
.PHONY: brief
brief:
	$(call step,fuzz briefly,$(call fuzz,internal/arguments internal/partialjson internal/yamldoc internal/plugin/manifest,2s))

.PHONY: chaos
chaos: ## let plugins be killed, stopped, replaced and misused at random: CHAOSRUNS (1) seeds, each for CHAOSTIME (60s)
	$(GO) test -count=$(CHAOSRUNS) -timeout 24h -v ./internal/e2e/chaos -args -chaos.for=$(CHAOSTIME) $(CHAOSFLAGS)

.PHONY: boundary
boundary: ## kill agentd, toolhost and both at every append to a run's journal
	$(GO) test -count=1 -timeout 2h ./internal/e2e/boundary -args -boundary.all $(BOUNDARYFLAGS)

# What is measured is compiled as it ships, the peers like toolhost.
.PHONY: bench
bench: ## measure what a call costs beside its peers, into bench/results: BENCHFLAGS, which -help lists
	@mkdir -p $(SCRATCH)/bench
	$(BUILD) -ldflags='$(LDFLAGS)' -o $(SCRATCH)/bench/ ./cmd/...
	$(BUILD) -C bench -ldflags='$(LDFLAGS)' -o $(CURDIR)/$(SCRATCH)/bench/ ./cmd/...
	$(SCRATCH)/bench/bench -bin $(SCRATCH)/bench -out bench/results $(BENCHFLAGS)

.PHONY: clean
clean: ## remove what the other targets made
	rm -rf bin $(SCRATCH)

package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

const (
	defaultTimeout = 10 * time.Second
	// contractGrace bounds the exit of a plugin, by the contract.
	contractGrace = 5 * time.Second
	// lanes is the number of concurrent trials: enough to wait for several at once, and few enough
	// to leave each some processor time.
	lanes = 3
)

// Config selects what to examine, and how.
type Config struct {
	// Process describes how to start the plugin, as for process.Launch. Its Instance, Logger,
	// Report and timeouts are ignored.
	Process process.Config
	// ManifestName is the name that the plugin must have. Empty: any.
	ManifestName string
	// Isolation is the isolation that the operator chose for the plugin. It is copied to the
	// report.
	Isolation string
	// Workspace is the workspace of calls, an absolute path. It should be empty and of no value,
	// because tools that change files are called, too. Empty: none.
	Workspace string
	// Tool is the only tool to call, whatever it declares. If it is empty, the examination calls
	// these tools: tools that are read_only or idempotent, with their examples or with arguments
	// made from their schemas; and each example of other tools once, unless the tool is dangerous.
	// It never calls tools that need secrets.
	Tool string
	// Arguments are the arguments for Tool, a JSON object. Empty: its examples, or arguments made
	// from its schema.
	Arguments json.RawMessage
	// Timeout bounds each answer: Describe and each call. 0: 10 s.
	Timeout time.Duration
	// StartTimeout bounds each start until the plugin is healthy. Languages that compile their
	// libraries first take seconds, and more on a busy machine. 0: as Timeout.
	StartTimeout time.Duration
	// ExitTimeout bounds the exit of the plugin. 0: 5 s, by the contract.
	ExitTimeout time.Duration
}

// Verify examines a plugin. Its duration depends on the plugin, and is bounded by the timeouts.
// When it returns, no process of the plugin is left. The report contains whatever the plugin does.
// Verify returns an error if it cannot make a report: because ctx ended, because a required sandbox
// or limit is not available, or because Config.Tool does not exist, a *tool.Error of
// tool.KindNotFound.
func Verify(ctx context.Context, cfg Config) (*Report, error) {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.StartTimeout <= 0 {
		cfg.StartTimeout = cfg.Timeout
	}
	if cfg.ExitTimeout <= 0 {
		cfg.ExitTimeout = contractGrace
	}
	x := &examiner{cfg: cfg, findings: newFindings(), output: &output{}}
	otherwise, err := x.examine(ctx)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case x.broken != nil:
		err = x.broken
	}
	if err != nil {
		return nil, err
	}
	return x.report(cmp.Or(otherwise, "it did not come so far")), nil
}

// examiner is one examination.
type examiner struct {
	cfg       Config
	findings  *findings
	output    *output
	instances atomic.Uint64
	calls     atomic.Uint64

	described tool.Description // the plugin's description; set before any call
	called    []string         // used by the goroutine that makes calls, like the next field
	unreached string           // why checks were not reached; empty: for no special reason

	noted   sync.Mutex
	sandbox *tool.Sandbox
	stderr  []string
	broken  error // why nothing can be started, if that is not the plugin's fault
}

// errNoDescription means that the checks after Describe were not reached.
var errNoDescription = errors.New("it did not describe itself")

// examine runs all checks. It returns the reason for checks without a result.
func (x *examiner) examine(ctx context.Context) (otherwise string, err error) {
	first, found := x.launch(ctx)
	byHand := func() { x.startByHand(ctx) }
	if len(found) > 0 {
		for _, p := range found {
			x.findings.fail(p.check, "", "%s", p.text)
		}
		x.passBefore(found[0].check)
		return "it did not come so far: see " + found[0].check, nil
	}
	x.passBefore("")
	if err := x.describe(ctx, first); err != nil {
		first.end()
		x.sideBySide(byHand, func() { x.unknownVersion(ctx) })
		if errors.Is(err, errNoDescription) {
			return "it did not come so far: see describe.answer", nil
		}
		return "", err
	}
	x.unreached = (&adviser{x.findings, &x.described}).advise()
	x.sideBySide(
		func() { x.converse(ctx, first) },
		byHand,
		func() { x.unknownVersion(ctx) },
		func() { x.endOfStream(ctx) },
		func() { x.lostConnection(ctx) },
		func() { x.lostBeforeStream(ctx) },
	)
	x.judgeOutput()
	return x.unreached, nil
}

// sideBySide runs functions concurrently, at most lanes at a time, and waits for them.
func (x *examiner) sideBySide(all ...func()) {
	var group sync.WaitGroup
	seats := make(chan struct{}, lanes)
	for _, one := range all {
		group.Go(func() {
			seats <- struct{}{}
			defer func() { <-seats }()
			one()
		})
	}
	group.Wait()
}

// passBefore passes all checks of the handshake before the one that failed, or all if none failed.
func (x *examiner) passBefore(failed string) {
	for _, id := range []string{"start.handshake", "start.fields", "start.version", "start.socket", "start.tls", "start.listener", "start.health"} {
		if id == failed {
			return
		}
		if id == "start.tls" && failed != "" {
			continue // only the health check can tell
		}
		x.findings.pass(id, "")
	}
}

// grace is added to a deadline of the plugin, so that its answer can arrive.
func (x *examiner) grace() time.Duration { return x.cfg.Timeout / 2 }

// sandboxed records the sandbox of the plugin.
func (x *examiner) sandboxed(s tool.Sandbox) {
	x.noted.Lock()
	defer x.noted.Unlock()
	x.sandbox = &s
}

// giveUp records why there can be no report.
func (x *examiner) giveUp(err error) {
	x.noted.Lock()
	defer x.noted.Unlock()
	x.broken = err
}

// remember stores the last output of the plugin if the trial failed.
func (x *examiner) remember(t *trial) {
	x.noted.Lock()
	defer x.noted.Unlock()
	if len(x.stderr) == 0 {
		x.stderr = t.bare.Exit().LastStderr
	}
}

func (x *examiner) judgeOutput() {
	lines, first := x.output.seen()
	if lines > 0 {
		x.findings.pass("output.stdout", "it prints there after the handshake, first "+quote(first)+"; it is kept as its log, and standard error is the better place")
		return
	}
	x.findings.pass("output.stdout", "it prints nothing there")
}

func (x *examiner) report(otherwise string) *Report {
	r := &Report{
		Plugin: x.described.Name, Version: x.described.Version, Tools: []string{}, Called: append([]string{}, x.called...),
		Checks: x.findings.results(definitions(), otherwise), Sandbox: x.sandbox, Isolation: x.cfg.Isolation,
	}
	if r.Plugin == "" {
		r.Plugin = x.cfg.Process.Plugin
	}
	for _, spec := range x.described.Tools {
		r.Tools = append(r.Tools, spec.Name)
	}
	if r.Count(Fail) > 0 {
		r.Stderr = x.stderr
	}
	return r
}

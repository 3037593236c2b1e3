package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/tool"
)

const (
	defaultTimeout = 10 * time.Second
	// contractGrace is how long a plugin may take to exit, by contract.
	contractGrace = 5 * time.Second
	// lanes is how many trials run side by side: enough to wait for several at once, few enough to leave them processors.
	lanes = 3
)

// Config says what to examine, and how.
type Config struct {
	// Process is how the plugin is started, as for process.Launch. Its Instance, Logger, Report and timeouts do not count.
	Process process.Config
	// ManifestName is the name that the plugin has to give itself. Empty: any.
	ManifestName string
	// Isolation is what the plugin's calls are going to share, as the operator decided. It is part of the report.
	Isolation string
	// Workspace is the folder that calls are given to work in, an absolute path. It should be empty, and hold nothing of
	// value: tools that change files are called, too. Empty: none.
	Workspace string
	// Tool is the one tool to call, whatever it declares. Empty: of all tools those that are read_only or idempotent, with
	// their examples or with arguments made from their schemas, and each example of others once, unless they are
	// dangerous. Tools that need secrets are never called.
	Tool string
	// Arguments is what to call Tool with, a JSON object. Empty: its examples, or arguments made from its schema.
	Arguments json.RawMessage
	// Timeout bounds each answer: Describe, each call. 0: 10 s.
	Timeout time.Duration
	// StartTimeout bounds each start, up to the plugin's health: a language that compiles its libraries first takes seconds,
	// and on a busy machine many. 0: as Timeout.
	StartTimeout time.Duration
	// ExitTimeout bounds how long the plugin may take to exit. 0: the 5 s of the contract.
	ExitTimeout time.Duration
}

// Verify examines a plugin. It takes as long as the plugin makes it wait, bounded by the timeouts, and returns when nothing
// of the plugin's processes is left. Whatever the plugin does is part of the report; an error says that there is none:
// because ctx ended, because layers or limits that are required cannot be had, or because there is no such tool as
// Config.Tool, a *tool.Error of tool.KindNotFound.
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
	cfg Config
	*findings
	output    *output
	instances atomic.Uint64
	calls     atomic.Uint64

	described tool.Description // by its plugin; set before any call
	called    []string         // by the goroutine that makes calls, as the next one
	unreached string           // why checks were not reached; empty: nothing in particular

	noted   sync.Mutex
	sandbox *tool.Sandbox
	stderr  []string
	broken  error // why nothing can be started, which is not the plugin's fault
}

// errNoDescription says that what follows Describe was not reached.
var errNoDescription = errors.New("it did not describe itself")

// examine returns why checks that nothing was said of were not reached.
func (x *examiner) examine(ctx context.Context) (otherwise string, err error) {
	first, found := x.launch(ctx)
	byHand := func() { x.startByHand(ctx) }
	if len(found) > 0 {
		for _, p := range found {
			x.fail(p.check, "", "%s", p.text)
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
	x.advise()
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

// sideBySide runs all, several at a time, and waits for them.
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

// passBefore passes all checks of the handshake that come before the one that failed; all, if none did.
func (x *examiner) passBefore(failed string) {
	for _, id := range []string{"start.handshake", "start.fields", "start.version", "start.socket", "start.tls", "start.listener", "start.health"} {
		if id == failed {
			return
		}
		if id == "start.tls" && failed != "" {
			continue // only the health check tells
		}
		x.pass(id, "")
	}
}

// grace is how long a plugin may take beyond a deadline of its own: what it says has to come through.
func (x *examiner) grace() time.Duration { return x.cfg.Timeout / 2 }

// sandboxed notes what the plugin may touch.
func (x *examiner) sandboxed(s tool.Sandbox) {
	x.noted.Lock()
	defer x.noted.Unlock()
	x.sandbox = &s
}

// giveUp notes why there can be no report.
func (x *examiner) giveUp(err error) {
	x.noted.Lock()
	defer x.noted.Unlock()
	x.broken = err
}

// remember keeps what the plugin said last in a trial in which something failed.
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
		x.pass("output.stdout", "it prints there after the handshake, first "+quote(first)+"; it is kept as its log, and standard error is the better place")
		return
	}
	x.pass("output.stdout", "it prints nothing there")
}

func (x *examiner) report(otherwise string) *Report {
	r := &Report{
		Plugin: x.described.Name, Version: x.described.Version, Tools: []string{}, Called: append([]string{}, x.called...),
		Checks: x.findings.report(otherwise), Sandbox: x.sandbox, Isolation: x.cfg.Isolation,
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

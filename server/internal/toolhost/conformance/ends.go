package conformance

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// startByHand starts the plugin as a person would, without toolhost's environment.
func (x *examiner) startByHand(ctx context.Context) {
	x.refuses(ctx, "start.by_hand", func(string) []string { return nil })
}

// unknownVersion offers a version of the contract that the plugin cannot support.
func (x *examiner) unknownVersion(ctx context.Context) {
	x.refuses(ctx, "start.unknown_version", offering(fmt.Sprint(unknownVersion)))
}

// refuses starts the plugin in an environment in which it must print a reason and exit with code 1.
func (x *examiner) refuses(ctx context.Context, check string, environ func(dir string) []string) {
	t, err := x.start(ctx, environ)
	if err != nil {
		x.findings.skip(check, "it cannot be started: %v", err)
		return
	}
	defer t.end()
	ctx, cancel := context.WithTimeout(ctx, x.cfg.StartTimeout)
	defer cancel()
	line, _, err := t.bare.FirstLine(ctx)
	if err == nil && strings.Contains(line, "|unix|") {
		x.findings.fail(check, "", "it serves: it printed %s", quote(line))
		return
	}
	if !t.exitsBefore(ctx) {
		x.findings.fail(check, "", "it was still there after %v", x.cfg.StartTimeout)
		return
	}
	<-t.bare.Done()
	exit := t.bare.Exit()
	if exit.Code != 1 {
		x.findings.fail(check, "", "it ended with %s, expected exit code 1", exitWords(exit))
	}
	if strings.TrimSpace(strings.Join(exit.LastStderr, "")) == "" {
		x.findings.fail(check, "", "it said nothing on standard error")
	}
	x.findings.pass(check, "")
}

// another launches the plugin once more and waits for its health. If a step fails that succeeded
// for an earlier process, the check that needs this process fails.
func (x *examiner) another(ctx context.Context, check string) *trial {
	t, found := x.launch(ctx)
	if len(found) > 0 {
		x.findings.fail(check, "", "started once more, it failed: %s", found[0].text)
		return nil
	}
	return t
}

// leaves judges the exit of a plugin that must exit now.
func (x *examiner) leaves(t *trial, check string, anyCode bool) {
	defer t.end()
	if !t.exitsWithin(x.cfg.ExitTimeout) {
		t.end()
		x.remember(t)
		x.findings.fail(check, "", "it was still there after %v, and had to be killed", x.cfg.ExitTimeout)
		return
	}
	<-t.bare.Done()
	x.judgeExit(t, check, anyCode)
	if left := t.bare.Survivors(); len(left) > 0 {
		x.findings.fail("end.processes", "", "when it had exited, %s of those that it had started were still there: %s", counted(len(left)), strings.Join(first(left, 5), ", "))
	} else {
		x.findings.pass("end.processes", "")
	}
}

func (x *examiner) judgeExit(t *trial, check string, anyCode bool) {
	exit := t.bare.Exit()
	if (exit.Code != 0 || exit.Signal != "") && !anyCode {
		x.remember(t)
		x.findings.fail(check, "", "it ended with %s, expected exit code 0", exitWords(exit))
		return
	}
	x.findings.pass(check, "")
}

func (x *examiner) endOfStream(ctx context.Context) {
	const check = "end.stream"
	t := x.opened(ctx, check)
	if t == nil {
		return
	}
	t.stream.cut()
	x.leaves(t, check, false)
}

func (x *examiner) lostConnection(ctx context.Context) {
	const check = "end.connection_lost"
	t := x.opened(ctx, check)
	if t == nil {
		return
	}
	if c, err := t.stream.begin(x.incomplete(x.anyTool())); err == nil {
		t.barrier(ctx, c)
	}
	_ = t.conn.Close() // as the kernel does when toolhost dies
	x.leaves(t, check, false)
}

func (x *examiner) lostBeforeStream(ctx context.Context) {
	const check = "end.no_stream"
	t := x.another(ctx, check)
	if t == nil {
		return
	}
	_ = t.conn.Close()
	x.leaves(t, check, true)
}

// opened returns a trial with an open stream, or nil after a failure.
func (x *examiner) opened(ctx context.Context, check string) *trial {
	t := x.another(ctx, check)
	if t == nil {
		return nil
	}
	if err := t.open(ctx); err != nil {
		t.end()
		x.findings.skip(check, "the stream of calls does not open: see stream.open")
		return nil
	}
	if kind, err := t.unknownTool(ctx); err != nil || kind != tool.KindNotFound {
		select { // the plugin has not accepted the stream
		case <-t.stream.done:
			t.end()
			x.findings.skip(check, "the stream of calls does not stay open: see stream.open")
			return nil
		default:
		}
	}
	return t
}

// shutDown judges the end of the process that received all calls.
func (x *examiner) shutDown(ctx context.Context, t *trial) {
	if t.stream != nil {
		if c, err := t.stream.begin(x.incomplete(x.anyTool())); err == nil {
			t.barrier(ctx, c)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, x.cfg.ExitTimeout)
	defer cancel()
	answered := make(chan struct{})
	go func() { // ends with the connection, or with ctx
		defer close(answered)
		_ = t.shutdown(ctx) // the plugin need not answer
	}()
	x.leaves(t, "end.shutdown", false)
	<-answered
}

func counted(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

func first(names []string, n int) []string { return names[:min(n, len(names))] }

package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

func TestInterruptCancelsTheCall(t *testing.T) {
	addr, _ := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	type end struct {
		code           int
		stdout, stderr string
	}
	ended := make(chan end, 1)
	go func() {
		code, stdout, stderr := toolhost(ctx, env, "", "call", "wait", `{"key":"k"}`, "--call-id", "c1")
		ended <- end{code, stdout, stderr}
	}()
	untilWaiting(t, env, "1")
	interrupt()
	got := <-ended
	if got.code != cli.ExitInfrastructure || got.stdout != "" || !strings.Contains(got.stderr, "cancelled") {
		t.Errorf("got %+v", got)
	}
	untilWaiting(t, env, "0")
}

// The message names the command that shows how the call ends.
func TestInterruptOfACallThatDoesNotStop(t *testing.T) {
	addr, host := start(t)
	running, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	host.SetTools(t, hosttest.Tool{
		Spec: tool.Spec{Name: "stubborn", Description: "Ignores every order to stop.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			close(running)
			<-release
			return tool.TextResult("too late"), nil
		},
	})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() { // ends with the call
		<-running
		interrupt()
	}()
	code, stdout, stderr := toolhost(ctx, map[string]string{"TOOLHOST_ADDR": addr.String()}, "", "call", "stubborn", "{}", "--call-id", "c1", "--session", "s")
	if code != cli.ExitInfrastructure || !strings.Contains(stderr, "cancelled: you stopped waiting") ||
		!strings.Contains(stderr, "`toolhost watch c1 --session s`") || strings.Contains(stderr, "context") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// A call names the ledger and the time of the first sending only if the flags do.
func TestCallOfALedger(t *testing.T) {
	addr, host := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	for _, flags := range [][]string{nil, {"--ledger", host.LedgerID(), "--first-sent", "2026-01-31T10:00:00+02:00"}} {
		args := append([]string{"call", "echo", `{"text":"x"}`}, flags...)
		if code, _, stderr := toolhost(t.Context(), env, "", args...); code != cli.ExitOK {
			t.Fatalf("%v: exit %d, %s", flags, code, stderr)
		}
	}
	calls := host.Opened()
	if len(calls) != 2 {
		t.Fatalf("got %d calls", len(calls))
	}
	if c := calls[0]; c.Ledger != "" || !c.FirstSent.IsZero() {
		t.Errorf("without flags: ledger %q, first sent %s", c.Ledger, c.FirstSent)
	}
	if c, at := calls[1], time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC); c.Ledger != host.LedgerID() || !c.FirstSent.Equal(at) {
		t.Errorf("with flags: ledger %q, first sent %s", c.Ledger, c.FirstSent)
	}
	code, _, stderr := toolhost(t.Context(), env, "", "call", "echo", `{"text":"x"}`, "--ledger", "other")
	if code != cli.ExitInfrastructure || !strings.Contains(stderr, "outcome_unknown") {
		t.Errorf("another ledger: exit %d, %s", code, stderr)
	}
}

// untilWaiting returns when n calls of the tool `wait` are running.
func untilWaiting(t *testing.T, env map[string]string, n string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		code, stdout, stderr := toolhost(ctx, env, "", "call", "waiting", `{"key":"k"}`)
		if code != cli.ExitOK {
			t.Fatalf("waiting for %s calls: exit %d, %s", n, code, stderr)
		}
		if strings.TrimSpace(stdout) == n {
			return
		}
	}
}

func TestApproveNamesThePerson(t *testing.T) {
	addr, host := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	if code, _, stderr := toolhost(t.Context(), env, "", "call", "danger", "--approve", "--session", "s", "--timeout", "5s"); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := host.Opened()[0]
	if got.Approval == nil || got.Approval.ApprovedBy == "" || got.Approval.Time.IsZero() {
		t.Errorf("the approval is %+v", got.Approval)
	}
	if got.Session != "s" || got.Timeout != 5*time.Second {
		t.Errorf("the call is %+v", got)
	}
}

func TestFlagGoesBeforeTheEnvironment(t *testing.T) {
	addr, _ := start(t)
	env := map[string]string{"TOOLHOST_ADDR": "unix:///absent.sock"}
	if code, _, _ := toolhost(t.Context(), env, "", "ps"); code != cli.ExitNoServer {
		t.Errorf("exit %d", code)
	}
	if code, _, stderr := toolhost(t.Context(), env, "", "ps", "--addr", addr.String()); code != cli.ExitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
	env = map[string]string{"XDG_RUNTIME_DIR": "/absent/run"}
	if code, _, stderr := toolhost(t.Context(), env, "", "ps"); code != cli.ExitNoServer || !strings.Contains(stderr, "unix:///absent/run/toolhost/toolhost.sock") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestCompletion(t *testing.T) {
	addr, _ := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"__complete", "call", "ec"}, "echo\tThe tool echo of the conformance suite."},
		{[]string{"__complete", "tools", ""}, "break\t"},
		{[]string{"__complete", "restart", ""}, "fixture\tthe suite's tools"},
		{[]string{"__complete", "call", "echo", ""}, ":4"},
		{[]string{"completion", "bash"}, "bash completion"},
	} {
		if code, stdout, stderr := toolhost(t.Context(), env, "", test.args...); code != cli.ExitOK || !strings.Contains(stdout, test.want) {
			t.Errorf("%v: exit %d, %s%s", test.args, code, stdout, stderr)
		}
	}
}

func TestEveryCommandIsInAGroup(t *testing.T) {
	for _, cmd := range commands.NewRoot(cli.Process{Getenv: func(string) string { return "" }}).Commands() {
		if cmd.IsAvailableCommand() && cmd.GroupID == "" {
			t.Errorf("the help lists %s in no group", cmd.Name())
		}
	}
}

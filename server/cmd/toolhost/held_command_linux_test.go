package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
)

// heldBook has the held calls of the tests.
type heldBook struct{ *held.Store }

func (b heldBook) HeldCalls() *held.Store { return b.Store }

func (b heldBook) DecideHeld(_ context.Context, v held.Verdict, _ string) (held.Decision, error) {
	return b.Decide(v, func(held.Decision) error { return nil })
}

func (b heldBook) ExtendHeld(_ context.Context, x held.Extension, _ string) (held.Decision, error) {
	return b.Extend(x, func(held.Decision) error { return nil })
}

// hold holds a call whose texts try to steer the terminal, and to look like lines of the command.
func (b heldBook) hold(t *testing.T, key string) held.Decision {
	t.Helper()
	d, _, err := b.Hold(held.KeyOf(key), held.Call{
		Principal: "red/ada", Session: "s\x1b[31m\u202e", ID: "call-1", Agent: "writer", Tool: "pay", DisplayName: "Pay\n  call     harmless", Plugin: "bank",
		Arguments: json.RawMessage("{\"amount\":100,\"to\":\"mallory\u202e\"}"), Rule: "money", Reason: "it is money\r\x1b[2J", FourEyes: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sits runs a command at a terminal. keyboard types, shown is the screen, and left waits for the
// exit code.
func sits(t *testing.T, env map[string]string, args ...string) (keyboard io.Writer, shown *screen, left func() int) {
	t.Helper()
	open := func(path string) *os.File {
		file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	master := open("/dev/ptmx")
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 120, Row: 40})
	}
	if err != nil {
		t.Fatal(err)
	}
	seat := open(fmt.Sprintf("/dev/pts/%d", number))
	shown = newScreen()
	read, code := make(chan struct{}), make(chan int, 1)
	go func() { // ends when the seat is closed
		defer close(read)
		_, _ = io.Copy(shown, master)
	}()
	go func() { // ends with the command
		code <- run(t.Context(), cli.Process{Args: args, Getenv: func(n string) string { return env[n] }, Stdin: seat, Stdout: seat, Stderr: seat})
	}()
	return master, shown, func() int {
		defer master.Close()
		defer func() { <-read }()
		defer seat.Close()
		return <-code
	}
}

// A person sees the whole call before the question, whatever its caller wrote, and only yes
// approves it.
func TestHeldCallsInTheTerminal(t *testing.T) {
	book := heldBook{held.New()}
	env := startWith(t, hostserver.Config{Decisions: book})
	env["TERM"] = "xterm"
	d := book.hold(t, "1")
	for _, test := range []struct {
		word  string
		code  int
		state held.State
	}{{"n", cli.ExitUsage, held.Waiting}, {"", cli.ExitUsage, held.Waiting}, {"yes", cli.ExitOK, held.Approved}} {
		keyboard, shown, left := sits(t, env, "approvals", "approve", d.Name)
		shown.until(t, "approve this call of pay for red/ada?")
		fmt.Fprint(keyboard, test.word+"\r")
		code := left()
		if now, _ := book.Get(d.Name); code != test.code || now.State != test.state {
			t.Errorf("%q: exit %d, %s\n%s", test.word, code, now.State, shown)
		}
		for _, want := range []string{"another principal has to approve it", "bank", "money", "writer", `"amount": 100`, "mallory", d.Etag} {
			if !strings.Contains(shown.String(), want) {
				t.Errorf("the person does not see %q:\n%s", want, shown)
			}
		}
		if text := shown.String(); strings.Contains(text, "\x1b[31m") || strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\u202e") || strings.Contains(text, "\n  call     harmless") {
			t.Errorf("a call can steer the terminal: %q", text)
		}
	}
	_, shown, left := sits(t, env, "approvals", "approve", d.Name)
	if code := left(); code != cli.ExitInfrastructure || !strings.Contains(shown.String(), "made before: approved by") {
		t.Errorf("a second time: exit %d\n%s", code, shown)
	}
}

// Without a terminal, the etag says what was seen. Nothing of a call steers what reads the output.
func TestHeldCallsWithoutATerminal(t *testing.T) {
	book := heldBook{held.New()}
	env := startWith(t, hostserver.Config{Decisions: book})
	if code, out, errs := toolhost(t.Context(), env, "", "approvals", "pending"); code != cli.ExitOK || out != "" || !strings.Contains(errs, "no call waits") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	first, second := book.hold(t, "1"), book.hold(t, "2")
	for _, args := range [][]string{{"pending"}, {"pending", first.Name}, {"pending", "-o", "json"}, {"pending", first.Name, "-o", "json"}} {
		code, out, errs := toolhost(t.Context(), env, "", append([]string{"approvals"}, args...)...)
		if code != cli.ExitOK || !strings.Contains(out, first.Name) || !strings.Contains(out, "mallory") || strings.ContainsAny(out+errs, "\x1b\u202e\r") {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, errs)
		}
		if args[len(args)-1] == "json" && !json.Valid([]byte(out)) {
			t.Errorf("%v: %s", args, out)
		}
	}
	code, out, errs := toolhost(t.Context(), env, "", "approvals", "approve", first.Name)
	if d, _ := book.Get(first.Name); code != cli.ExitUsage || d.State != held.Waiting || !strings.Contains(out, "mallory") || !strings.Contains(errs, "--etag "+first.Etag) {
		t.Errorf("exit %d, %s, %q, %q", code, d.State, out, errs)
	}
	code, out, _ = toolhost(t.Context(), env, "", "approvals", "approve", first.Name, "--etag", first.Etag, "--reason", "sure", "-o", "json")
	if d, _ := book.Get(first.Name); code != cli.ExitOK || d.State != held.Approved || d.Text != "sure" || !strings.Contains(out, `"verdict":"approve"`) {
		t.Errorf("exit %d, %+v, %s", code, d, out)
	}
	code, out, _ = toolhost(t.Context(), env, "", "approvals", "reject", second.Name, "--reason", "no")
	if d, _ := book.Get(second.Name); code != cli.ExitOK || d.State != held.Rejected || d.Text != "no" || !strings.Contains(out, "of pay is rejected") {
		t.Errorf("exit %d, %+v, %s", code, d, out)
	}
	for _, wrong := range []struct {
		args []string
		code int
	}{
		{[]string{"approve", second.Name}, cli.ExitInfrastructure}, {[]string{"reject", first.Name}, cli.ExitInfrastructure}, {[]string{"approve", "calls/none"}, cli.ExitInfrastructure},
		{[]string{"pending", "calls/none"}, cli.ExitInfrastructure}, {[]string{"approve"}, cli.ExitUsage}, {[]string{"reject", "a", "b"}, cli.ExitUsage},
	} {
		if code, _, errs := toolhost(t.Context(), env, "", append([]string{"approvals"}, wrong.args...)...); code != wrong.code || errs == "" {
			t.Errorf("%v: exit %d, %q", wrong.args, code, errs)
		}
	}
	for _, args := range [][]string{{"--wait-for-approval", "-1s"}, {"--wait-for-approval", "1s", "--approve"}} {
		if code, _, errs := toolhost(t.Context(), env, "", append([]string{"call", "danger", "{}"}, args...)...); code != cli.ExitUsage || !strings.Contains(errs, "--wait-for-approval") {
			t.Errorf("%v: exit %d, %q", args, code, errs)
		}
	}
}

// pending -f writes each call that waits, and once more when it waits no longer, until an interrupt
// ends it.
func TestFollowHeldCalls(t *testing.T) {
	book := heldBook{held.New()}
	env := startWith(t, hostserver.Config{Decisions: book})
	for i, test := range []struct{ args, waits, gone string }{
		{"approvals pending -f", "pay", "waits no more"},
		{"approvals pending --follow -o json", `"waiting":true`, `"waiting":false`},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		out, errs := newScreen(), newScreen()
		code := make(chan int, 1)
		go func() {
			code <- run(ctx, cli.Process{Args: strings.Fields(test.args), Getenv: func(n string) string { return env[n] }, Stdin: strings.NewReader(""), Stdout: out, Stderr: errs})
		}()
		d := book.hold(t, fmt.Sprint(i))
		out.until(t, test.waits)
		if code, _, stderr := toolhost(t.Context(), env, "", "approvals", "reject", d.Name); code != cli.ExitOK {
			t.Fatal(stderr)
		}
		out.until(t, test.gone)
		interrupt()
		if got := <-code; got != cli.ExitOK || errs.String() != "" || strings.ContainsAny(out.String(), "\x1b\u202e\r") {
			t.Errorf("%v: exit %d, %s, %q", test.args, got, errs.String(), out.String())
		}
	}
	if code, _, stderr := toolhost(t.Context(), env, "", "approvals", "pending", "-f", "calls/x"); code != cli.ExitUsage || !strings.Contains(stderr, "-f follows the list") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

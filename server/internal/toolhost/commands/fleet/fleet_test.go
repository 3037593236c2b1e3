package fleet_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/fleet"
	"github.com/toolhost/toolhost/tool"
)

// three returns three nodes at which no server listens.
func three(t *testing.T) []target.Node {
	t.Helper()
	var nodes []target.Node
	for _, name := range []string{"a", "b", "c"} {
		at, err := address.Unix(filepath.Join(shortdir.Make(t), name))
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, target.Node{Name: name, Server: target.Server{Program: cli.Toolhost, Address: at}})
	}
	return nodes
}

// byNode asks the nodes in the order a, b, c, each with its own answer.
func byNode[T any](t *testing.T, wait time.Duration, answers map[string]func(context.Context) (T, error)) []fleet.Answer[T] {
	t.Helper()
	nodes := three(t)
	return fleet.Ask(t.Context(), nodes, wait, func(ctx context.Context, c *client.Client) (T, error) {
		return answers[c.Addr()[strings.LastIndex(c.Addr(), "/")+1:]](ctx)
	})
}

// The times of nodes are their own: one that never answers has the answer of none of the others
// wait for it, and gets a reason.
func TestEachNodeHasItsOwnTime(t *testing.T) {
	begun := make(chan struct{})
	answers := byNode(t, 50*time.Millisecond, map[string]func(context.Context) (int, error){
		"a": func(ctx context.Context) (int, error) { close(begun); <-ctx.Done(); return 0, ctx.Err() },
		"b": func(context.Context) (int, error) { <-begun; return 7, nil }, // all are asked at once
		"c": func(context.Context) (int, error) {
			return 0, tool.Errorf(tool.KindTimeout, "the node gave up a moment before the client")
		},
	})
	if a := answers[0]; a.State != fleet.NoAnswer || a.Reason != "it did not answer within 50ms" {
		t.Errorf("%+v", a.Status)
	}
	if b := answers[1]; b.State != fleet.Answered || b.Value != 7 || b.Err != nil {
		t.Errorf("%+v", b)
	}
	if c := answers[2]; c.State != fleet.NoAnswer || c.Reason != "it did not answer within 50ms" {
		t.Errorf("%+v", c.Status)
	}
}

func TestStatesAndExitCodes(t *testing.T) {
	const ok, absent, denied, unknown, broken = "ok", "absent", "denied", "unknown", "broken"
	outcomes := map[string]error{
		ok: nil, absent: tool.Errorf(tool.KindUnavailable, "nothing listens%w", client.ErrNoServer),
		denied: tool.Errorf(tool.KindDenied, "you may not"), unknown: tool.Errorf(tool.KindNotFound, "there is no such plugin"),
		broken: errors.New("something else"),
	}
	states := map[string]fleet.State{ok: fleet.Answered, absent: fleet.NoAnswer, denied: fleet.Refused, unknown: fleet.NotFound, broken: fleet.Failed}
	for _, test := range []struct {
		a, b, c string
		code    int
		text    string
	}{
		{ok, ok, ok, 0, ""},
		{ok, unknown, ok, 0, ""},
		{ok, absent, ok, 3, "2 of 3 toolhosts answered"},
		{ok, denied, unknown, 3, "2 of 3 toolhosts answered"},
		{denied, denied, broken, 3, "0 of 3 toolhosts answered"},
		{absent, absent, absent, 4, "none of 3 toolhosts answers"},
		{absent, absent, denied, 3, "0 of 3 toolhosts answered"},
		{unknown, unknown, unknown, 3, "there is no such plugin"},
	} {
		given := map[string]string{"a": test.a, "b": test.b, "c": test.c}
		asks := map[string]func(context.Context) (int, error){}
		for node, outcome := range given {
			asks[node] = func(context.Context) (int, error) { return 1, outcomes[outcome] }
		}
		answers := byNode(t, time.Minute, asks)
		for _, a := range answers {
			if want := states[given[a.Node.Name]]; a.State != want || (a.Value == 1) != (want == fleet.Answered) {
				t.Errorf("%+v: %+v", test, a)
			}
		}
		err := fleet.Err(answers)
		code := 0
		if exit, ok := errors.AsType[*cli.ExitError](err); ok {
			code = exit.Code
		} else if err != nil {
			code = cli.CodeOf(err)
		}
		if code != test.code || err != nil && !strings.Contains(err.Error(), test.text) {
			t.Errorf("%+v: exit %d, %v", test, code, err)
		}
	}
}

// A node whose answer has no form in JSON, or is huge, fails alone.
func TestImpossibleAnswers(t *testing.T) {
	answers := byNode(t, time.Minute, map[string]func(context.Context) (any, error){
		"a": func(context.Context) (any, error) { return math.NaN(), nil },
		"b": func(context.Context) (any, error) { return time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), nil },
		"c": func(context.Context) (any, error) { return strings.Repeat("x", fleet.MaxAnswerBytes), nil },
	})
	for i, want := range []string{"a value that no toolhost has", "a value that no toolhost has", "more than 16.0 MiB"} {
		if a := answers[i]; a.State != fleet.Failed || !strings.Contains(a.Reason, want) || a.Value != nil {
			t.Errorf("%+v", a.Status)
		}
	}
	long := byNode(t, time.Minute, map[string]func(context.Context) (any, error){
		"a": func(context.Context) (any, error) { return nil, errors.New(strings.Repeat("\x1b[31m", 10000)) },
		"b": func(context.Context) (any, error) { return nil, nil },
		"c": func(context.Context) (any, error) { return nil, nil },
	})
	if r := long[0].Reason; len([]rune(r)) > 400 || strings.Contains(r, "\x1b") {
		t.Errorf("a node writes %d characters to the terminal: %q", len(r), r)
	}
}

package logbuffer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/logbuffer"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func line(plugin, call, message string) tool.LogLine {
	return tool.LogLine{Plugin: plugin, CallID: call, Record: tool.LogRecord{Message: message}}
}

// messages returns the messages of the lines that a query selects.
func messages(t *testing.T, b *logbuffer.Buffer, q tool.LogQuery) []string {
	t.Helper()
	var all []string
	for l, err := range b.Tail(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l.Record.Message)
	}
	return all
}

func TestTail(t *testing.T) {
	b := logbuffer.New(logbuffer.Config{LinesPerPlugin: 3})
	for i := range 5 {
		b.Append(line("a", "", fmt.Sprintf("a%d", i)))
	}
	b.Append(line("b", "c1", "b0"))
	b.Append(line("b", "c2", "b1"))
	for name, tc := range map[string]struct {
		query tool.LogQuery
		want  []string
	}{
		"all":     {tool.LogQuery{}, []string{"a2", "a3", "a4", "b0", "b1"}},
		"plugin":  {tool.LogQuery{Plugin: "a"}, []string{"a2", "a3", "a4"}},
		"call":    {tool.LogQuery{CallID: "c2"}, []string{"b1"}},
		"last":    {tool.LogQuery{Last: 2}, []string{"b0", "b1"}},
		"nothing": {tool.LogQuery{Plugin: "c"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, messages(t, b, tc.query)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A reader gets every line once, in order, until it leaves.
func TestFollow(t *testing.T) {
	b := logbuffer.New(logbuffer.Config{})
	b.Append(line("a", "", "0"))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	left := errors.New("enough")
	n := 0
	for l, err := range b.Tail(ctx, tool.LogQuery{Plugin: "a", Follow: true}) {
		if err != nil {
			if !errors.Is(err, left) || n != 100 {
				t.Errorf("it ended with %v after %d lines", err, n)
			}
			return
		}
		if l.Record.Message != fmt.Sprint(n) {
			t.Fatalf("line %d is %q", n, l.Record.Message)
		}
		if n++; n == 100 {
			cancel(left)
			continue
		}
		b.Append(line("b", "", "another's"))
		b.Append(line("a", "", fmt.Sprint(n)))
	}
}

// Lines that exceed the rate are dropped and counted, and lines of other plugins are not.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := logbuffer.New(logbuffer.Config{LinesPerSecond: 10})
		for range 1000 {
			b.Append(line("loud", "", "x"))
		}
		b.Append(line("quiet", "", "y"))
		time.Sleep(time.Second) // virtual
		b.Append(line("loud", "", "again"))
		got := messages(t, b, tool.LogQuery{Plugin: "loud"})
		if len(got) != 12 || !strings.Contains(got[10], "990 lines were dropped") || got[11] != "again" {
			t.Errorf("kept: %q", got)
		}
		if got := messages(t, b, tool.LogQuery{Plugin: "quiet"}); len(got) != 1 {
			t.Errorf("the quiet one has %q", got)
		}
	})
}

func TestLongLineIsCut(t *testing.T) {
	b := logbuffer.New(logbuffer.Config{LineBytes: 10})
	b.Append(line("a", "", strings.Repeat("é", 100)))
	if got := messages(t, b, tool.LogQuery{}); got[0] != "ééééé … (cut off)" {
		t.Errorf("kept: %q", got[0])
	}
}

func TestHandler(t *testing.T) {
	b := logbuffer.New(logbuffer.Config{})
	var out bytes.Buffer
	logger := slog.New(b.Handler(slog.NewTextHandler(&out, nil)))
	logger.Info("toolhost's own")
	logger = logger.With("plugin", "fs", "instance", "fs-1")
	logger.Debug("below the level", "pid", 7)
	logger.Warn("bad", "error", errors.New("oh"))
	var got []tool.LogLine
	for l, err := range b.Tail(t.Context(), tool.LogQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	if len(got) != 2 || got[0].Plugin != "fs" || got[0].Instance != "fs-1" || got[0].Record.Level != tool.LogDebug ||
		string(got[0].Record.Attributes["pid"]) != "7" || string(got[1].Record.Attributes["error"]) != `"oh"` {
		t.Errorf("kept: %+v", got)
	}
	if text := out.String(); !strings.Contains(text, "toolhost's own") || !strings.Contains(text, "bad") || strings.Contains(text, "below") {
		t.Errorf("handed on:\n%s", text)
	}
}

// The plugins with the most bytes lose their oldest lines, the others none, and the lines take no
// more memory than the bound.
func TestAllPluginsTogetherAreBounded(t *testing.T) {
	const most, plugins = 1 << 20, 50
	b := logbuffer.New(logbuffer.Config{MaxBytes: most, LinesPerSecond: 1 << 20})
	b.Append(line("quiet", "", "the first"))
	text := strings.Repeat("x", 1000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 300 {
		for p := range plugins {
			b.Append(line(fmt.Sprint("loud-", p), "", fmt.Sprint(i, " ", strings.Clone(text))))
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > most {
		t.Errorf("%d bytes are kept, want no more than %d", grown, most)
	}
	if got := messages(t, b, tool.LogQuery{Plugin: "quiet"}); len(got) != 1 {
		t.Errorf("the quiet one has %q", got)
	}
	kept := 0
	for p := range plugins {
		got := messages(t, b, tool.LogQuery{Plugin: fmt.Sprint("loud-", p)})
		if len(got) < 10 || !strings.HasPrefix(got[len(got)-1], "299 ") {
			t.Errorf("loud-%d has %d lines, which end with %.10q", p, len(got), got[len(got)-1])
		}
		kept += len(got)
	}
	if kept < most/2/1000 {
		t.Errorf("only %d lines are kept", kept)
	}
	runtime.KeepAlive(b)
}

// The buffer keeps the newest line even if that alone exceeds the bound.
func TestTheNewestLineIsKept(t *testing.T) {
	b := logbuffer.New(logbuffer.Config{MaxBytes: 1})
	b.Append(line("a", "", "1"))
	b.Append(line("b", "", "2"))
	b.Append(line("b", "", "3"))
	if diff := cmp.Diff([]string{"3"}, messages(t, b, tool.LogQuery{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The buffer stores what Redact returns for the whole line.
func TestRedact(t *testing.T) {
	b := logbuffer.New(logbuffer.Config{LineBytes: 300, Redact: func(r tool.LogRecord) tool.LogRecord {
		r.Message = strings.ReplaceAll(r.Message, "secret", "")
		return r
	}})
	b.Append(line("p", "", strings.Repeat("a", 297)+"secret!"))
	slog.New(b.Handler(slog.DiscardHandler)).Info("a secret", "plugin", "p")
	if diff := cmp.Diff([]string{strings.Repeat("a", 297) + "!", "a "}, messages(t, b, tool.LogQuery{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A tenant with many lines does not hide those of another tenant of the same plugin.
func TestLinesOfTenants(t *testing.T) {
	b := logbuffer.New(logbuffer.Config{LinesPerPlugin: 50, LinesPerSecond: 100, MaxBytes: 20 << 10})
	of := func(tenant, message string) {
		b.Append(tool.LogLine{Plugin: "a", Instance: "a-" + tenant, Tenant: tenant, Record: tool.LogRecord{Message: message}})
	}
	of("blue", "b0")
	for range 1000 {
		of("red", strings.Repeat("r", 400))
	}
	of("blue", "b1")
	if got, want := messages(t, b, tool.LogQuery{Tenants: tool.Tenants{"blue"}}), []string{"b0", "b1"}; !slices.Equal(got, want) {
		t.Errorf("blue has the lines %q, want %q", got, want)
	}
	if got := messages(t, b, tool.LogQuery{Tenants: tool.Tenants{"red"}}); len(got) == 0 || len(got) > 25 {
		t.Errorf("red has %d lines, want some, and at most 20 KiB", len(got))
	}
}

package logging_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// written returns what a log writes, in virtual time, which begins at 2000-01-01.
func written(t *testing.T, cfg logging.Config, use func(l *logging.Log)) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		cfg.To = &out
		l := logging.Open(cfg)
		use(l)
		l.Close()
	})
	return strings.ReplaceAll(out.String(), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Local().Format("2006-01-02T15:04:05.000Z07:00"), "TIME")
}

func check(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// records logs a record with every kind of value.
func records(l *logging.Log) {
	log := l.Logger("lifecycle")
	log.Info("instance ready", "took", 41*time.Millisecond+234567, "instance", "fs-1", "pid", 17, "plugin", "fs")
	log.Warn("plain", "digest", "sha256:0123456789abcdef")
	log.With("session", "", "principal", "uid:0", "tool", "read_file").WithGroup("g").Error("all kinds", "error", "of a group", "n", 1.5, "yes", true,
		"at", time.Date(2001, 2, 3, 4, 5, 6, 7e6, time.UTC), "list", []string{"a", "b"}, "quoted", `say "x" = 1`, "nothing", nil, "stack", "one\n\ttwo\n")
	log.Error("failed", "error", errors.New("first\nsecond"), "call", "c1", "call", "c2", "empty", "")
	l.Logger("plugins").Info("Traceback:\n  File \"x.py\"\r\nValueError\n", "plugin", "py", "fields", map[string]any{"principal": "root", "k": []int{1}})
}

func TestText(t *testing.T) {
	check(t, written(t, logging.Config{}, records), `TIME INFO  lifecycle instance ready               plugin=fs instance=fs-1 took=41.235ms pid=17
TIME WARN  lifecycle plain                        digest=sha256:0123456789ab
TIME ERROR lifecycle all kinds                    tool=read_file principal=uid:0 g.error="of a group" g.n=1.5 g.yes=true g.at=2001-02-03T04:05:06.007Z g.list="a, b" g.quoted="say \"x\" = 1" g.nothing=null
    | g.stack:
    | one
    |     two
TIME ERROR lifecycle failed                       call=c2 empty=""
    | error:
    | first
    | second
TIME INFO  plugins   Traceback:                   plugin=py fields.k=[1] fields.principal=root
    |   File "x.py"
    | ValueError
`)
}

func TestJSON(t *testing.T) {
	check(t, written(t, logging.Config{JSON: true}, records), `{"time":"TIME","level":"INFO","subsystem":"lifecycle","msg":"instance ready","plugin":"fs","instance":"fs-1","took":0.041234567,"pid":17}
{"time":"TIME","level":"WARN","subsystem":"lifecycle","msg":"plain","digest":"sha256:0123456789abcdef"}
{"time":"TIME","level":"ERROR","subsystem":"lifecycle","msg":"all kinds","tool":"read_file","principal":"uid:0","g.error":"of a group","g.n":1.5,"g.yes":true,"g.at":"2001-02-03T04:05:06.007Z","g.list":["a","b"],"g.quoted":"say \"x\" = 1","g.nothing":"null","g.stack":"one\n\ttwo\n"}
{"time":"TIME","level":"ERROR","subsystem":"lifecycle","msg":"failed","call":"c2","empty":"","error":"first\nsecond"}
{"time":"TIME","level":"INFO","subsystem":"plugins","msg":"Traceback:\n  File \"x.py\"\r\nValueError\n","plugin":"py","fields":{"k":[1],"principal":"root"}}
`)
}

// Foreign text cannot control the terminal, and cannot look like a record.
func TestForeignTextIsEscaped(t *testing.T) {
	const attack = "x\x1b[2J\r2026-01-01 ERROR\n2026-01-01T00:00:00.000Z ERROR server  stopped\u202e principal=root"
	for _, isJSON := range []bool{false, true} {
		got := written(t, logging.Config{JSON: isJSON}, func(l *logging.Log) {
			l.Logger("plugins").Info(attack, "plugin", attack, "fields", map[string]any{attack: attack}, attack, attack)
		})
		if strings.ContainsAny(got, "\x1b\r\u202e") {
			t.Errorf("control characters are written: %q", got)
		}
		for line := range strings.Lines(got) {
			if !strings.HasPrefix(line, "TIME INFO  plugins") && !strings.HasPrefix(line, "    | ") && !strings.HasPrefix(line, `{"time":"TIME"`) {
				t.Errorf("a line looks like a record: %q", line)
			}
		}
	}
}

func TestColor(t *testing.T) {
	got := written(t, logging.Config{Color: true}, func(l *logging.Log) { l.Logger("server").Error("bad", "n", 1) })
	check(t, got, "\x1b[2mTIME\x1b[0m \x1b[31mERROR\x1b[0m server    bad                          \x1b[2mn=\x1b[0m1\n")
}

// Each subsystem has its level, and a plugin may have one for what it writes. The levels can change
// while loggers exist.
func TestLevels(t *testing.T) {
	levels := func(text string) loglevel.Levels {
		s, err := loglevel.OfToolhost().ParseSettings(text)
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Levels()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	got := written(t, logging.Config{JSON: true, Levels: levels("warn,policy=debug,plugin.fs=error")}, func(l *logging.Log) {
		server, plugins := l.Logger("server"), l.Logger("plugins")
		policy := server.With("subsystem", "policy")
		fs, py := plugins.With("plugin", "fs"), plugins.With("plugin", "py")
		for range 2 {
			for _, log := range []*slog.Logger{server, policy, fs, py} {
				log.Debug("debug")
				log.Warn("warn")
			}
			l.SetLevels(levels("error,server=debug"))
		}
	})
	check(t, got, `{"time":"TIME","level":"WARN","subsystem":"server","msg":"warn"}
{"time":"TIME","level":"DEBUG","subsystem":"policy","msg":"debug"}
{"time":"TIME","level":"WARN","subsystem":"policy","msg":"warn"}
{"time":"TIME","level":"WARN","subsystem":"plugins","msg":"warn","plugin":"py"}
{"time":"TIME","level":"DEBUG","subsystem":"server","msg":"debug"}
{"time":"TIME","level":"WARN","subsystem":"server","msg":"warn"}
`)
}

// Of equal records, a burst and one a second are written. The number of the others is written with
// the next one, or a few seconds later.
func TestRepeatedRecordsAreLimited(t *testing.T) {
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		l := logging.Open(logging.Config{To: &out, JSON: true})
		defer l.Close()
		log := l.Logger("calls")
		for i := range 1000 {
			log.With("plugin", "a").Warn("a filter failed", "call", i)
			log.With("plugin", "b").Debug("not logged")
		}
		log.With("plugin", "b").Warn("a filter failed", "call", "of another plugin")
		time.Sleep(time.Second) // virtual
		log.Warn("a filter failed", "plugin", "a", "call", "later")
		log.Warn("a filter failed", "plugin", "a", "call", "too soon")
		log.Warn("a filter failed", "plugin", "a", "call", "too soon again")
		time.Sleep(10 * time.Second) // virtual
		synctest.Wait()
	})
	if n := strings.Count(out.String(), "\n"); n != 23 {
		t.Errorf("%d records are written", n)
	}
	for _, want := range []string{`"call":"of another plugin"}`, `"call":"later","suppressed":980}`, `"call":"too soon again","suppressed":1}`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
}

// If there are too many kinds of records to count, the numbers so far are written first.
func TestTooManyKindsLoseNoNumber(t *testing.T) {
	got := written(t, logging.Config{MaxWaiting: 64 << 20}, func(l *logging.Log) {
		log := l.Logger("calls")
		for range 25 {
			log.Warn("a filter failed")
		}
		for i := range 2048 {
			log.Warn("another record", "plugin", strconv.Itoa(i))
		}
	})
	if !strings.Contains(got, "suppressed=4") && !strings.Contains(got, `"suppressed":4`) {
		t.Error("nothing says how many records were left out")
	}
}

// Runs and plugins have other limits: each of their records is written.
func TestRunsAreNotLimited(t *testing.T) {
	for _, subsystem := range []string{"runs", "plugins"} {
		got := written(t, logging.Config{}, func(l *logging.Log) {
			for range 100 {
				l.Logger(subsystem).Info("run begun")
			}
		})
		if n := strings.Count(got, "\n"); n != 100 {
			t.Errorf("%s: %d records", subsystem, n)
		}
	}
}

// blocked is a writer that takes nothing until it is opened.
type blocked struct {
	open chan struct{}
	mu   sync.Mutex
	got  bytes.Buffer
}

func (b *blocked) Write(p []byte) (int, error) {
	<-b.open
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.Write(p)
}

// A writer that takes nothing does not block the loggers, and the queue is bounded. The log says
// how many records are missing.
func TestStuckWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &blocked{open: make(chan struct{})}
		l := logging.Open(logging.Config{To: w, MaxWaiting: 10_000})
		for i := range 1000 {
			l.Logger("runs").Info("run begun", "n", i, "text", strings.Repeat("x", 100))
			if i == 0 {
				synctest.Wait() // the first record is being written, and the writer is stuck
			}
		}
		close(w.open)
		synctest.Wait()
		l.Logger("runs").Info("later")
		l.Close()
		got := w.got.String()
		kept := strings.Count(got, "run begun")
		dropped := 0 // the log says it once or twice: before and after the writer is stuck
		for _, part := range strings.Split(got, "dropped=")[1:] {
			number, _, _ := strings.Cut(part, "\n")
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			dropped += n
		}
		if kept < 10 || kept > 100 || dropped != 1000-kept || !strings.Contains(got, "later\n") {
			t.Errorf("%d records are kept:\n%s", kept, got)
		}
	})
}

// Lost reports a loss as long as the writer is stuck, and some time longer. Then a new loss is
// counted from 1.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &blocked{open: make(chan struct{})}
		l := logging.Open(logging.Config{To: w, MaxWaiting: 1000})
		want := func(when string, want int) {
			t.Helper()
			if got := l.Lost(); got != want {
				t.Errorf("%s: %d records are lost, want %d", when, got, want)
			}
		}
		long := strings.Repeat("x", 2000)
		l.Logger("server").Info("short")
		synctest.Wait()
		want("before", 0)
		l.Logger("server").Info("a", "text", long)
		l.Logger("server").Info("b", "text", long)
		want("at once", 2)
		time.Sleep(time.Hour)
		want("still stuck", 2)
		l.Logger("server").Info("c", "text", long)
		want("one more", 3)
		close(w.open)
		synctest.Wait()
		want("just now", 3)
		time.Sleep(9 * time.Minute)
		want("some minutes ago", 3)
		time.Sleep(2 * time.Minute)
		want("long ago", 0)
		l.Close()
	})
}

// Close does not wait for ever for a writer that takes nothing.
func TestCloseWithAStuckWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &blocked{open: make(chan struct{})}
		l := logging.Open(logging.Config{To: w})
		l.Logger("server").Info("x")
		l.Close()
		close(w.open) // ends the goroutine
	})
}

// Secrets are removed from the message and from each value, whatever its type is.
func TestRedact(t *testing.T) {
	hide := func(text string) string { return strings.ReplaceAll(text, "123456", "[secret]") }
	for _, isJSON := range []bool{false, true} {
		got := written(t, logging.Config{JSON: isJSON, Redact: hide}, func(l *logging.Log) {
			l.Logger("calls").Error("is 123456", "n", 123456, "s", "a 123456", "error", errors.New("no 123456"), "list", []int{123456},
				"123456", 1, "m", map[string]any{"123456": map[string]any{"deep": 123456}, "t": "123456"})
		})
		if strings.Contains(got, "123456") || strings.Count(got, "[secret]") < 8 {
			t.Errorf("JSON %v: %s", isJSON, got)
		}
	}
}

func BenchmarkDisabled(b *testing.B) {
	l := logging.Open(logging.Config{To: io.Discard})
	defer l.Close()
	log := l.Logger("calls")
	b.ReportAllocs()
	for b.Loop() {
		log.Enabled(context.Background(), slog.LevelDebug)
	}
}

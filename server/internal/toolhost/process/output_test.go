package process_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

// JSON that a plugin prints on standard error is treated as text only.
func TestStderrIsOnlyEverText(t *testing.T) {
	lines := []string{
		`{"@message": 1}`,
		`{"@message":{"a":[]},"@level":7,"@timestamp":null}`,
		`{"@level":"error"`,
		`[ERROR] no json`,
		"\xff\xfe\x00 garbage",
		strings.Repeat(`{"a":`, 5000),
	}
	for i, line := range lines {
		t.Run(fmt.Sprint("in a call, ", i), func(t *testing.T) {
			cfg, log := setup(t)
			p := launch(t, cfg)
			do(t, p, arguments{"do": "print", "text": line})
			log.await(t, "INFO stderr: ", "plugin=fault instance=fault-1 pid="+strconv.Itoa(p.PID()))
			if err := p.Stop(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
		})
	}
	for i, line := range lines[:4] {
		t.Run(fmt.Sprint("before the handshake, ", i), func(t *testing.T) {
			cfg, log := setup(t, "-stderr="+line)
			launch(t, cfg)
			log.await(t, "INFO "+line)
		})
	}
}

func TestStderrRecordsKeepLevelAndMessage(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"hclog", `{"@level":"warn","@message":"disk is full","@module":"fs","@timestamp":"2026-01-02T03:04:05Z"}`, "WARN disk is full fields=map[@module:fs]"},
		{"hclog trace", `{"@level":"trace","@message":"step"}`, "DEBUG-4 step"},
		{"slog", `{"time":"2026-01-02T03:04:05Z","level":"ERROR","msg":"no such row","n":12345678901234567890}`, "ERROR no such row fields=map[n:12345678901234567890]"},
		{"slog with a call id", `{"time":"2026-01-02T03:04:05Z","level":"DEBUG","msg":"hm","call_id":"c7"}`, "DEBUG hm call=c7 plugin"},
		{"an unknown level", `{"level":"loud","msg":"hm"}`, "INFO hm"},
		{"a message without a level", `{"msg":"hm"}`, `INFO {"msg":"hm"}`},
		{"a crash of Go", "panic: no such city", "ERROR panic: no such city"},
		{"two values", `{"level":"ERROR","msg":"a"} {}`, `INFO {"level":"ERROR","msg":"a"} {}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg, log := setup(t, "-stderr="+test.line)
			launch(t, cfg)
			log.await(t, test.want)
		})
	}
}

// Output of a serving plugin takes another way, but arrives in the same log.
func TestOutputArrivesByEveryWay(t *testing.T) {
	cfg, log := setup(t)
	p := launch(t, cfg)
	do(t, p, arguments{"do": "print", "text": "ahoy"})
	log.await(t, "INFO stdout: ahoy stream=stdout")
	log.await(t, "INFO stderr: ahoy")
	log.await(t, "INFO served stdout: ahoy stream=stdout")
	log.await(t, "INFO served stderr: ahoy")
	tail := p.StderrTail()
	if !slices.Contains(tail, "stderr: ahoy") || !slices.Contains(tail, "served stderr: ahoy") || len(tail) != 2 {
		t.Errorf("the last lines of standard error are %q", tail)
	}
}

// A line of any length on standard output, or one without an end, blocks nothing.
func TestLongLineOnStdoutIsCut(t *testing.T) {
	cfg, log := setup(t)
	p := launch(t, cfg)
	do(t, p, arguments{"do": "long_line", "number": 1 << 20})
	do(t, p, arguments{"do": "long_line", "number": 1 << 20})
	do(t, p, arguments{"do": "print", "text": "its end"})
	line := log.await(t, "INFO xxx", "…[cut]")
	if len(line) > 9<<10 {
		t.Errorf("%d bytes were logged", len(line))
	}
	do(t, p, arguments{"do": "print", "text": "and after it"})
	log.await(t, "stdout: and after it")
}

func TestFloodOfStderrIsBounded(t *testing.T) {
	for name, flood := range map[string]func(t *testing.T) (*recorder, func() []string){
		"before the handshake": func(t *testing.T) (*recorder, func() []string) {
			cfg, log := setup(t, "-flood="+strconv.Itoa(16<<20))
			return log, launch(t, cfg).StderrTail
		},
		"in a call": func(t *testing.T) (*recorder, func() []string) {
			cfg, log := setup(t)
			p := launch(t, cfg)
			do(t, p, arguments{"do": "flood", "number": 16 << 20})
			return log, p.StderrTail
		},
	} {
		t.Run(name, func(t *testing.T) {
			log, tail := flood(t)
			if n := len(tail()); n != 50 {
				t.Errorf("%d lines are kept, want 50", n)
			}
			log.await(t, "WARN the plugin printed more lines than are logged dropped=")
		})
	}
}

// A blocked logger costs lines, not the plugin's time.
func TestSlowLoggerDelaysNoProcess(t *testing.T) {
	cfg, log := setup(t)
	p := launch(t, cfg)
	release := log.hold()
	for range 3 {
		do(t, p, arguments{"do": "flood", "number": 1 << 20})
	}
	release()
	log.await(t, "dropped=")
}

func TestLastWordsAreKept(t *testing.T) {
	cfg, log := setup(t)
	p := launch(t, cfg)
	start(t, p, arguments{"do": "crash", "text": "out of cheese"})
	exit := wait(t, p)
	if !slices.Contains(exit.LastStderr, "panic: out of cheese") {
		t.Errorf("the last lines are %q", exit.LastStderr)
	}
	log.await(t, "ERROR panic: out of cheese")
}

// The last lines of a process that prints one long line and ends include the end of that line, with
// and without a line end.
func TestLastWordsHaveTheEndOfALongLine(t *testing.T) {
	for name, lineEnd := range map[string]string{"with line end": `\n`, "without": ""} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := setup(t)
			script := `printf 'begin %s the reason` + lineEnd + `' "$(head -c 10000 /dev/zero | tr '\0' x)" >&2; exit 3`
			cfg.Path, cfg.Args = "/bin/sh", []string{"-c", script}
			_, err := process.Launch(t.Context(), cfg)
			failure, ok := errors.AsType[*tool.Error](err)
			if !ok || failure.Exit == nil || len(failure.Exit.LastStderr) != 1 {
				t.Fatalf("the launch ended with %+v", err)
			}
			for _, text := range []string{failure.Exit.LastStderr[0], failure.Message} {
				if !strings.Contains(text, "begin xxx") || !strings.Contains(text, "xxx the reason") || len(text) > 9<<10 {
					t.Errorf("of the line remains %q", text)
				}
			}
		})
	}
}

// TestRedactedOutput: output is shown and kept as Redact returns it, also in the error of a failed
// launch. Redaction does not affect the handshake.
func TestRedactedOutput(t *testing.T) {
	cfg, log := setup(t)
	cfg.Redact = func(line string, _, _ bool) string {
		return strings.NewReplacer("cheese", "[…]", "unix", "[…]").Replace(line)
	}
	p := launch(t, cfg)
	start(t, p, arguments{"do": "crash", "text": "out of cheese"})
	exit := wait(t, p)
	if !slices.Contains(exit.LastStderr, "panic: out of […]") {
		t.Errorf("the last lines are %q", exit.LastStderr)
	}
	log.await(t, "ERROR panic: out of […]")

	cfg.Path, cfg.Args = "/bin/sh", []string{"-c", "echo some cheese; echo more cheese >&2; exit 3"}
	_, err := process.Launch(t.Context(), cfg)
	if err == nil || strings.Contains(err.Error(), "cheese") || !strings.Contains(err.Error(), "some […]") {
		t.Errorf("the launch ended with %v", err)
	}
}

// If a crash prints more stacks than toolhost stores, it stores the reason of the panic and the
// last lines. Logging of the stacks is bounded, and the number of dropped lines is logged.
func TestLargeCrashKeepsWhyAndTheLastLines(t *testing.T) {
	const size = 2 << 20
	trace := filepath.Join(t.TempDir(), "trace")
	cfg, log := setup(t, "-trace="+trace)
	p := launch(t, cfg)
	start(t, p, arguments{"do": "crash", "text": "out of cheese", "number": size})
	exit := wait(t, p)
	text, err := os.ReadFile(trace)
	if err != nil || len(text) < size {
		t.Fatalf("the plugin printed %d bytes, %v; want at least %d", len(text), err, size)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	want := append([]string{"panic: out of cheese", fmt.Sprintf("[%d lines are left out]", len(lines)-1-48)}, lines[len(lines)-48:]...)
	if diff := cmp.Diff(want, exit.LastStderr); diff != "" {
		t.Errorf("the last lines (-want +got):\n%s", diff)
	}
	if exit.Code != 2 || exit.Reason != "" {
		t.Errorf("exit %+v", exit)
	}
	log.await(t, "ERROR panic: out of cheese")
	log.await(t, "WARN the plugin printed more lines than are logged dropped=")
}

// If a process prints the text of a panic but continues, its last lines are stored unchanged.
func TestTalkOfAPanicIsNoCrash(t *testing.T) {
	cfg, _ := setup(t, "-stderr=panic: not really", "-flood=100000")
	p := launch(t, cfg)
	p.Kill()
	if exit := wait(t, p); len(exit.LastStderr) != 50 || slices.Contains(exit.LastStderr, "panic: not really") {
		t.Errorf("the last lines are %q", exit.LastStderr)
	}
}

// The tail must not share memory with its reader.
func TestStderrTailIsACopy(t *testing.T) {
	cfg, log := setup(t, "-stderr=first")
	p := launch(t, cfg)
	log.await(t, "first")
	p.StderrTail()[0] = "changed"
	if got := p.StderrTail(); got[0] != "first" {
		t.Errorf("the tail is %q", got)
	}
}

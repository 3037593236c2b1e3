package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/bench/internal/report"
)

// build builds the programs for the smallest run.
func build(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	for dir, packages := range map[string][]string{"../../../server": {"./cmd/toolhost"}, "../..": {"./cmd/echo", "./cmd/echod"}} {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-ldflags=-s -w", "-o", bin + "/"}, packages...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0") // as `make bench` builds them
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("building %v: %v\n%s", packages, err, out)
		}
	}
	return bin
}

func TestTheSmallestRunMakesATable(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	bin := build(t)
	if err := run(t.Context(), options{bin: bin, against: bin, out: dir, parts: "calls", rounds: 1, length: 50 * time.Millisecond,
		only: "connect", callers: "2", sizes: "1024"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Answers of 1024 bytes, callers at once: 2", "two gRPC hops, bare", "toolhost, Connect", "toolhost, Connect, before"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in the table:\n%s", want, &out)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var results report.Results
	if err := json.Unmarshal(text, &results); err != nil {
		t.Fatal(err)
	}
	if len(results.Tables) != 1 {
		t.Fatalf("%d tables in results.json, want 1", len(results.Tables))
	}
	for _, key := range []string{"relay", "connect", "connect-before"} {
		if s := results.Tables[0].Samples[key]; len(s) != 1 || s[0].Calls == 0 || s[0].P50 <= 0 || s[0].P99 < s[0].P50 || s[0].Rate <= 0 {
			t.Errorf("samples of %s: %+v, want one with calls in it", key, s)
		}
		if len(results.Memory[key]) == 0 {
			t.Errorf("no memory of the processes of %s", key)
		}
	}
	if drawn, _ := filepath.Glob(filepath.Join(dir, "*.svg")); len(drawn) != 1 {
		t.Errorf("plots: %v, want the one of throughput: there was never one caller alone", drawn)
	}
}

func TestReportNamesWhatCannotBeMeasured(t *testing.T) {
	for name, o := range map[string]options{
		"no such part": {parts: "calls,weather"},
		"no programs":  {parts: "calls", bin: t.TempDir(), callers: "1", sizes: "1"},
		"no part":      {parts: ""},
	} {
		t.Run(name, func(t *testing.T) {
			o.out = t.TempDir()
			if err := run(t.Context(), o, new(bytes.Buffer)); err == nil {
				t.Error("no error")
			}
		})
	}
	for _, list := range []string{"", "0", "1,,2", "many"} {
		if _, err := numbers(list); err == nil {
			t.Errorf("numbers(%q): no error", list)
		}
	}
}

package auditlog_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/auditlog"
	"github.com/toolhost/toolhost/tool"
)

// run runs the command and returns its output.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	p := cli.Process{Args: args, Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
	cmd := auditlog.NewCommand(p)
	cmd.SetArgs(args)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(context.Background())
	return out.String(), err
}

func TestVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := audit.Open(audit.Config{File: path})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := l.Note(t.Context(), audit.Event{Kind: audit.OfAdministration, Principal: "red/ada", From: "unix", Act: "restart", Target: "fs", Outcome: audit.Allowed}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, "verify", path)
	if err != nil || !strings.Contains(out, "3 lines in 1 file, from 1 to 3: none was changed") {
		t.Fatalf("%s%v", out, err)
	}
	head := strings.TrimSpace(out[strings.LastIndex(out, "is ")+3:])
	if out, err := run(t, "verify", "--expect", head, path); err != nil {
		t.Errorf("%s%v", out, err)
	}
	out, err = run(t, "search", "--file", path, "--principal", "red/ada", "--last", "1")
	if err != nil || !strings.HasPrefix(out, "3 ") || !strings.Contains(out, "allowed            red/ada at unix wanted restart fs\n") {
		t.Errorf("%q, %v", out, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string][]byte{
		"a changed line":     bytes.Replace(text, []byte("ada"), []byte("bob"), 1),
		"a missing last one": text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1],
	} {
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := run(t, "verify", "--expect", head, path)
		if exit, ok := errors.AsType[*cli.ExitError](err); !ok || exit.Code != cli.ExitToolError || !strings.Contains(out, path+":") {
			t.Errorf("%s: %s%v", name, out, err)
		}
	}
	if _, err := run(t, "verify", "--expect", "3:x", path); err == nil || !strings.Contains(err.Error(), "SEQ:SHA256") {
		t.Errorf("an ill-formed head: %v", err)
	}
}

// A line is foreign text: what it contains cannot control a terminal or begin a line.
func TestTextIsEscaped(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(time.RFC3339)
	got := auditlog.Text(tool.AuditLine{Seq: 1, Line: []byte(`{"seq":1,"time":"` + at + `","decision":"denied","principal":"a","tool":"x\u001b[31m","call_id":"c\n2      forged","reason":"no"}`)})
	if strings.ContainsAny(got, "\x1b\n") || !strings.Contains(got, "denied") || !strings.HasSuffix(got, ": no") {
		t.Errorf("%q", got)
	}
}

package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// A server chooses the texts of its version. They neither steer the terminal nor fill it.
func TestStatusOfAHostileServer(t *testing.T) {
	evil := "\x1b]0;owned\a\r\nreleased \u202e" + strings.Repeat("A", 3<<20)
	server := tool.VersionInfo{Version: evil, Commit: evil, Contracts: tool.Contracts{Plugin: evil, Host: evil, Agent: evil, Workspace: evil}}
	for name, asJSON := range map[string]bool{"text": false, "json": true} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := cli.Process{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
			if err := cli.WriteStatus(p, cli.Status{Program: cli.Toolhost, Address: "unix:///s", Server: server}, asJSON); err != nil {
				t.Fatal(err)
			}
			if out.Len() > 3000 {
				t.Errorf("the status has %d bytes", out.Len())
			}
			if i := strings.IndexAny(out.String(), "\x1b\a\r"); i >= 0 {
				t.Errorf("the status has a control character: %q", out.String()[i:i+10])
			}
			if lines := strings.Count(out.String(), "\n"); !asJSON && lines != 4 || asJSON && lines > 12 {
				t.Errorf("the status has %d lines:\n%s", lines, out.String())
			}
		})
	}
}

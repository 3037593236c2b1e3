package commands

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// A program in a folder that tools of a shared toolhost may write is named, also behind a link.
func TestWarnOfReach(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "ws", "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "ws", "bin"), filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	folders := tool.Folders{Writable: []string{filepath.Join(dir, "ws")}}
	for program, want := range map[string]bool{"ws/agentd": true, "ws/bin/agentd": true, "linked/agentd": true, "bin/agentd": false, "ws2/agentd": false} {
		var log bytes.Buffer
		warnOfReach(slog.New(slog.NewTextHandler(&log, nil)), filepath.Join(dir, program), "unix:///s", folders)
		if got := strings.Contains(log.String(), "move it to another folder"); got != want {
			t.Errorf("%s: %q", program, log.String())
		}
	}
}

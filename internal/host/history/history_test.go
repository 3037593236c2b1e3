package history

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

func open(t *testing.T, path string) *Log {
	t.Helper()
	l, err := Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func crash(n int) Entry {
	return Entry{Exit: &Exit{Plugin: "p", PluginExit: tool.PluginExit{
		Instance: fmt.Sprintf("p-%d", n), Exit: tool.Exit{Code: 3, LastStderr: []string{strings.Repeat("x", 500)}},
		Calls: []tool.ExitCall{{CallID: fmt.Sprintf("c-%d", n), Tool: "t", Principal: "uid:7"}},
	}}}
}

// The history outlives its writer, also if the last line is incomplete and another line is no
// entry.
func TestHistoryOutlivesItsWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "history.jsonl")
	l := open(t, path)
	l.Append(crash(1))
	l.Append(Entry{Event: &tool.PluginEvent{Type: "plugin_quarantined", Plugin: "p", Reason: "why"}})
	l.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "{}\nno entry\n{\"exit\":{\"plug")
	f.Close()
	l = open(t, path)
	l.Append(crash(2))
	l.Close()
	l = open(t, path)
	past := l.Past()
	if len(past) != 3 || past[0].Exit.Calls[0].CallID != "c-1" || past[1].Event.Reason != "why" || past[2].Exit.Instance != "p-2" {
		t.Errorf("the history is %+v", past)
	}
}

// The file is bounded, and the newest entries stay.
func TestHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	l := open(t, path)
	const entries = 2*maxBytes/500 + 7
	for n := range entries {
		if err := l.write(crash(n)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) > maxBytes || len(data) < maxBytes/2-1000 {
		t.Errorf("the file has %d bytes (%v)", len(data), err)
	}
	if !bytes.Contains(data, fmt.Appendf(nil, `"p-%d"`, entries-1)) || bytes.Contains(data, []byte(`"p-0"`)) {
		t.Error("what stays is not what is newest")
	}
}

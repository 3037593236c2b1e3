//go:build more

package barecontract

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// shortFolder returns a folder with a short path, because a socket path is limited to about 100
// bytes.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bare-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// testLife checks that a plugin that receives a shutdown request exits with code 0, whatever it is
// doing.
func testLife(t *testing.T, p program) {
	t.Run("stopped when idle", func(t *testing.T) {
		launched := launch(t, p)
		if err := launched.Stop(t.Context(), patience); err != nil {
			t.Fatal(err)
		}
		checkExit(t, launched.Exit())
	})
	t.Run("stopped at work", func(t *testing.T) {
		launched := launch(t, p)
		w := wire{launched.Conn()}
		waiting := open(t, w, tool.Call{Tool: "wait", Arguments: json.RawMessage(`{}`)}, true)
		defer waiting.Close()
		nextStatus(t, waiting)
		sending := open(t, w, largeCall(blocksOf(1<<20)), true)
		defer sending.Close()
		half := open(t, w, tool.Call{Tool: "draft", Arguments: json.RawMessage(`{"text":"ha`)}, false)
		defer half.Close()
		nextStatus(t, half)
		if err := launched.Stop(t.Context(), patience); err != nil {
			t.Fatal(err)
		}
		checkExit(t, launched.Exit())
		if _, err := waiting.Next(t.Context()); !errors.Is(err, pluginwire.ErrConnLost) {
			t.Errorf("the call at work ended with %v, want that the connection is lost", err)
		}
	})
}

func checkExit(t *testing.T, exit tool.Exit) {
	t.Helper()
	if exit.Code != 0 || exit.Signal != "" {
		t.Errorf("it ended with %v, want exit code 0; its last words: %q", exit, exit.LastStderr)
	}
}

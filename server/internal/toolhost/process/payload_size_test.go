//go:build !race

package process_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/process/fault"
	"github.com/toolhost/toolhost/tool"
)

// A result of any size arrives in pieces. Where it is allowed, it arrives unchanged, and other
// calls go on meanwhile.
func TestLargeResult(t *testing.T) {
	for kind, large := range map[string]struct {
		size    int // the others travel like text, in hundreds of pieces
		content func(c tool.Content) []byte
	}{
		"text": {hundredMiB, func(c tool.Content) []byte { return []byte(c.Text) }},
		"json": {tenMiB, func(c tool.Content) []byte { return c.JSON }},
		"file": {tenMiB, func(c tool.Content) []byte { return c.Data }},
	} {
		t.Run(kind, func(t *testing.T) {
			want := fault.Payload(large.size)
			cfg, _ := setup(t)
			cfg.Conn.MaxResultBytes = large.size + 1<<20
			p := launch(t, cfg)
			call := start(t, p, arguments{"do": "large", "text": kind, "number": large.size})
			checkEcho(t, p) // while the test does not read the large one
			end := finish(t, call)
			if end.Err != nil || len(end.Result.Content) != 1 {
				t.Fatalf("the call ends with %v and %d blocks", end.Err, len(end.Result.Content))
			}
			got := large.content(end.Result.Content[0])
			if kind == "json" { // its two quotes replace two letters
				got = bytes.Join([][]byte{want[:1], got[1 : len(got)-1], want[len(want)-1:]}, nil)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("of %d bytes %d arrived, and not the same", len(want), len(got))
			}
			checkEcho(t, p)
		})
	}
}

// Where the size is not allowed, toolhost stops at the limit, and never holds more.
func TestLargeResultBeyondTheLimit(t *testing.T) {
	const limit = 1 << 20
	for _, kind := range []string{"text", "json", "file"} {
		t.Run(kind, func(t *testing.T) {
			cfg, _ := setup(t)
			cfg.Conn.MaxResultBytes = limit
			p := launch(t, cfg)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			end := finish(t, start(t, p, arguments{"do": "large", "text": kind, "number": hundredMiB}))
			runtime.ReadMemStats(&after)
			if end.Err == nil || end.Err.Kind != tool.KindInternal || !strings.Contains(end.Err.Error(), "the tool's result is larger than the 1048576 bytes that are allowed") {
				t.Errorf("the call ends with %v", end.Err)
			}
			// All memory that was ever allocated, copies of growing buffers included: an upper
			// bound of what was held at once.
			if used := after.TotalAlloc - before.TotalAlloc; used > hundredMiB/2 {
				t.Errorf("toolhost allocated %d MiB for a result of at most %d", used>>20, limit>>20)
			}
			checkEcho(t, p)
		})
	}
}

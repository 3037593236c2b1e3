package process_test

import (
	"testing"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

const tenMiB, hundredMiB = 10 << 20, 100 << 20

// finish reads a call to its end.
func finish(t *testing.T, call *pluginwire.Call) tool.Outcome {
	t.Helper()
	for {
		event, err := call.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if event.Ended != nil {
			return *event.Ended
		}
	}
}

// A reader ends an endless stream, with or without the plugin's cooperation, and disturbs no other
// call.
func TestSlowStreamIsCancelledInTheMiddle(t *testing.T) {
	for _, kind := range []string{"obedient", "deaf"} {
		t.Run(kind, func(t *testing.T) {
			cfg, _ := setup(t)
			p := launch(t, cfg)
			call := start(t, p, arguments{"do": "drip", "text": kind})
			for _, want := range "abc" {
				event, err := call.Next(t.Context())
				if err != nil || event.Log == nil || event.Log.Message != string(want) {
					t.Fatalf("Next = %+v, %v; want the letter %c", event, err, want)
				}
			}
			checkEcho(t, p)
			call.Cancel("enough")
			if kind == "obedient" {
				if end := finish(t, call); end.Err == nil || end.Err.Kind != tool.KindCancelled {
					t.Errorf("the call ends with %v", end.Err)
				}
			} else {
				call.Close()
				if _, err := outcome(t.Context(), call); tool.KindOf(err) != tool.KindCancelled {
					t.Errorf("the closed call says %v", err)
				}
			}
			checkEcho(t, p)
		})
	}
}

// A reader that leaves while data is in transit leaves nothing behind.
func TestReaderLeavesALargeResult(t *testing.T) {
	cfg, _ := setup(t)
	cfg.Conn.MaxResultBytes = hundredMiB
	p := launch(t, cfg)
	call := start(t, p, arguments{"do": "large", "text": "file", "number": hundredMiB})
	checkEcho(t, p) // so that data is in transit
	call.Close()
	checkEcho(t, p)
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if exit := p.Exit(); exit.Code != 0 || exit.Signal != "" {
		t.Errorf("exit %+v, want a gentle end", exit)
	}
}

func checkEcho(t *testing.T, p *process.Process) {
	t.Helper()
	if got := do(t, p, arguments{"do": "echo", "text": "hello"}); got != "hello" {
		t.Errorf("the call says %q", got)
	}
}

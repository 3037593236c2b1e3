package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// The ledger keeps the outcome of a call without its arguments, and counts the bytes of the outcome
// only.
func TestLedgerKeepsNoArguments(t *testing.T) {
	r := newRig(t, []hosttest.Tool{{
		Spec: tool.Spec{Name: "swallow", Description: "Takes much and says little.", ReadOnly: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.TextResult("gone"), nil
		},
	}}, nil)
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const size, calls = 256 << 10, 40
	do := func(id string) {
		c := call("swallow", `{"text":"`+strings.Repeat("x", size)+`"}`)
		c.ID = id
		if got := outcome(t, r, c); got.Err != nil || got.Result.Text() != "gone" {
			t.Fatalf("the call ended with %+v", got)
		}
	}
	do("warm")
	before := heap()
	for i := range calls {
		do(fmt.Sprint("large-", i))
	}
	if grown := heap() - before; grown > calls*size/4 {
		t.Errorf("%d calls with %d bytes of arguments are remembered in %d bytes", calls, size, grown)
	}
}

// The ledger counts all parts of an outcome, not only the content of a result.
func TestLedgerCountsWhatItKeeps(t *testing.T) {
	large := json.RawMessage(`"` + strings.Repeat("x", 2000) + `"`)
	for name, kept := range map[string]struct {
		result  tool.Result
		context map[string]json.RawMessage
		err     error
	}{
		"metadata": {result: tool.Result{Metadata: map[string]json.RawMessage{"notes": large}}},
		"effects":  {result: tool.Result{Effects: []tool.Effect{{Key: "k", Value: large}}}},
		"context":  {context: map[string]json.RawMessage{"user": large}},
		"errors":   {err: tool.Errorf(tool.KindInternal, "%s", large)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ran atomic.Int32
				r := newRig(t, []hosttest.Tool{{
					Spec: tool.Spec{Name: "say", Description: "Says something.", ReadOnly: true, EffectKeys: []string{"k"}},
					Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
						ran.Add(1)
						return kept.result, kept.err
					},
				}}, func(c *host.Config) { c.MaxLedgerBytes = 1500 })
				for range 2 {
					synctest.Wait() // until the call before has ended
					c := call("say", "{}")
					c.ID, c.Context = "large", kept.context
					if got := outcome(t, r, c); got.Replayed {
						t.Errorf("more is remembered than there is room for: %+v", got)
					}
				}
				if ran.Load() != 2 {
					t.Errorf("the tool ran %d times", ran.Load())
				}
			})
		})
	}
}

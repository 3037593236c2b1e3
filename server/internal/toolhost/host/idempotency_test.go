package host_test

import (
	"context"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/tool"
)

// An MCP server does not get the ids that callers chose, which two principals may choose alike. Any
// other plugin does.
func TestAnMCPServerGetsNoIDOfACaller(t *testing.T) {
	for _, server := range []bool{true, false} {
		var mu sync.Mutex
		seen := map[string]int{}
		r := newRig(t, []hosttest.Tool{{Spec: tool.Spec{Name: "ask", Description: "Answers."}, Run: func(_ context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			seen[c.ID]++
			return tool.TextResult("done"), nil
		}}}, func(cfg *host.Config) {
			if server {
				cfg.Catalog.Snapshot().Tool("ask").Plugin.Manifest = &manifest.Manifest{MCP: &manifest.MCP{}}
			}
		})
		for _, principal := range []string{"uid:7", "red/ada"} {
			c := call("ask", "{}")
			c.ID, c.Principal = "order-17", principal
			if got := outcome(t, r, c); got.Err != nil {
				t.Fatal(got.Err)
			}
		}
		want := map[bool]int{true: 2, false: 1}[server]
		if len(seen) != want || (seen["order-17"] > 0) == server {
			t.Errorf("an MCP server: %t; the ids of the calls were %v", server, seen)
		}
	}
}

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// twoTeams lets this user act for the members of two tenants, and gives one of them small quotas.
const twoTeams = `
auth:
  bindings:
    - {role: admin, principals: ["uid:%[1]d"], tenants: [all]}
    - {role: delegate, principals: ["uid:%[1]d"], tenants: [all]}
    - {role: caller, members_of: [blue], tools: [fault]}
    - {role: caller, members_of: [red], tools: [fault]}
quotas:
  tenants: {red: {concurrent_calls: 20, artifact_bytes: 1MiB}}
  principals: {red/full: {starts_per_minute: 1}}
`

// A tenant does its worst: it floods toolhost, requests huge results, hangs, ends the processes of
// a plugin that all tenants use, and has full quotas. No call of another tenant fails, and no list
// or answer shows a tenant what belongs to the other.
func TestACalmTenant(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	write(t, filepath.Join(h.home, "toolhost.yaml"), fmt.Sprintf(twoTeams, os.Getuid()), 0o600)
	h.serve(t)
	do := func(c *client.Client, tenant, name, action string, number int) (tool.Outcome, error) {
		ctx := client.OnBehalfOf(t.Context(), client.Principal{Tenant: tenant, Name: name})
		arguments, err := json.Marshal(map[string]any{"do": action, "text": "hello", "number": number})
		if err != nil {
			t.Fatal(err)
		}
		timeout := patience
		if tenant == "red" {
			timeout = 200 * time.Millisecond
		}
		return c.Call(ctx, tool.Call{Tool: "fault", Arguments: arguments, Timeout: timeout})
	}
	calm := h.dial(t)
	ctx, stop := context.WithCancel(t.Context())
	var hostile sync.WaitGroup
	var full, crashed, failed atomic.Int64
	for _, kind := range []struct {
		callers      int
		name, action string
		number       int
	}{{8, "flood", "echo", 0}, {4, "huge", "large", 3 << 20}, {4, "hung", "ignore", 0}, {2, "crashes", "exit", 3}, {10, "full", "echo", 0}} {
		c := h.dial(t)
		for range kind.callers {
			hostile.Go(func() { // ends when the calm tenant has finished
				for ctx.Err() == nil {
					_, err := do(c, "red", kind.name, kind.action, kind.number)
					switch {
					case err != nil && strings.Contains(err.Error(), "its quota"):
						full.Add(1)
					case tool.KindOf(err) == tool.KindCrashed || tool.KindOf(err) == tool.KindOutcomeUnknown:
						crashed.Add(1)
					case err != nil:
						failed.Add(1)
					}
				}
			})
		}
	}
	const enough, most = 300, 30_000 // the hostile calls begin meanwhile
	for n := 0; n < enough || n < most && (full.Load() == 0 || crashed.Load() == 0); n++ {
		if got, err := do(calm, "blue", "bob", "echo", n); err != nil || got.Result.IsError {
			t.Errorf("call %d of the calm tenant: %+v, %v", n, got.Result, err)
			break
		}
	}
	stop()
	hostile.Wait()
	if full.Load() == 0 || crashed.Load() == 0 {
		t.Error("the hostile tenant did not meet a quota, or ended no process")
	}
	t.Logf("%d calls of the hostile tenant met a quota, %d crashed, %d failed otherwise", full.Load(), crashed.Load(), failed.Load())
	red, err := h.looks.Admin().Calls(t.Context(), tool.CallQuery{Tenants: tool.Tenants{"red"}, PageSize: 1000})
	if err != nil || len(red.Calls) == 0 {
		t.Errorf("%d calls of the hostile tenant are listed: %v", len(red.Calls), err)
	}
	blue, err := h.looks.Admin().Calls(t.Context(), tool.CallQuery{Tenants: tool.Tenants{"blue"}, PageSize: 1000})
	if err != nil {
		t.Error(err)
	}
	for _, c := range append(red.Calls, blue.Calls...) {
		if !strings.HasPrefix(c.Principal, "red/") && !strings.HasPrefix(c.Principal, "blue/bob") {
			t.Errorf("listed is %+v", c)
		}
	}
	_, err = calm.GetTool(client.OnBehalfOf(t.Context(), client.Principal{Tenant: "blue", Name: "bob"}), "fs_read", tool.Viewer{})
	if tool.KindOf(err) != tool.KindNotFound || !strings.Contains(err.Error(), `there is no tool "fs_read"`) || !strings.HasSuffix(err.Error(), "there are: fault") {
		t.Errorf("a tool that the calm tenant may not use: %v", err)
	}
}

package host_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// A tenant with a full quota gets rate_limited errors that name the quota, before anything is
// executed. Calls of other tenants do not notice, and each end of a call frees its place.
func TestAFullQuotaRefusesItsTenantOnly(t *testing.T) {
	r := newRig(t, hosttest.Tools(), func(cfg *host.Config) {
		cfg.Quotas = &throttle.Quotas{Tenant: throttle.Quota{ConcurrentCalls: 2, StartsPerMinute: 50}}
	})
	of := func(principal, name, arguments string) tool.Call {
		c := call(name, arguments)
		c.Principal = principal
		return c
	}
	var waiting []tool.Execution
	for _, principal := range []string{"red/ada", "red/bob"} {
		e, err := r.Open(t.Context(), of(principal, "wait", `{"key":"red"}`), true)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		waiting = append(waiting, e)
	}
	refused := func(err *tool.Error) {
		t.Helper()
		if err == nil || err.Kind != tool.KindRateLimited || err.RetryAfter != time.Second ||
			!strings.Contains(err.Message, "the tenant red has 2 calls in progress, which is its quota concurrent_calls; nothing was executed") {
			t.Errorf("a third call of red: %v", err)
		}
	}
	refused(failureOf(t.Context(), t, r, of("red/eve", "echo", `{"text":"x"}`)))
	_, err := r.Open(t.Context(), of("red/eve", "wait", `{"key":"k"}`), false)
	refused(tool.AsError(err))
	for range 10 {
		if err := failureOf(t.Context(), t, r, of("blue/eve", "echo", `{"text":"x"}`)); err != nil {
			t.Errorf("a call of blue: %v", err)
		}
	}
	for _, e := range waiting {
		e.Cancel("enough")
		end(t, e)
	}
	// All ways to end free the place: a result, an error of the tool, bad arguments, a refusal, and
	// an attached call.
	for range 5 {
		for _, c := range []tool.Call{of("red/eve", "echo", `{"text":"x"}`), of("red/eve", "fail", `{"message":"no"}`), of("red/eve", "echo", `{`), of("red/eve", "danger", `{}`), of("red/eve", "count", `{"key":"k"}`)} {
			if c.Tool == "count" {
				c.ID = "same"
			}
			if err := failureOf(t.Context(), t, r, c); err != nil && err.Kind == tool.KindRateLimited {
				t.Errorf("a later call of red: %v", err)
			}
		}
	}
	full := 0
	for range 40 {
		if err := failureOf(t.Context(), t, r, of("red/eve", "echo", `{"text":"x"}`)); err != nil && strings.Contains(err.Message, "quota starts_per_minute") {
			full++
		}
	}
	if full != 17 { // 2 and 25 have begun
		t.Errorf("%d of 40 calls were refused, want 17", full)
	}
}

// oneEach gives each scope one start, and hangs for the tenant gone.
type oneEach struct{ scopes sync.Map }

func (o *oneEach) TakeStarts(ctx context.Context, scope string, _, _ int, _ time.Duration) (starts int, wait time.Duration, err error) {
	if scope == "tenant gone" {
		<-ctx.Done()
		return 0, 0, ctx.Err()
	}
	if _, taken := o.scopes.LoadOrStore(scope, true); taken {
		return 0, 30 * time.Second, nil
	}
	return 1, 0, nil
}

// Two hosts count the starts of a tenant together. A call that is refused executes nothing, and has
// no place in the quota of calls in progress.
func TestTwoHostsCountStartsTogether(t *testing.T) {
	starts := &oneEach{}
	share := func(cfg *host.Config) {
		cfg.Starts = starts
		cfg.Quotas = &throttle.Quotas{Tenant: throttle.Quota{StartsPerMinute: 50, ConcurrentCalls: 1}}
	}
	a, b := newRig(t, hosttest.Tools(), share), newRig(t, hosttest.Tools(), share)
	for _, step := range []struct {
		rig  *rig
		full string
	}{{a, ""}, {b, "the tenant red has no start left"}, {b, "the tenant red has no start left"}, {a, "the tenant red has no start left"}} {
		c := call("echo", `{"text":"x"}`)
		c.Principal = "red/ada"
		switch err := failureOf(t.Context(), t, step.rig, c); {
		case step.full == "" && err != nil:
			t.Error(err)
		case step.full != "" && (err == nil || err.Kind != tool.KindRateLimited || err.RetryAfter < 20*time.Second || !strings.Contains(err.Message, step.full) || err.CallID == ""):
			t.Errorf("%v; want %q", err, step.full)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := call("echo", `{"text":"x"}`)
	c.Principal = "gone/ada"
	if err := failureOf(ctx, t, a, c); err == nil || err.Kind != tool.KindCancelled {
		t.Errorf("a call that is canceled while it waits: %v", err)
	}
}

// The quotas of launches, ids and artifacts refuse only their own tenant.
func TestQuotasOfProcessesAndDisks(t *testing.T) {
	disk, artifacts := withDisk(t, t.TempDir()), withArtifacts(t)
	r := newRig(t, hosttest.Tools(), func(cfg *host.Config) {
		disk(cfg)
		artifacts(cfg)
		cfg.Lifecycle = func(string) lifecycle.Config { return lifecycle.Config{Isolation: lifecycle.PerCall} }
		cfg.Quotas = &throttle.Quotas{Tenants: map[string]throttle.Quota{
			"green": {LaunchesPerMinute: 2}, "red": {CallIDs: 1, ArtifactBytes: 400_000},
		}}
	})
	of := func(principal, id, name, arguments string) tool.Call {
		c := call(name, arguments)
		c.Principal, c.ID = principal, id
		return c
	}
	for _, tenant := range []string{"green", "blue"} {
		for i := range 3 {
			err := failureOf(t.Context(), t, r, of(tenant+"/ada", "", "echo", `{"text":"x"}`))
			switch full := tenant == "green" && i == 2; {
			case full && (err == nil || err.Kind != tool.KindRateLimited || err.RetryAfter <= 0 || !strings.Contains(err.Message, "quota launches_per_minute")):
				t.Errorf("the third launch of green: %v", err)
			case !full && err != nil:
				t.Errorf("launch %d of %s: %v", i, tenant, err)
			}
		}
	}
	for _, tenant := range []string{"red", "blue"} {
		for _, id := range []string{"1", "2"} {
			err := failureOf(t.Context(), t, r, of(tenant+"/ada", id, "count", `{"key":"`+tenant+id+`"}`))
			switch full := tenant == "red" && id == "2"; {
			case full && (err == nil || err.Kind != tool.KindRateLimited || err.RetryAfter <= 0 || !strings.Contains(err.Message, "quota call_ids")):
				t.Errorf("the second id of red: %v", err)
			case !full && err != nil:
				t.Errorf("id %s of %s: %v", id, tenant, err)
			}
		}
		var handles []string
		for range 2 {
			got := outcome(t, r, of(tenant+"/ada", "", "large", `{"bytes":300000,"kind":"text"}`))
			if len(got.Result.Content) < 2 || got.Result.Content[1].Artifact == nil {
				t.Fatalf("the result is %+v", got)
			}
			handles = append(handles, got.Result.Content[1].Artifact.Handle)
		}
		_, err := r.ReadArtifact(t.Context(), tool.ArtifactQuery{Principal: tenant + "/ada", Handle: handles[0]})
		if (err == nil) != (tenant == "blue") {
			t.Errorf("the first artifact of %s after the second: %v", tenant, err)
		}
	}
}

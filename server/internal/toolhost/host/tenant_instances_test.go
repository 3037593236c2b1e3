package host_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// of returns a call of a principal.
func of(principal, name string) tool.Call {
	c := call(name, "{}")
	c.Principal = principal
	return c
}

// owned returns a host whose tool says whose calls its process serves, and the number of the
// process.
func owned(t *testing.T, change func(*host.Config)) *rig {
	t.Helper()
	spec := tool.Spec{Name: "whose", Description: "Says whose calls the process serves.", ReadOnly: true}
	r := newRig(t, []hosttest.Tool{{Spec: spec}}, change)
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		owner, number := supervisor.LaunchOwner(ctx), r.started()
		answer := fmt.Sprintf("%d %s %s %s", number, owner.Tenant, owner.Principal, owner.Session)
		run := func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.TextResult(answer), nil
		}
		return r.start(ctx, hosttest.NewPlugin([]hosttest.Tool{{Spec: spec, Run: run}}))
	}
	return r
}

// An instance serves one tenant: the calls of its principals share it, and those of other tenants
// never reach it.
func TestInstancesServeOneTenant(t *testing.T) {
	r := owned(t, nil)
	for _, tc := range [][2]string{
		{"ada", "0 default  "}, {"red/ada", "1 red  "}, {"red/bob", "1 red  "}, {"blue/ada", "2 blue  "}, {"bob", "0 default  "}, {"red/ada", "1 red  "},
	} {
		if got := outcome(t, r, of(tc[0], "whose")); got.Err != nil || got.Result.Text() != tc[1] {
			t.Errorf("the call of %s had the process %q, %v, and not %q", tc[0], got.Result.Text(), got.Err, tc[1])
		}
	}
	instances, err := r.Instances(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, in := range instances {
		got[in.ID] = in.Tenant
	}
	if diff := cmp.Diff(map[string]string{"fixture-1": "default", "fixture-2": "red", "fixture-3": "blue"}, got); diff != "" {
		t.Errorf("tenants of instances (-want +got):\n%s", diff)
	}
}

// A tenant whose calls crash the plugin is quarantined alone.
func TestQuarantineHoldsForOneTenant(t *testing.T) {
	spec := tool.Spec{Name: "whose", Description: "Ends the process for one tenant."}
	r := newRig(t, []hosttest.Tool{{Spec: spec}}, func(c *host.Config) {
		c.Settings.Lifecycle = func(string) lifecycle.Config { return lifecycle.Config{MaxCrashes: 1, ProbeAfter: -1} }
	})
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		red, number := supervisor.LaunchOwner(ctx).Tenant == "red", r.started()
		run := func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			if red {
				r.process(number).End(tool.Exit{Code: 3})
				return tool.Result{}, errors.New("it crashed")
			}
			return tool.TextResult("fine"), nil
		}
		return r.start(ctx, hosttest.NewPlugin([]hosttest.Tool{{Spec: spec, Run: run}}))
	}
	before := outcome(t, r, of("ada", "whose"))
	if got := outcome(t, r, of("red/ada", "whose")); got.Err == nil {
		t.Fatalf("the crash ended with %+v", got)
	}
	if got := outcome(t, r, of("red/bob", "whose")); tool.KindOf(got.Err) != tool.KindUnavailable {
		t.Errorf("a call of the tenant in quarantine ended with %+v", got)
	}
	for _, principal := range []string{"ada", "blue/ada"} {
		if got := outcome(t, r, of(principal, "whose")); got.Err != nil || before.Err != nil {
			t.Errorf("a call of %s ended with %v", principal, got.Err)
		}
	}
	plugins, err := r.Plugins(t.Context())
	if err != nil || plugins[0].State != tool.PluginQuarantined {
		t.Errorf("the operator sees %+v, %v", plugins, err)
	}
	for e, err := range r.WatchEvents(t.Context(), tool.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == string(lifecycle.EventQuarantined) && e.Tenant != "red" {
			t.Errorf("the quarantine is one of %q", e.Tenant)
		}
	}
	if err := r.ClearQuarantine(t.Context(), plugins[0].Name); err != nil {
		t.Error(err)
	}
	if plugins, _ := r.Plugins(t.Context()); plugins[0].State != tool.PluginEnabled {
		t.Errorf("after it was cleared: %s, %s", plugins[0].State, plugins[0].Reason)
	}
}

// A new revision serves all tenants, and so does a restart. No call fails meanwhile.
func TestUpgradeReachesEveryTenant(t *testing.T) {
	u := newRelease(t)
	all := []string{"ada", "red/ada", "blue/ada"}
	version := func(want string) {
		t.Helper()
		for _, principal := range all {
			if got := outcome(t, u.rig, of(principal, "version")); got.Err != nil || got.Result.Text() != want {
				t.Errorf("a call of %s ended with %q, %v, and not %q", principal, got.Result.Text(), got.Err, want)
			}
		}
	}
	version("1")
	u.install("2")
	if done, err := u.Reload(t.Context()); err != nil || !slices.Equal(done.Upgraded, []string{"versioned"}) {
		t.Fatalf("%+v, %v", done, err)
	}
	version("2")
	if u.started() != 6 {
		t.Errorf("%d processes were started, and not one for each tenant and revision", u.started())
	}
	if done, err := u.Restart(t.Context(), "versioned", "", false); err != nil || len(done.Started) != 3 {
		t.Errorf("the restart: %+v, %v", done, err)
	}
	u.install("broken")
	if done, err := u.Reload(t.Context()); err != nil || len(done.Failures) != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	version("2")
}

// A reload also waits for an upgrade that began without it, until all tenants have the new
// revision.
func TestReloadWaitsForEveryTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newRelease(t)
		defer u.Close()
		all := []string{"ada", "red/ada", "blue/ada"}
		for _, principal := range all {
			outcome(t, u.rig, of(principal, "version"))
		}
		u.install("slow")
		first := make(chan error)
		go func() { // ends at the end of the upgrade
			_, err := u.Reload(t.Context())
			first <- err
		}()
		time.Sleep(slowness + slowness/2) // one tenant has the new revision, and the others start it
		synctest.Wait()
		if _, err := u.Reload(t.Context()); err != nil {
			t.Error(err)
		}
		for _, principal := range all {
			if got := outcome(t, u.rig, of(principal, "version")); got.Err != nil || got.Result.Text() != "slow" {
				t.Errorf("after the reload, %s has %q, %v", principal, got.Result.Text(), got.Err)
			}
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// A pause holds for tenants that use the plugin later, too.
func TestPauseHoldsForEveryTenant(t *testing.T) {
	r := owned(t, nil)
	outcome(t, r, of("ada", "whose"))
	plugins, _ := r.Plugins(t.Context())
	if err := r.Pause(t.Context(), plugins[0].Name, ""); err != nil {
		t.Fatal(err)
	}
	for _, principal := range []string{"ada", "red/ada"} {
		if got := outcome(t, r, of(principal, "whose")); tool.KindOf(got.Err) != tool.KindUnavailable {
			t.Errorf("a call of %s ended with %+v", principal, got)
		}
	}
	if err := r.Resume(t.Context(), plugins[0].Name); err != nil {
		t.Fatal(err)
	}
	for _, principal := range []string{"ada", "red/ada"} {
		if got := outcome(t, r, of(principal, "whose")); got.Err != nil {
			t.Error(got.Err)
		}
	}
}

// The number of supervisors does not grow with the number of tenants that ever called.
func TestManyTenantsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := owned(t, func(c *host.Config) {
			c.Settings.Lifecycle = func(string) lifecycle.Config { return lifecycle.Config{IdleTimeout: time.Minute} }
		})
		for i := range 300 {
			if got := outcome(t, r, of(fmt.Sprintf("t%d/ada", i), "whose")); got.Err != nil {
				t.Fatal(got.Err)
			}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
		}
		if n := r.Tenants("fixture"); n > 70 {
			t.Errorf("%d supervisors are left", n)
		}
		plugins, _ := r.Plugins(t.Context())
		if plugins[0].Launches != 300 || len(plugins[0].RecentExits) != 10 {
			t.Errorf("operators see %d launches and %d exits", plugins[0].Launches, len(plugins[0].RecentExits))
		}
		if got := outcome(t, r, of("t1/ada", "whose")); got.Err != nil {
			t.Error(got.Err)
		}
	})
}

// With isolation by principal or session, an instance serves one of them.
func TestInstancesServeOnePrincipal(t *testing.T) {
	for isolation, want := range map[lifecycle.Isolation][]string{
		lifecycle.PerPrincipal: {"0 default ada ", "0 default ada ", "1 red ada ", "2 red bob "},
		lifecycle.PerSession:   {"0 default ada ", "1 default ada s", "2 red ada s", "3 red bob s"},
	} {
		r := owned(t, func(c *host.Config) {
			c.Settings.Lifecycle = func(string) lifecycle.Config { return lifecycle.Config{Isolation: isolation} }
		})
		for i, principal := range []string{"ada", "ada", "red/ada", "red/bob"} {
			c := of(principal, "whose")
			if i > 0 {
				c.Session = "s"
			}
			_, want[i], _ = strings.Cut(want[i], " ")
			if got := outcome(t, r, c); got.Err != nil || !strings.HasSuffix(strings.ReplaceAll(got.Result.Text(), "red/", ""), want[i]) {
				t.Errorf("isolation %s: the call of %s had the process %q, %v, and not %q", isolation, principal, got.Result.Text(), got.Err, want[i])
			}
		}
		if n := map[lifecycle.Isolation]int{lifecycle.PerPrincipal: 3, lifecycle.PerSession: 4}[isolation]; r.started() != n {
			t.Errorf("isolation %s: %d processes were started, and not %d", isolation, r.started(), n)
		}
	}
}

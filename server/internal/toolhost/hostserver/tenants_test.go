package hostserver_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// observed is a host that records the tenants of queries, and has a plugin with two crashes.
type observed struct {
	hostserver.Host
	queries map[string]tool.Tenants
}

func (o *observed) Calls(_ context.Context, q tool.CallQuery) (tool.CallPage, error) {
	o.queries["calls"] = q.Tenants
	return tool.CallPage{}, nil
}

func (o *observed) Stats(_ context.Context, q tool.StatsQuery) ([]tool.Stats, error) {
	o.queries["stats"] = q.Tenants
	return nil, nil
}

func (o *observed) WatchEvents(_ context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error] {
	o.queries["events"] = q.Tenants
	return func(func(tool.PluginEvent, error) bool) {}
}

func (o *observed) TailLogs(_ context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error] {
	o.queries["logs"] = q.Tenants
	return func(func(tool.LogLine, error) bool) {}
}

func (o *observed) Instances(context.Context, string) ([]tool.InstanceInfo, error) {
	return []tool.InstanceInfo{{ID: "p-1", Tenant: "red"}, {ID: "p-2", Tenant: "blue"}, {ID: "p-3"}}, nil
}

func (o *observed) Plugins(context.Context) ([]tool.PluginInfo, error) {
	exit := func(tenant string, principals ...string) tool.PluginExit {
		e := tool.PluginExit{Instance: tenant + "-1", Tenant: tenant, Exit: tool.Exit{Code: 2, LastStderr: []string{"secret of " + tenant}}}
		for _, p := range principals {
			e.Calls = append(e.Calls, tool.ExitCall{CallID: "c of " + p, Principal: p})
		}
		return e
	}
	blue, red := exit("blue", "blue/eve", "blue/bob"), exit("red", "red/ada")
	return []tool.PluginInfo{{
		Name: "p", State: tool.PluginQuarantined, Reason: "secret of blue", LastExit: &blue.Exit, RecentExits: []tool.PluginExit{blue, red},
	}}, nil
}

// An operator of one tenant gets the calls, events, logs, statistics, instances and crashes of that
// tenant, whatever it requests. It gets the number of the calls of other tenants that a crash
// ended.
func TestOperatorOfATenant(t *testing.T) {
	host := &observed{Host: newHost(t), queries: map[string]tool.Tenants{}}
	me := "name:uid:" + strconv.Itoa(os.Getuid())
	policy := authz.New([]authz.Binding{
		{Role: "operator", To: []string{me}, Tenants: []string{"red", "green"}},
		{Role: "auditor", To: []string{me}, Tenants: []string{"blue"}}, // may not read logs
	})
	full := []tool.Condition{{Name: "ledger_full", Message: "the ledger is full", Problem: true}}
	a, _ := serve(t, socket(t), hostserver.Config{Host: host, Conditions: func() []tool.Condition { return full }, Gate: gate.New(gate.Config{
		Rights: hostserver.Rights(), Policy: func() *authz.Policy { return policy },
	})})
	c := dial(t, a)
	ask := func(tenants tool.Tenants) map[string]tool.Tenants {
		t.Helper()
		clear(host.queries)
		_, _ = c.Calls(t.Context(), tool.CallQuery{Tenants: tenants})
		_, _ = c.Stats(t.Context(), tool.StatsQuery{Tenants: tenants})
		for range c.WatchEvents(t.Context(), tool.EventQuery{Tenants: tenants}) {
		}
		for range c.TailLogs(t.Context(), tool.LogQuery{Tenants: tenants}) {
		}
		return host.queries
	}
	three, two := tool.Tenants{"blue", "green", "red"}, tool.Tenants{"green", "red"}
	want := map[string]tool.Tenants{"calls": three, "stats": three, "events": three, "logs": two}
	if diff := cmp.Diff(want, ask(nil)); diff != "" {
		t.Errorf("without tenants (-want +got):\n%s", diff)
	}
	want = map[string]tool.Tenants{"calls": {"blue"}, "stats": {"blue"}, "events": {"blue"}, "logs": {}}
	if diff := cmp.Diff(want, ask(tool.Tenants{"blue", "default", "all", "none"})); diff != "" {
		t.Errorf("with tenants (-want +got):\n%s", diff)
	}
	policy = authz.New([]authz.Binding{{Role: "operator", To: []string{me}, Tenants: []string{"red"}}})
	instances, err := c.Instances(t.Context(), "")
	if err != nil || len(instances) != 1 || instances[0].ID != "p-1" {
		t.Errorf("the instances are %+v, %v", instances, err)
	}
	plugins, err := c.Plugins(t.Context())
	if err != nil || len(plugins) != 1 {
		t.Fatal(plugins, err)
	}
	if conditions, err := c.Conditions(t.Context()); len(conditions) > 0 || err != nil {
		t.Errorf("an operator of one tenant sees %+v, %v", conditions, err)
	}
	p := plugins[0]
	if p.Reason != "its process crashed" || len(p.LastExit.LastStderr) != 0 {
		t.Errorf("the plugin is %q, its last exit %+v", p.Reason, p.LastExit)
	}
	wantExits := []tool.PluginExit{
		{Exit: tool.Exit{Code: 2}, HiddenCalls: 2},
		{Instance: "red-1", Tenant: "red", Exit: tool.Exit{Code: 2, LastStderr: []string{"secret of red"}}, Calls: []tool.ExitCall{{CallID: "c of red/ada", Principal: "red/ada"}}},
	}
	if diff := cmp.Diff(wantExits, p.RecentExits); diff != "" {
		t.Errorf("the exits (-want +got):\n%s", diff)
	}
	policy = authz.New([]authz.Binding{{Role: "admin", To: []string{me}, Tenants: []string{"all"}}})
	want = map[string]tool.Tenants{"calls": nil, "stats": nil, "events": nil, "logs": nil}
	if diff := cmp.Diff(want, ask(nil)); diff != "" {
		t.Errorf("of all tenants (-want +got):\n%s", diff)
	}
	if plugins, err := c.Plugins(t.Context()); err != nil || plugins[0].Reason != "secret of blue" || len(plugins[0].RecentExits[0].Calls) != 2 {
		t.Errorf("an admin sees %+v, %v", plugins, err)
	}
	if conditions, err := c.Conditions(t.Context()); !cmp.Equal(full, conditions) || err != nil {
		t.Errorf("an admin sees %+v, %v", conditions, err)
	}
}

// endless is a host with news for each step that its test makes.
type endless struct {
	hostserver.Host
	events, logs, audit chan struct{} // each value is a step
}

func (e *endless) WatchEvents(ctx context.Context, _ tool.EventQuery) iter.Seq2[tool.PluginEvent, error] {
	return func(yield func(tool.PluginEvent, error) bool) {
		for more(ctx, e.events) && yield(tool.PluginEvent{Tenant: "red"}, nil) {
		}
	}
}

func (e *endless) TailLogs(ctx context.Context, _ tool.LogQuery) iter.Seq2[tool.LogLine, error] {
	return func(yield func(tool.LogLine, error) bool) {
		for more(ctx, e.logs) && yield(tool.LogLine{Tenant: "red"}, nil) {
		}
	}
}

// Read implements hostserver.AuditLog.
func (e *endless) Read(ctx context.Context, _ tool.AuditQuery, found func(tool.AuditLine) error) error {
	for more(ctx, e.audit) {
		if err := found(tool.AuditLine{Line: []byte("{}")}); err != nil {
			return err
		}
	}
	return nil
}

func more(ctx context.Context, steps <-chan struct{}) bool {
	select {
	case <-steps:
		return true
	case <-ctx.Done():
		return false
	}
}

// revocable is an authenticator whose credential can be revoked.
type revocable struct{ revoked *atomic.Bool }

func (r revocable) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	p := identity.Principal{Tenant: "red", Name: "olga", Credential: authn.Token}
	return authn.Verified{Principal: p, Current: func(context.Context) error {
		if r.revoked.Load() {
			return errors.New("the token was revoked")
		}
		return nil
	}}, nil
}

// A stream with events, log lines or audit lines ends before it shows anything that came after its
// token was revoked, or after a reload removed the binding of its caller.
func TestStreamsEndWithTheRight(t *testing.T) {
	for name, want := range map[string]tool.Kind{"the token is revoked": tool.KindUnavailable, "the binding is removed": tool.KindDenied} {
		t.Run(name, func(t *testing.T) {
			host := &endless{Host: newHost(t), events: make(chan struct{}, 1), logs: make(chan struct{}, 1), audit: make(chan struct{}, 1)}
			var revoked atomic.Bool
			var access gate.Access
			access.Set(authz.New([]authz.Binding{{Role: "admin", To: []string{"name:red/olga"}}}))
			a, _ := serve(t, socket(t), hostserver.Config{Host: host, Audit: host, Gate: gate.New(gate.Config{
				Rights: hostserver.Rights(), Authenticator: revocable{&revoked}, Policy: access.Policy,
			})})
			c := dial(t, a)
			var streams []func() error // each returns the error of the next message
			next := func(pull func() (error, bool), stop func()) {
				t.Cleanup(stop)
				streams = append(streams, func() error { err, _ := pull(); return err })
			}
			next(iter.Pull(problems(c.WatchEvents(bounded(t), tool.EventQuery{Follow: true}))))
			next(iter.Pull(problems(c.TailLogs(bounded(t), tool.LogQuery{Follow: true}))))
			next(iter.Pull(problems(c.Audit(bounded(t), tool.AuditQuery{Follow: true}))))
			for _, steps := range []chan struct{}{host.events, host.logs, host.audit} {
				steps <- struct{}{}
			}
			for i, stream := range streams {
				if err := stream(); err != nil {
					t.Fatalf("stream %d: %v", i, err)
				}
			}
			if want == tool.KindUnavailable {
				revoked.Store(true)
			} else {
				access.Set(authz.New(nil))
			}
			for _, steps := range []chan struct{}{host.events, host.logs, host.audit} {
				close(steps) // there are always news
			}
			for i, stream := range streams {
				if err := stream(); tool.KindOf(err) != want {
					t.Errorf("stream %d goes on: %v", i, err)
				}
			}
		})
	}
}

// problems returns the errors of the messages of a stream.
func problems[T any](stream iter.Seq2[T, error]) iter.Seq[error] {
	return func(yield func(error) bool) {
		for _, err := range stream {
			if !yield(err) {
				return
			}
		}
	}
}

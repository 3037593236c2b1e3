package hostserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/toolhost/toolhost/client"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// heldBook has held calls, and records the verdicts that reach the host.
type heldBook struct {
	store *held.Store
	made  []held.Verdict
	moved []held.Extension
}

func (b *heldBook) HeldCalls() *held.Store { return b.store }

func (b *heldBook) DecideHeld(_ context.Context, v held.Verdict, _ string) (held.Decision, error) {
	return b.store.Decide(v, func(held.Decision) error { b.made = append(b.made, v); return nil })
}

func (b *heldBook) ExtendHeld(_ context.Context, x held.Extension, _ string) (held.Decision, error) {
	return b.store.Extend(x, func(held.Decision) error { b.moved = append(b.moved, x); return nil })
}

// holds returns a book in which red/ada waits with a call.
func holds(t *testing.T, change func(*held.Call)) (*heldBook, held.Decision) {
	t.Helper()
	b := &heldBook{store: held.New()}
	return b, b.hold(t, change)
}

func (b *heldBook) hold(t *testing.T, change func(*held.Call)) held.Decision {
	t.Helper()
	call := held.Call{
		Principal: "red/ada", Session: "s", ID: "call-1", Agent: "writer", Run: "run-1", Tool: "write", DisplayName: "Write", Plugin: "fs",
		Arguments: json.RawMessage(`{"path":"docs/a"}`), Rule: "writes", Reason: "it writes",
	}
	if change != nil {
		change(&call)
	}
	d, _, err := b.store.Hold(held.KeyOf(fmt.Sprint(call)), call)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func decider(t *testing.T, b *heldBook, who identity.Principal, bindings ...authz.Binding) (remote, func() int) {
	t.Helper()
	admitting, refusals := as(t, who, bindings...)
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: admitting, Decisions: b})
	return dial(t, a), func() int { return len(*refusals) }
}

// Each caller sees, approves and rejects what it may, and no more. A decision that it may not see
// does not exist for it.
func TestWhoDecidesAboutHeldCalls(t *testing.T) {
	ada, olga := identity.Principal{Tenant: "red", Name: "ada"}, identity.Principal{Tenant: "red", Name: "olga"}
	lead := identity.Principal{Tenant: "red", Name: "olga", Groups: []string{"leads"}}
	limited := func(tools ...string) identity.Principal {
		return identity.Principal{Tenant: "red", Name: "ada", Scope: &identity.Scope{Tools: tools}}
	}
	role := func(name, to string, tenants ...string) []authz.Binding {
		return []authz.Binding{{Role: name, To: []string{to}, Tenants: tenants}}
	}
	const ok, no, none = tool.Kind(""), tool.KindDenied, tool.KindNotFound
	for name, test := range map[string]struct {
		who             identity.Principal
		bindings        []authz.Binding
		fourEyes        bool
		groups          []string
		sees            bool
		approve, reject tool.Kind
	}{
		"the caller":                    {ada, role("caller", "name:red/ada"), false, nil, true, no, ok},
		"the caller with the right":     {ada, append(role("caller", "name:red/ada"), role("approver", "name:red/ada")...), false, nil, true, ok, ok},
		"the caller, four eyes":         {ada, append(role("caller", "name:red/ada"), role("approver", "name:red/ada")...), true, nil, true, no, ok},
		"an approver, four eyes":        {olga, role("approver", "name:red/olga"), true, nil, true, ok, ok},
		"an approver in no group":       {olga, role("approver", "name:red/olga"), false, []string{"red/leads"}, true, no, ok},
		"an approver in a group":        {lead, role("approver", "name:red/olga"), true, []string{"ops", "red/leads"}, true, ok, ok},
		"an approver":                   {olga, role("approver", "name:red/olga"), false, nil, true, ok, ok},
		"an admin of all tenants":       {identity.Principal{Tenant: "blue", Name: "eve"}, role("admin", "name:blue/eve", authz.AllTenants), false, nil, true, ok, ok},
		"an auditor":                    {olga, append(role("caller", "name:red/olga"), role("auditor", "name:red/olga")...), false, nil, true, no, no},
		"another caller":                {olga, role("caller", "tenant:red"), false, nil, false, none, none},
		"the same name elsewhere":       {identity.Principal{Tenant: "blue", Name: "ada"}, role("admin", "name:blue/ada"), false, nil, false, none, none},
		"an approver of another tenant": {olga, role("approver", "name:red/olga", "blue"), false, nil, false, none, none},
		"a token for the tool":          {limited("write"), role("admin", "name:red/ada"), false, nil, true, no, no},
		"a token for another tool":      {limited("read"), role("admin", "name:red/ada"), false, nil, false, none, none},
	} {
		for _, verdict := range []client.Verdict{client.Approve, client.Reject} {
			b, d := holds(t, func(c *held.Call) { c.FourEyes, c.ApproverGroups = test.fourEyes, test.groups })
			c, refusals := decider(t, b, test.who, test.bindings...)
			shown := 0
			for got, err := range c.Inbox(bounded(t), client.InboxFilter{}) {
				if shown++; err != nil || got.Name != d.Name || got.Etag != "" || !got.Waiting || (got.NotAllowed == "") != (test.approve == ok) {
					t.Errorf("%s is shown %+v, %v", name, got, err)
				}
			}
			got, err := c.InboxDecision(bounded(t), d.Name)
			if (shown == 1) != test.sees || (err == nil) != test.sees || err != nil && tool.KindOf(err) != none || test.sees && got.Etag != d.Etag {
				t.Errorf("%s sees %d decisions, and gets %+v, %v", name, shown, got, err)
			}
			may := test.approve
			if name == "the caller, four eyes" { // which say who approves, and not when
				may = ok
			}
			later, err := c.ExtendDecision(bounded(t), d.Name, d.Expires.Add(time.Hour))
			if tool.KindOf(err) != may || (len(b.moved) == 1) != (may == ok) || may == ok && (b.moved[0].By != test.who.Key() || !later.Expires.Equal(d.Expires.Add(time.Hour)) || later.Etag != d.Etag) {
				t.Errorf("%s extends: %+v, %v, moved %+v", name, later, err, b.moved)
			}
			want := map[client.Verdict]tool.Kind{client.Approve: test.approve, client.Reject: test.reject}[verdict]
			before := refusals()
			_, err = c.Decide(bounded(t), client.DecideRequest{Name: d.Name, Etag: d.Etag, Verdict: verdict, Text: "why", DecidedBy: "me"})
			if tool.KindOf(err) != want || (len(b.made) == 1) != (want == ok) || (refusals() > before) != (want != ok) {
				t.Errorf("%s, %s: %v, %d verdicts, %d refusals", name, verdict, err, len(b.made), refusals()-before)
			}
			if want == ok && (b.made[0].By != test.who.Key() || b.made[0].Approve != (verdict == client.Approve) || !slices.Equal(b.made[0].Groups, test.who.Groups) || b.made[0].ByName != "me" || b.made[0].Text != "why") {
				t.Errorf("%s, %s: the host got %+v", name, verdict, b.made[0])
			}
		}
	}
}

// A toolhost does not decide about the calls that another one holds, and says which one does.
func TestCallsThatAnotherToolhostHolds(t *testing.T) {
	b, _ := holds(t, nil)
	admitting, refusals := as(t, identity.Principal{Tenant: "red", Name: "olga"}, authz.Binding{Role: "approver", To: []string{"name:red/olga"}})
	labels := map[string]string{"calls/there": "tools-2", "calls/over": "tools-3"}
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: admitting, Decisions: b, HolderOf: func(_ context.Context, name string) (string, bool) {
		return labels[name], name == "calls/over"
	}})
	c := dial(t, a)
	for name, says := range map[string]string{"calls/there": "held by the toolhost tools-2; decide there", "calls/over": "tools-3, which is gone", "calls/nowhere": "holds no call of this name"} {
		_, shown := c.InboxDecision(bounded(t), name)
		_, decided := c.Decide(bounded(t), client.DecideRequest{Name: name, Etag: "e", Verdict: client.Approve})
		for _, err := range []error{shown, decided} {
			if tool.KindOf(err) != tool.KindNotFound || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if n := len(*refusals); n != 6 {
		t.Errorf("the audit log has %d of 6 attempts", n)
	}
}

// Nothing of a decision is lost on the way, and a verdict that does not fit is refused.
func TestHeldCallsOverTheWire(t *testing.T) {
	b, d := holds(t, nil)
	c, _ := decider(t, b, identity.Principal{Tenant: "red", Name: "olga"}, authz.Binding{Role: "approver", To: []string{"name:red/olga"}})
	got, err := c.InboxDecision(bounded(t), d.Name)
	if err != nil || got.Agent != "writer" || got.Session != "s" || got.Principal != "red/ada" || got.Tenant != "red" || got.CallID != "call-1" || got.RunID != "run-1" ||
		got.Tool != "write" || got.DisplayName != "Write" || got.Plugin != "fs" || string(got.Arguments) != `{"path":"docs/a"}` || got.Rule != "writes" ||
		got.Reason != "it writes" || !got.Requested.Equal(d.Requested) || !got.Expires.Equal(d.Expires) || got.Kind != client.DecideApproval || got.Cut {
		t.Errorf("%+v, %v", got, err)
	}
	for _, test := range []struct {
		name   string
		change func(*client.DecideRequest)
		want   tool.Kind
	}{
		{"an answer", func(r *client.DecideRequest) { r.Verdict = client.Answer }, tool.KindInvalidArgument},
		{"arguments", func(r *client.DecideRequest) { r.Arguments = json.RawMessage(`{}`) }, tool.KindInvalidArgument},
		{"no etag", func(r *client.DecideRequest) { r.Etag = "" }, tool.KindInvalidArgument},
		{"another etag", func(r *client.DecideRequest) { r.Etag = "e" }, tool.KindConflict},
		{"no such name", func(r *client.DecideRequest) { r.Name = "calls/x" }, tool.KindNotFound},
		{"one that fits", func(*client.DecideRequest) {}, ""},
		{"the same again", func(*client.DecideRequest) {}, ""},
		{"a second one", func(r *client.DecideRequest) { r.RequestID = "" }, tool.KindConflict},
		{"another one", func(r *client.DecideRequest) { r.Verdict = client.Reject }, tool.KindConflict},
	} {
		r := client.DecideRequest{Name: d.Name, Etag: d.Etag, Verdict: client.Approve, RequestID: "r"}
		test.change(&r)
		made, err := c.Decide(bounded(t), r)
		if tool.KindOf(err) != test.want || err == nil && (made.Waiting || made.Made.Verdict != client.Approve || made.Made.Principal != "red/olga" || made.Etag != "") {
			t.Errorf("%s: %+v, %v", test.name, made, err)
		}
	}
}

// An end that is none moves nothing.
func TestExtendHeldCallsOverTheWire(t *testing.T) {
	b, d := holds(t, nil)
	c, _ := decider(t, b, identity.Principal{Tenant: "red", Name: "olga"}, authz.Binding{Role: "approver", To: []string{"name:red/olga"}})
	for name, test := range map[string]struct {
		decision string
		until    time.Time
		want     tool.Kind
	}{
		"none":         {d.Name, time.Time{}, tool.KindInvalidArgument},
		"the past":     {d.Name, d.Requested, tool.KindInvalidArgument},
		"8 days":       {d.Name, d.Requested.Add(8 * 24 * time.Hour), tool.KindInvalidArgument},
		"of nothing":   {"calls/x", d.Expires, tool.KindNotFound},
		"the same end": {d.Name, d.Expires, ""},
	} {
		if got, err := c.ExtendDecision(bounded(t), test.decision, test.until); tool.KindOf(err) != test.want || len(b.moved) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// The pages have each decision once, those that end first come first, and long texts are cut.
func TestPagesOfHeldCalls(t *testing.T) {
	b := &heldBook{store: held.New()}
	var want []string
	for i := range 120 {
		want = append(want, b.hold(t, func(c *held.Call) {
			c.Principal = fmt.Sprintf("red/p%d", i/40)
			c.Arguments = json.RawMessage(fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("é", 3000)))
		}).Name)
	}
	b.hold(t, func(c *held.Call) { c.Principal = "blue/p" })
	c, _ := decider(t, b, identity.Principal{Tenant: "red", Name: "olga"}, authz.Binding{Role: "approver", To: []string{"name:red/olga"}})
	var got []string
	var last time.Time
	for d, err := range c.Inbox(bounded(t), client.InboxFilter{Tenants: []string{"red", "blue"}}) {
		if err != nil || !d.Cut || len(d.Arguments) > 4<<10 || d.Expires.Before(last) {
			t.Fatalf("%+v, %v", d, err)
		}
		got, last = append(got, d.Name), d.Expires
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the pages have %d decisions, want each of %d once", len(got), len(want))
	}
}

func TestServerThatHoldsNoCalls(t *testing.T) {
	admitting, _ := as(t, agentd, authz.Binding{Role: "admin", To: []string{"name:agentd"}})
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: admitting})
	c := dial(t, a)
	_, getting := c.InboxDecision(bounded(t), "calls/x")
	_, deciding := c.Decide(bounded(t), client.DecideRequest{Name: "calls/x", Verdict: client.Reject})
	_, extending := c.ExtendDecision(bounded(t), "calls/x", time.Now())
	for _, err := range []error{getting, deciding, extending} {
		if tool.KindOf(err) != tool.KindUnsupported {
			t.Errorf("%v", err)
		}
	}
}

// No call waits longer than its RPC, also if it has an id and so continues without its caller.
func TestHeldCallsWaitAsLongAsTheirRPC(t *testing.T) {
	host := newHost(t)
	a, _ := serve(t, socket(t), hostserver.Config{Host: host})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	stream, err := tools(t, a).Execute(ctx)
	if err != nil {
		t.Fatal(err)
	}
	start := &toolhostv1.StartCall{
		Tool: "danger", Arguments: []byte(`{}`), Complete: true, Options: &toolhostv1.CallOptions{CallId: "one", ApprovalWait: durationpb.New(time.Hour)},
	}
	if err := stream.Send(&toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Start{Start: start}}); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the call is open", func() bool { return len(host.Opened()) == 1 })
	if wait := host.Opened()[0].ApprovalWait; wait == nil || *wait > 5*time.Minute {
		t.Errorf("it waits %v", wait)
	}
}

// A caller that loses its credential or its right while its call waits gets no approval executed.
func TestHeldCallOfARevokedCredential(t *testing.T) {
	for name, lose := range map[string]func(*leased, *atomic.Bool){
		"the credential": func(l *leased, _ *atomic.Bool) { l.revoked.Store(true) },
		"the right":      func(_ *leased, unbound *atomic.Bool) { unbound.Store(true) },
	} {
		token, unbound := &leased{}, &atomic.Bool{}
		bound, none := authz.New([]authz.Binding{{Role: "caller", To: []string{"tenant:red"}}}), authz.New(nil)
		admitting := gate.New(gate.Config{Rights: hostserver.Rights(), Authenticator: token, Policy: func() *authz.Policy {
			if unbound.Load() {
				return none
			}
			return bound
		}})
		host := newHost(t)
		a, _ := serve(t, socket(t), hostserver.Config{Host: host, Gate: admitting})
		c, ended := dial(t, a), make(chan error, 1)
		go func() { // ends with the call
			_, err := c.Call(t.Context(), tool.Call{Tool: "danger", Arguments: json.RawMessage(`{}`), ApprovalWait: new(time.Hour)})
			ended <- err
		}()
		var waiting []held.Decision
		eventually.Holds(t, "the call waits", func() bool {
			waiting = host.HeldCalls().Waiting(func(*held.Decision) bool { return true })
			return len(waiting) == 1
		})
		lose(token, unbound)
		if _, err := host.DecideHeld(t.Context(), held.Verdict{Name: waiting[0].Name, Etag: waiting[0].Etag, Approve: true, By: "olga"}, "unix"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; tool.KindOf(err) != tool.KindUnavailable && tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("without %s: %v", name, err)
		}
		if len(host.HeldCalls().Waiting(func(*held.Decision) bool { return true })) != 0 {
			t.Errorf("without %s: the call waits again", name)
		}
	}
}

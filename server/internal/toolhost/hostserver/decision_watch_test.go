package hostserver_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// inboxState is what a watcher knows.
type inboxState struct {
	waiting  map[string]bool
	position string
	restarts int
}

// follow applies a watch until the state is complete and enough holds, or the watch ends.
func (s *inboxState) follow(ctx context.Context, c remote, enough func() bool, tenants ...string) error {
	for change, err := range c.WatchInbox(ctx, client.InboxWatch{InboxFilter: client.InboxFilter{Tenants: tenants}, Position: s.position}) {
		if err != nil {
			return err
		}
		if change.Restart {
			s.waiting, s.restarts = map[string]bool{}, s.restarts+1
		}
		delete(s.waiting, change.Source)
		for _, d := range change.Decisions {
			s.waiting[d.Name] = true
		}
		if change.Complete {
			s.position = change.Position
			if enough() {
				return nil
			}
		}
	}
	return nil
}

func (b *heldBook) names(tenant string) map[string]bool {
	all := map[string]bool{}
	for _, d := range b.store.Waiting(func(d *held.Decision) bool { return tenant == "" || identity.TenantOf(d.Principal) == tenant }) {
		all[d.Name] = true
	}
	return all
}

// Watchers that come, go and come back know what waits in the end.
func TestWatchedHeldCalls(t *testing.T) {
	b := &heldBook{store: held.New()}
	admitting, _ := as(t, identity.Principal{Tenant: "red", Name: "olga"}, authz.Binding{Role: "approver", To: []string{"name:red/olga"}, Tenants: []string{"red", "blue"}})
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: admitting, Decisions: b})
	c := dial(t, a)
	random := rand.New(rand.NewPCG(1, 2))
	change := func(step int) {
		if waiting := b.store.Waiting(func(*held.Decision) bool { return true }); len(waiting) > 0 && random.IntN(2) == 0 {
			d := waiting[random.IntN(len(waiting))]
			if _, err := b.DecideHeld(t.Context(), held.Verdict{Name: d.Name, Etag: d.Etag, By: "red/olga"}, ""); err != nil {
				t.Fatal(err)
			}
			return
		}
		b.hold(t, func(c *held.Call) {
			c.ID, c.Principal = fmt.Sprint(step), []string{"red/ada", "blue/bob", "green/eve"}[step%3]
		})
	}
	watchers := make([]inboxState, 3)
	for step := range 60 {
		change(step)
		if err := watchers[step%2].follow(bounded(t), c, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	seen := b.names("red")
	maps.Copy(seen, b.names("blue"))
	for n := range watchers {
		err := watchers[n].follow(bounded(t), c, func() bool { return true })
		if err != nil || !maps.Equal(watchers[n].waiting, seen) || watchers[n].restarts != 1 {
			t.Errorf("watcher %d: %v, %v, %d restarts; want %v", n, err, watchers[n].waiting, watchers[n].restarts, seen)
		}
	}
	var red inboxState
	if err := red.follow(bounded(t), c, func() bool { return true }, "red"); err != nil || !maps.Equal(red.waiting, b.names("red")) {
		t.Errorf("of one tenant: %v, %v", err, red.waiting)
	}
	news := b.hold(t, func(c *held.Call) { c.ID = "news" })
	if err := red.follow(bounded(t), c, func() bool { return red.waiting[news.Name] }, "red"); err != nil || red.restarts != 1 {
		t.Errorf("a new call: %v, %d restarts", err, red.restarts)
	}
	// a position belongs to a filter, and to a store
	if err := (&inboxState{position: red.position}).follow(bounded(t), c, func() bool { return true }); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("the position of another filter: %v", err)
	}
	if err := (&inboxState{position: "x"}).follow(bounded(t), c, func() bool { return true }); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("no position: %v", err)
	}
	b.store = held.New()
	if err := red.follow(bounded(t), c, func() bool { return true }, "red"); err != nil || red.restarts != 2 || len(red.waiting) > 0 {
		t.Errorf("after a restart: %v, %+v", err, red)
	}
}

// A watch ends when its caller may see less, or more. A delegate watches for its principal.
func TestTheWatchEndsWithTheRights(t *testing.T) {
	b, d := holds(t, nil)
	var policy atomic.Pointer[authz.Policy]
	approver := authz.Binding{Role: "approver", To: []string{"name:red/olga"}}
	delegate := authz.Binding{Role: "delegate", To: []string{"name:agentd"}, Tenants: []string{"red"}}
	policy.Store(authz.New([]authz.Binding{approver, delegate}))
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Decisions: b, Gate: gate.New(gate.Config{
		Rights: hostserver.Rights(), Authenticator: known{agentd}, Policy: policy.Load,
	})})
	c := dial(t, a)
	olga := client.OnBehalfOf(bounded(t), client.Principal{Tenant: "red", Name: "olga"})
	for _, left := range [][]authz.Binding{{delegate}, {approver}} {
		policy.Store(authz.New([]authz.Binding{approver, delegate}))
		var s inboxState
		err := s.follow(olga, c, func() bool {
			policy.Store(authz.New(left))
			b.hold(t, func(c *held.Call) { c.ID = fmt.Sprint(left) }) // wakes the watch
			return false
		})
		if tool.KindOf(err) != tool.KindDenied || !s.waiting[d.Name] || len(s.waiting) > 2 {
			t.Errorf("%v: %v, %v", left, err, slices.Collect(maps.Keys(s.waiting)))
		}
	}
	policy.Store(authz.New([]authz.Binding{approver, delegate}))
	if err := (&inboxState{}).follow(client.OnBehalfOf(bounded(t), client.Principal{Tenant: "blue", Name: "x"}), c, func() bool { return true }); tool.KindOf(err) != tool.KindDenied || !strings.Contains(err.Error(), "delegate") {
		t.Errorf("where it is no delegate: %v", err)
	}
}

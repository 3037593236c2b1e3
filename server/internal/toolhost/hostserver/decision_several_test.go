package hostserver_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// A client of several toolhosts has the calls that any of them holds: as a list, while they change,
// and to decide about them.
func TestHeldCallsOfSeveralToolhosts(t *testing.T) {
	admitting, _ := as(t, identity.Principal{Tenant: "red", Name: "olga"}, authz.Binding{Role: "approver", To: []string{"name:red/olga"}})
	var books []*heldBook
	var places []address.Address
	var addresses []string
	var servers []*hostserver.Server
	for n, count := range []int{60, 0, 70} {
		b := &heldBook{store: held.New()}
		for i := range count {
			b.hold(t, func(c *held.Call) { c.ID = fmt.Sprintf("%d-%d", n, i) })
			if i >= 49 {
				break // a principal has at most 50
			}
		}
		at := socket(t)
		_, server := serve(t, at, hostserver.Config{Host: newHost(t), Gate: admitting, Decisions: b})
		books, places, addresses, servers = append(books, b), append(places, at), append(addresses, at.String()), append(servers, server)
	}
	c, err := client.Dial(strings.Join(addresses, ","))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	names := func() map[string]bool {
		all := map[string]bool{}
		for _, b := range books {
			maps.Copy(all, b.names(""))
		}
		return all
	}
	listed := map[string]bool{}
	query, pages := client.InboxQuery{PageSize: 20}, 0
	for {
		page, err := c.InboxPage(bounded(t), query)
		if err != nil || len(page.Decisions) > 20 || len(page.Unavailable) > 0 || (page.Position == "") != (pages > 0) {
			t.Fatalf("%+v, %v", page, err)
		}
		pages++
		for _, d := range page.Decisions {
			if listed[d.Name] {
				t.Errorf("%s comes twice", d.Name)
			}
			listed[d.Name] = true
		}
		if query.PageToken = page.NextPageToken; query.PageToken == "" {
			break
		}
	}
	if !maps.Equal(listed, names()) {
		t.Errorf("the list has %d decisions, want %d", len(listed), len(names()))
	}

	var watcher inboxState
	all := func() bool { return maps.Equal(watcher.waiting, names()) }
	if err := watcher.follow(bounded(t), remote{c, c.Admin()}, all); err != nil || watcher.restarts != 1 {
		t.Errorf("the state: %v, %d restarts", err, watcher.restarts)
	}
	decision := books[2].store.Waiting(func(*held.Decision) bool { return true })[0]
	if made, err := c.Decide(bounded(t), client.DecideRequest{Name: decision.Name, Etag: decision.Etag, Verdict: client.Reject}); err != nil || made.Waiting {
		t.Errorf("%+v, %v", made, err)
	}
	books[1].hold(t, func(c *held.Call) { c.ID = "new" })
	if err := watcher.follow(bounded(t), remote{c, c.Admin()}, all); err != nil || watcher.restarts != 1 {
		t.Errorf("from the position: %v, %d restarts", err, watcher.restarts)
	}

	ended, end := context.WithCancel(t.Context())
	end()
	_ = servers[1].Shutdown(ended)
	page, err := c.InboxPage(bounded(t), client.InboxQuery{PageSize: 1})
	if err != nil || len(page.Unavailable) != 1 || !strings.Contains(page.Unavailable[0], addresses[1]) {
		t.Errorf("without one toolhost: %+v, %v", page, err)
	}
	if err := watcher.follow(bounded(t), remote{c, c.Admin()}, func() bool { return true }); err != nil {
		t.Errorf("without one toolhost: %v", err)
	}
	books[1].store = held.New()
	serve(t, places[1], hostserver.Config{Host: newHost(t), Gate: admitting, Decisions: books[1]})
	if err := watcher.follow(bounded(t), remote{c, c.Admin()}, all); err != nil || watcher.restarts != 2 {
		t.Errorf("after a restart: %v, %d restarts", err, watcher.restarts)
	}
}

// A position may come from a client of the caller, who can send any text.
func TestPositionsThatAreNoneOfSeveralToolhosts(t *testing.T) {
	c, err := client.Dial(socket(t).String() + "," + socket(t).String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, position := range []string{"null", "[]", `{"a":1}`, "x"} {
		for _, err := range c.WatchInbox(bounded(t), client.InboxWatch{Position: position}) {
			if tool.KindOf(err) != tool.KindInvalidArgument {
				t.Errorf("the position %s: %v", position, err)
			}
			break
		}
	}
}

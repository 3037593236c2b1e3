package commands

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
)

// The inbox of a server has the calls that its toolhost holds. A person sees the whole call,
// decides without a command of toolhost, and learns when toolhost does not answer.
func TestTheInboxHasHeldCalls(t *testing.T) {
	w := newWorld(t).withToolhost()
	store := w.host.(hostserver.Decisions).HeldCalls()
	hold := func(key string) held.Decision {
		d, _, err := store.Hold(held.KeyOf(key), held.Call{
			Principal: "ada", Session: "s-\x1b[31m1", ID: "call-" + key, Agent: "writer", Tool: "pay", Plugin: "bank", Arguments: json.RawMessage(`{"to":"mallory"}`),
			Context: `{"account":"of ada"}`, Rule: "money", Reason: "it is money",
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", filepath.Join(w.folder, "served.db"), "--model", w.script("turns: [{text: hi}]"))
	server.stdout.until(t, "agentd is ready")
	inbox := func(args ...string) ended { return w.run(append([]string{"inbox", "--addr", socket}, args...)...) }

	first, second := hold("1"), hold("2")
	following, leave, left := w.begin("inbox", "-f", "--addr", socket)
	following.stdout.until(t, second.Name)
	inbox().want(t, 0, first.Name, second.Name, "approve pay", "ada", "mallory")
	inbox(first.Name).want(t, 0, "? pay needs approval ("+first.Name+"): it is money", "call call-1 of ada, of the plugin bank", "agent writer", "session s-", "with the context", `account: "of ada"`, "--etag "+first.Etag)
	inbox(first.Name, "-o", "json").want(t, 0, `"agent":"writer"`, `"session":"s-`, `"context":"{\"account\":\"of ada\"}"`, `"etag":"`+first.Etag+`"`)
	w.run("inbox", "extend", first.Name, "--addr", socket).want(t, 0, first.Name+": waits until "+first.Expires.Add(24*time.Hour).Local().Format(time.DateTime))
	inbox(first.Name, "--approve", "--etag", "old").want(t, 3, "its etag is another")
	inbox(first.Name, "--edit", "{}", "--etag", first.Etag).want(t, 3, "are its caller's")
	inbox(first.Name, "--approve", "--etag", first.Etag).want(t, 0, first.Name+": approved")
	inbox(second.Name, "--reject", "--reason", "too much", "--etag", second.Etag).want(t, 0, second.Name+": rejected")
	inbox(second.Name).want(t, 0, "reject, too much")
	following.stdout.until(t, "waits no more")
	if d, _ := store.Get(first.Name); d.State != held.Approved || d.By != ownPrincipal() {
		t.Errorf("the decision is %+v", d)
	}
	third := hold("3")
	following.stdout.until(t, third.Name)
	gone := strings.Count(following.stdout.String(), "waits no more")
	w.cut()
	following.stderr.until(t, "the calls that the toolhost of agentd holds are missing")
	inbox().want(t, 0, "nothing waits", "the calls that the toolhost of agentd holds are missing: it ")
	if n := strings.Count(following.stdout.String(), "waits no more"); n != gone {
		t.Errorf("a call counts as decided because toolhost does not answer:\n%s", following.stdout)
	}
	leave()
	left()
	interrupt()
	wait()
}

//go:build more

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/tool"
)

// reachable are toolhosts with one ledger that reach each other.
type reachable struct {
	ca    *testca.CA // of the toolhosts
	nodes []*ledgerNode
}

func startReachable(t *testing.T, database string) reachable {
	t.Helper()
	r := reachable{ca: testca.New(t)}
	for i := range 2 {
		h := prepare(t)
		installStamped(t, h, "1", "", "")
		install(t, h, "askplugin", "askplugin", "")
		install(t, h, "fault", "faultplugin", "")
		certificate, key := r.ca.Files(t, "127.0.0.1", fmt.Sprintf("tools-%d.example", i))
		write(t, filepath.Join(h.home, "toolhost.yaml"), fmt.Sprintf("records: %s\nplugin: {askplugin: {ask: [person]}}\n"+
			"nodes: {listen: \"127.0.0.1:0\", tls: {certificate: %q, key: %q, ca: %q}}\n", database, certificate, key, r.ca.Path), 0o600)
		n := &ledgerNode{toolhost: h}
		n.start(t)
		r.nodes = append(r.nodes, n)
	}
	return r
}

// begun begins a call, and returns it when the ledger has it.
func begun(t *testing.T, c *client.Client, call tool.Call) tool.Execution {
	t.Helper()
	e, err := c.Open(t.Context(), call, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Started != nil {
			return e
		}
	}
}

// A call at one toolhost is cancelled at another one, a question of it is answered there, and its
// artifact is read there.
func TestACallIsReachedAtAnotherNode(t *testing.T) {
	server := postgrestest.Start(t)
	nodes := startReachable(t, server.URL(server.Create(t))).nodes
	here, there := nodes[0].calls, nodes[1].calls

	running := tool.Call{ID: "held", Tool: "versionplugin_hold", Arguments: []byte(`{"until":"never"}`), Timeout: time.Hour}
	e := begun(t, here, running)
	key := tool.CallKey{ID: running.ID}
	seen := make(chan tool.Event, 100)
	go func() { // ends with the call
		defer close(seen)
		for ev, err := range there.WatchCall(t.Context(), key, 0) {
			if err != nil {
				return
			}
			seen <- ev
		}
	}()
	if first := <-seen; first.Started == nil { // progress, and not only the outcome
		t.Errorf("the watcher at the other node gets %+v first", first)
	}
	if err := there.CancelCall(t.Context(), key, "enough of it"); err != nil {
		t.Errorf("cancelling it at the other node: %v", err)
	}
	if got := endOf(t, e); tool.KindOf(got.Err) != tool.KindCancelled || !strings.Contains(got.Err.Error(), "enough of it") {
		t.Errorf("the call ended with %+v", got)
	}
	var last tool.Event
	for last = range seen {
	}
	if last.Ended == nil {
		t.Errorf("the watcher at the other node gets %+v last", last)
	}

	asked, q := openAsking(t, here, "asks", "ask_person", "Which ones?", "")
	if err := there.AnswerQuestion(t.Context(), tool.CallKey{ID: "asks"}, q.ID, threeReds); err != nil {
		t.Errorf("answering at the other node: %v", err)
	}
	if got := endOf(t, asked); got.Result.Text() != `the person chose {"color":"red","count":3}` {
		t.Errorf("the tool said %q (%v)", got.Result.Text(), got.Err)
	}

	made, err := here.Call(t.Context(), tool.Call{Tool: "fault", Arguments: []byte(`{"do":"large","text":"text","number":50000}`), MaxShown: new(100)})
	if err != nil {
		t.Fatal(err)
	}
	handle := ""
	for _, content := range made.Result.Content {
		if content.Artifact != nil {
			handle = content.Artifact.Handle
		}
	}
	piece, err := there.ReadArtifact(t.Context(), tool.ArtifactQuery{Handle: handle})
	if err != nil || piece.Size != 50_000 || len(piece.Data) == 0 {
		t.Errorf("the artifact %q at the other node: %d bytes, %v", handle, len(piece.Data), err)
	}
	// A watcher gets the outcome, although the toolhost of the call is killed.
	running.ID = "lost"
	begun(t, here, running)
	outcomes := make(chan tool.Event, 1)
	watched := make(chan struct{})
	go func() { // ends with the call
		defer close(outcomes)
		var once sync.Once
		for ev, err := range there.WatchCall(t.Context(), tool.CallKey{ID: running.ID}, 0) {
			if err == nil && ev.Ended != nil {
				outcomes <- ev
			}
			once.Do(func() { close(watched) })
		}
	}()
	<-watched
	nodes[0].cmd.Process.Kill()
	<-nodes[0].exited
	nodes[0].start(t)
	if ev, ok := <-outcomes; !ok || tool.KindOf(ev.Ended.Err) != tool.KindOutcomeUnknown {
		t.Errorf("the watcher gets %+v, %v", ev.Ended, ok)
	}
	if piece, err := there.ReadArtifact(t.Context(), tool.ArtifactQuery{Handle: handle}); err != nil || piece.Size != 50_000 {
		t.Errorf("the artifact after a new start: %+v, %v", piece.Size, err)
	}
	nodes[0].stop(t)
	if _, err := there.ReadArtifact(t.Context(), tool.ArtifactQuery{Handle: handle}); tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("the artifact of a toolhost that was stopped: %v", err)
	}
}

// Only toolhosts use the listener for toolhosts, whatever a client has and says.
func TestTheListenerForNodes(t *testing.T) {
	server := postgrestest.Start(t)
	database := server.Create(t)
	r := startReachable(t, server.URL(database))
	at := server.Do(t, database, "SELECT address FROM toolhost_nodes ORDER BY started")[0][0]
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for name, ca := range map[string]*testca.CA{"a client": testca.New(t), "a toolhost that names nobody": r.ca} {
		certificate, key := ca.Files(t, "tools-0.example")
		c, err := client.Dial(at, client.WithTLS(client.TLS{CA: r.ca.Path, Certificate: certificate, Key: key}), client.IgnoreEnvironment())
		if err != nil {
			t.Fatal(err)
		}
		if me, err := c.WhoAmI(ctx); err == nil {
			t.Errorf("%s is %+v", name, me)
		}
		_ = c.Close()
	}
	named := metadata.AppendToOutgoingContext(ctx, "toolhost-node-caller-bin", `{"Tenant":"default","Name":"ada"}`)
	if me, err := r.nodes[0].calls.WhoAmI(named); err != nil || me.Principal != fmt.Sprintf("uid:%d", os.Getuid()) {
		t.Errorf("a client that names a principal is %q, %v", me.Principal, err)
	}
	eventually.Holds(t, "the audit log has the refusals", func() bool {
		log, err := os.ReadFile(filepath.Join(r.nodes[0].state, "audit.jsonl"))
		return err == nil && strings.Contains(string(log), "failed to verify certificate") && strings.Contains(string(log), "tools-0.example")
	})
}

//go:build more

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/tool"
)

// ledgerNode is a toolhost that shares its ledger with others.
type ledgerNode struct {
	*toolhost
	calls *client.Client // renewed after each start
}

// startLedgerNodes returns toolhosts with one ledger, each with a state folder and a workspace of
// its own.
func startLedgerNodes(t *testing.T, database string, count int) (nodes []*ledgerNode) {
	t.Helper()
	return startLedgerNodesOf(t, "", database, count)
}

// startLedgerNodesOf is startLedgerNodes with another program in bin.
func startLedgerNodesOf(t *testing.T, program, database string, count int) (nodes []*ledgerNode) {
	t.Helper()
	for range count {
		h := prepare(t)
		h.program = program
		installStamped(t, h, "1", "", "")
		write(t, filepath.Join(h.home, "toolhost.yaml"), "records: "+database+"\nnetwork: {failures_per_minute: 10000}\n", 0o600)
		n := &ledgerNode{toolhost: h}
		n.start(t)
		nodes = append(nodes, n)
	}
	return nodes
}

func (n *ledgerNode) start(t *testing.T) {
	t.Helper()
	n.serve(t)
	n.calls = n.dial(t)
}

// listed returns what `toolhost nodes` lists.
func (n *ledgerNode) listed(t *testing.T) (all []struct{ ID, State, Why string }) {
	t.Helper()
	r := n.do(t, "nodes", "-o", "json", "--config", filepath.Join(n.home, "toolhost.yaml"))
	r.exits(t, 0)
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// lists waits until `toolhost nodes` lists nodes in these states.
func (n *ledgerNode) lists(t *testing.T, want ...string) {
	t.Helper()
	eventually.Holds(t, fmt.Sprint("the nodes are ", want), func() bool {
		var states []string
		for _, node := range n.listed(t) {
			states = append(states, node.State)
		}
		return slices.Equal(states, want)
	})
}

// Three toolhosts with one ledger are killed and stopped at random moments, and their database
// restarts, while calls with side effects are sent to one of them and repeated at all. No side
// effect happens twice, each answer is true, and all nodes give the same one. If the database is
// killed in the same moment as a toolhost, the outcome of a call that has just ended may be lost.
func TestNodesExecuteNothingTwice(t *testing.T) {
	server := postgrestest.Start(t)
	nodes := startLedgerNodes(t, server.URL(server.Create(t)), 3)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var all []*writing
	const rounds = 12
	for round := range rounds {
		victim := nodes[random.IntN(len(nodes))]
		made := writeAtNodes(t, nodes, victim, round, 1+random.IntN(30), func() {
			switch {
			case round%4 == 1:
				server.Restart(t)
			case killsBoth(round):
				server.Kill()
				server.Resume(t)
			}
		})
		for _, w := range made {
			if killsBoth(round) {
				w.answer = ""
			}
			for _, i := range random.Perm(len(nodes)) {
				w.askUntilKnown(t, nodes[i].calls)
			}
		}
		all = append(all, made...)
	}
	unknown, counts := 0, map[string]int{}
	for _, n := range nodes {
		for text, lines := range n.linesWritten(t) {
			counts[text] += lines
		}
	}
	for _, w := range all {
		n := counts[w.id]
		if n > 1 || n == 0 && w.answer != unknownAnswer {
			t.Errorf("%s: answered %q, and its side effect happened %d times", w.id, w.answer, n)
		}
		if w.answer == unknownAnswer {
			unknown++
		}
	}
	t.Logf("%d calls, %d with an unknown outcome", len(all), unknown)
}

// killsBoth reports whether the database is killed, too.
func killsBoth(round int) bool { return round%4 == 3 }

// writeAtNodes makes calls at all nodes, repeats each at another node at once, and kills the victim
// after a number of events. It starts the victim again after meanwhile.
func writeAtNodes(t *testing.T, nodes []*ledgerNode, victim *ledgerNode, round, events int, meanwhile func()) (made []*writing) {
	t.Helper()
	var mu sync.Mutex
	over := false
	happened := func() {
		mu.Lock()
		defer mu.Unlock()
		if events--; events == 0 {
			victim.cmd.Process.Kill()
			over = true
		}
	}
	clients := make([]*client.Client, len(nodes))
	for i, n := range nodes {
		clients[i] = n.calls
	}
	var callers sync.WaitGroup
	callers.Go(func() { // others wait for the calls of the victim, until it is back
		<-victim.exited
		meanwhile()
		victim.start(t)
	})
	for caller := range 6 {
		callers.Go(func() {
			for n := 0; ; n++ {
				w := &writing{id: fmt.Sprintf("round-%d.caller-%d.%d", round, caller, n)}
				mu.Lock()
				if over {
					mu.Unlock()
					return
				}
				made = append(made, w)
				mu.Unlock()
				var again sync.WaitGroup
				again.Go(func() { _, _ = clients[(caller+1)%len(nodes)].Call(t.Context(), w.call()) })
				outcome, err := clients[caller%len(nodes)].Follow(t.Context(), w.call(), func(tool.Event) { happened() })
				again.Wait()
				if err == nil {
					w.answer = outcome.Result.Text()
				}
				happened()
			}
		})
	}
	callers.Wait()
	return made
}

// askUntilKnown repeats the call until a node says what became of it.
func (w *writing) askUntilKnown(t *testing.T, c *client.Client) {
	t.Helper()
	var outcome tool.Outcome
	var err error
	eventually.Holds(t, w.id+" has an answer", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		outcome, err = c.Call(ctx, w.call())
		return tool.KindOf(err) != tool.KindUnavailable && !mayGoOn(err)
	})
	w.answered(t, outcome, err)
}

// A node that is silent is not gone. Once an operator says that it is gone, its calls are unknown,
// and the node ends itself when it continues. A node that lives cannot be declared gone.
func TestAnOperatorSaysThatANodeIsGone(t *testing.T) {
	server := postgrestest.Start(t)
	nodes := startLedgerNodes(t, server.URL(server.Create(t)), 2)
	frozen, other := nodes[0], nodes[1]
	frozen.lists(t, "up", "up")
	id := frozen.listed(t)[1].ID // the oldest is the last
	config := filepath.Join(other.home, "toolhost.yaml")
	other.do(t, "nodes", "gone", id, "--config", config).says(t, "it lives")
	call := tool.Call{ID: "slow", Tool: "versionplugin_hold", Arguments: []byte(`{"until":"never"}`), Timeout: time.Hour}
	started := make(chan struct{})
	ended := make(chan error, 1)
	go func() { // ends with the node
		var once sync.Once
		_, err := frozen.calls.Follow(t.Context(), call, func(tool.Event) { once.Do(func() { close(started) }) })
		ended <- err
	}()
	<-started
	call.Timeout = time.Second // from here on, to wait for it
	eventually.Holds(t, "the call is recorded", func() bool {
		_, err := other.calls.Call(t.Context(), call)
		return mayGoOn(err)
	})
	if err := frozen.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := other.calls.Call(t.Context(), call); !mayGoOn(err) {
		t.Errorf("while the node is silent: %v", err)
	}
	other.do(t, "nodes", "gone", id, "--config", config).says(t, "is gone", "1 call")
	if _, err := other.calls.Call(t.Context(), call); tool.KindOf(err) != tool.KindOutcomeUnknown || mayGoOn(err) {
		t.Errorf("when the node is gone: %v", err)
	}
	if err := frozen.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	<-frozen.exited
	<-ended
	frozen.start(t)
	other.lists(t, "up", "up", "gone")
}

// mayGoOn reports whether a caller is told that another node executes the call.
func mayGoOn(err error) bool {
	return tool.KindOf(err) == tool.KindOutcomeUnknown && strings.Contains(err.Error(), "under way at the toolhost")
}

// Without the database, calls without side effects continue, and others are refused before they
// execute. Everything continues when the database is back.
func TestTheDatabaseIsGone(t *testing.T) {
	server := postgrestest.Start(t)
	node := startLedgerNodes(t, server.URL(server.Create(t)), 1)[0]
	status := func(code int, says ...string) {
		t.Helper()
		r := node.do(t, "status")
		r.says(t, says...)
		r.exits(t, code)
	}
	before := &writing{id: "before"}
	before.askAgain(t, node.calls)
	server.Stop()
	if _, err := node.calls.Call(t.Context(), tool.Call{ID: "harmless", Tool: "versionplugin_read", Arguments: []byte("{}"), Timeout: patience}); err != nil {
		t.Errorf("a call without side effects: %v", err)
	}
	during := &writing{id: "during"}
	if _, err := node.calls.Call(t.Context(), during.call()); tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "nothing was executed") || tool.AsError(err).RetryAfter == 0 {
		t.Errorf("a call with side effects: %v", err)
	}
	eventually.Holds(t, "the status says it", func() bool { return strings.Contains(node.do(t, "status").stdout, "the database of the ledger") })
	status(1)
	server.Resume(t)
	during.askUntilKnown(t, node.calls)
	before.askAgain(t, node.calls)
	eventually.Holds(t, "all is well", func() bool { return node.do(t, "status").code == 0 })
	if counts := node.linesWritten(t); counts["before"] != 1 || counts["during"] != 1 {
		t.Errorf("the side effects happened %v times", counts)
	}
}

// A toolhost does not start with a database that does not have the calls of its state folder. Once
// an operator accepts the loss, it takes new calls, and executes none that was first sent before.
// The others end, also those that have lost nothing.
func TestADatabaseThatHasLostCalls(t *testing.T) {
	server := postgrestest.Start(t)
	database := server.Create(t)
	nodes := startLedgerNodes(t, server.URL(database), 2)
	node, other := nodes[0], nodes[1]
	id := func() string { return server.Do(t, database, "SELECT id FROM toolhost_ledger")[0][0] }
	former := id()
	lost := &writing{id: "only-once"}
	lost.askAgain(t, node.calls)
	node.stop(t)
	// An older copy of the database, which does not know this toolhost, and in which the other has
	// begun more.
	server.Do(t, database, "DELETE FROM toolhost_nodes WHERE gone IS NOT NULL; UPDATE toolhost_beats SET newest = 10; DELETE FROM toolhost_calls")
	runs := func() string {
		data, err := os.ReadFile(filepath.Join(node.state, "node.runs"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := runs()
	if why := node.fails(t); !strings.Contains(why, "has lost commits") || !strings.HasSuffix(strings.TrimSpace(why), "--accept-lost-ledger "+former) {
		t.Errorf("the database has lost calls: %s", why)
	}
	renewed := id()
	if why := node.fails(t); !strings.Contains(why, "belongs to the ledger "+former) || renewed == former {
		t.Errorf("the ledger %s is %s, and the loss was not accepted: %s", former, renewed, why)
	}
	if now := runs(); now != before {
		t.Errorf("after starts that were refused, the runs of the folder are %s, before %s", now, before)
	}
	<-other.exited
	if why := other.fails(t); !strings.Contains(why, "belongs to the ledger "+former) {
		t.Errorf("the other toolhost: %s", why)
	}
	node.serve(t, "--accept-lost-ledger", former)
	node.stop(t)
	node.start(t)
	repeat := lost.call()
	repeat.Ledger = former
	if _, err := node.calls.Call(t.Context(), repeat); tool.KindOf(err) != tool.KindOutcomeUnknown {
		t.Errorf("repeating the lost call: %v", err)
	}
	(&writing{id: "new"}).askAgain(t, node.calls)
	if counts := node.linesWritten(t); counts["only-once"] != 1 || counts["new"] != 1 || id() != renewed {
		t.Errorf("the side effects happened %v times, and the ledger is %s, before %s", counts, id(), renewed)
	}
	// A copy from before the loss, whose id is that of the lost calls.
	node.stop(t)
	server.Do(t, database, "UPDATE toolhost_beats SET newest = 0; UPDATE toolhost_ledger SET lost = '[]', id = '"+former+"'")
	if why := node.fails(t); !strings.Contains(why, "belongs to the ledger "+renewed) || id() == former || id() == renewed {
		t.Errorf("the ledger is %s again, which was lost: %s", id(), why)
	}
	// Another copy, from after the loss and before the last call.
	node.serve(t, "--accept-lost-ledger", renewed)
	node.stop(t)
	accepted := id()
	server.Do(t, database, "UPDATE toolhost_ledger SET lost = '[]', id = '"+renewed+"'")
	if why := node.fails(t); !strings.Contains(why, "belongs to the ledger "+accepted) || id() == renewed {
		t.Errorf("the ledger is %s again, and its last call was lost: %s", id(), why)
	}
}

// A call that is repeated or watched at another node waits there for its end, and gets its outcome.
func TestACallIsJoinedAtAnotherNode(t *testing.T) {
	server := postgrestest.Start(t)
	nodes := startLedgerNodes(t, server.URL(server.Create(t)), 2)
	call := tool.Call{ID: "held", Tool: "versionplugin_hold", Arguments: []byte(`{"until":"now"}`), Timeout: time.Hour}
	started := make(chan struct{})
	outcomes := make(chan tool.Outcome, 3)
	go func() {
		var once sync.Once
		outcome, _ := nodes[0].calls.Follow(t.Context(), call, func(tool.Event) { once.Do(func() { close(started) }) })
		outcomes <- outcome
	}()
	<-started
	brief := call
	brief.Timeout = time.Second
	eventually.Holds(t, "the call is recorded", func() bool {
		_, err := nodes[1].calls.Call(t.Context(), brief)
		return mayGoOn(err)
	})
	key := tool.CallKey{ID: call.ID}
	if err := nodes[1].calls.CancelCall(t.Context(), key, ""); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("cancelling it at the other node: %v", err)
	}
	other := call
	other.Arguments = []byte(`{"until":"never"}`)
	if _, err := nodes[1].calls.Call(t.Context(), other); tool.KindOf(err) != tool.KindConflict {
		t.Errorf("another call with the id: %v", err)
	}
	go func() {
		outcome, _ := nodes[1].calls.Call(t.Context(), call)
		outcomes <- outcome
	}()
	go func() {
		for event, err := range nodes[1].calls.WatchCall(t.Context(), key, 0) {
			if err != nil || event.Ended != nil {
				outcomes <- *event.Ended
				return
			}
		}
	}()
	write(t, filepath.Join(nodes[0].workspace, "now"), "", 0o600)
	for range cap(outcomes) {
		if outcome := <-outcomes; outcome.Err != nil || outcome.Result.Text() != "1" {
			t.Errorf("the outcome is %+v", outcome)
		}
	}
}

// A call that waits for a person at one toolhost is not decided at another one, which says where it
// waits.
func TestAHeldCallOfAnotherNode(t *testing.T) {
	server := postgrestest.Start(t)
	nodes := startLedgerNodes(t, server.URL(server.Create(t)), 2)
	here, there := nodes[0], nodes[1]
	here.stop(t)
	if err := os.Symlink(filepath.Join(bin, "approvalplugin"), filepath.Join(here.plugins, "approvalplugin")); err != nil {
		t.Fatal(err)
	}
	here.start(t)
	here.do(t, "call", "--wait-for-approval", "0s", "pay", `{"amount":2}`).says(t, "approval_required")
	held := here.pending(t)
	for _, args := range [][]string{{"pending", held}, {"approve", held, "--etag", "x"}, {"reject", held}} {
		r := there.do(t, append([]string{"approvals"}, args...)...)
		r.exits(t, 3)
		r.says(t, "held by the toolhost", here.listed(t)[0].ID, "decide there")
	}
	here.do(t, "approvals", "reject", held).exits(t, 0)
}

// A toolhost is frozen with a payment under way. Another one asks a check that seals, and pays.
// When the first one continues, the bank refuses its payment, and its caller gets what happened. A
// check that does not seal is not asked, and nothing is paid a second time.
func TestASealingCheckOfAFrozenToolhost(t *testing.T) {
	for name, seals := range map[string]bool{"pay_sealed": true, "pay_plain": false} {
		t.Run(name, func(t *testing.T) {
			server := postgrestest.Start(t)
			database, bank := server.Create(t), ""
			var nodes []*ledgerNode
			for range 2 {
				h := prepare(t)
				install(t, h, "bankplugin", "bankplugin", "")
				write(t, filepath.Join(h.home, "toolhost.yaml"), "records: "+server.URL(database)+"\n", 0o600)
				if bank == "" {
					bank = h.workspace
				}
				h.workspace = bank
				n := &ledgerNode{toolhost: h}
				n.start(t)
				nodes = append(nodes, n)
			}
			frozen, other := nodes[0], nodes[1]
			call := tool.Call{ID: "once", Tool: name, Arguments: []byte("{}"), Timeout: time.Hour}
			first := make(chan string, 1)
			go func() { // ends with the call
				out, err := frozen.calls.Call(t.Context(), call)
				first <- fmt.Sprint(out.Result.Text(), err)
			}()
			eventually.Holds(t, "the payment is under way", func() bool { return len(matching(t, bank, "first")) == 1 })
			if err := frozen.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			call.Timeout = time.Second // to wait for it
			_, err := other.calls.Call(t.Context(), call)
			if seals == mayGoOn(err) || err == nil {
				t.Errorf("while it is frozen: %v", err)
			}
			if seals {
				call.Timeout = patience
				if out, err := other.calls.Call(t.Context(), call); err != nil || out.Result.Text() != "paid" {
					t.Errorf("repeated: %+v, %v", out, err)
				}
			}
			write(t, filepath.Join(bank, "release"), "", 0o600)
			if err := frozen.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if got := <-first; got != "paid<nil>" {
				t.Errorf("the first caller gets %s", got)
			}
			if refused := len(matching(t, bank, "refused")); refused == 1 != seals {
				t.Errorf("the bank has refused %d payments", refused)
			}
			paid := 0
			for _, entered := range matching(t, bank, "*.key") {
				text, err := os.ReadFile(entered)
				if err != nil {
					t.Error(err)
				}
				if string(text) == "paid" {
					paid++
				}
			}
			if paid != 1 {
				t.Errorf("the bank has %d payments", paid)
			}
		})
	}
}

// matching returns the files of a folder whose names match.
func matching(t *testing.T, folder, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// `toolhost status --fleet` says in what toolhosts differ, also after a reload.
func TestFleetDiffers(t *testing.T) {
	nodes := startLedgerNodes(t, postgrestest.Database(t), 2)
	config := filepath.Join(nodes[0].home, "toolhost.yaml")
	type view struct {
		Alike       bool
		Nodes       []struct{ ID, Version string }
		Differences []struct{ What string }
	}
	compare := func(want string) (v view) {
		t.Helper()
		eventually.Shows(t, want, func() (bool, any) {
			v = view{}
			r := nodes[0].do(t, "status", "--fleet", "-o", "json", "--config", config)
			if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
				t.Fatalf("%v: %+v", err, r)
			}
			var differ []string
			for _, d := range v.Differences {
				differ = append(differ, d.What)
			}
			if code := map[bool]int{true: 0, false: 1}[v.Alike]; r.code != code {
				t.Errorf("the exit code is %d, want %d", r.code, code)
			}
			return strings.Join(differ, ", ") == want, v
		})
		return v
	}
	if v := compare(""); len(v.Nodes) != 2 || v.Nodes[0].Version == "" {
		t.Errorf("the toolhosts: %+v", v)
	}
	nodes[0].do(t, "status", "--fleet", "--config", config).says(t, "no difference: 2 toolhosts")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, string(text)+"questions: {max_wait: 1m}\n", 0o600)
	nodes[0].do(t, "trust", config).exits(t, 0)
	nodes[0].do(t, "reload").exits(t, 0)
	compare("setting questions")
	nodes[0].do(t, "status", "--fleet", "--config", config).says(t, "2 toolhosts: 1 difference", "setting questions")
	nodes[0].do(t, "status", "--fleet", "--addr", "unix:///tmp/x").exits(t, 2)
	nodes[0].do(t, "status", "--config", config).exits(t, 2)
}

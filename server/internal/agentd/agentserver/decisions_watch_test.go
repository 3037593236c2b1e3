package agentserver_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// changing is an agent whose runs ask and are answered.
type changing struct {
	*fakeAgent
	mu      sync.Mutex
	runs    map[string]int   // how many decisions a run waits for
	changed map[string]int64 // by run
	last    int64
	rung    chan struct{}
}

func newChanging() *changing {
	return &changing{fakeAgent: runs(), runs: map[string]int{}, changed: map[string]int64{}, rung: make(chan struct{})}
}

func (c *changing) DecisionsChange() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rung
}

func (c *changing) set(run string, decisions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	c.runs[run], c.changed[run] = decisions, c.last
	close(c.rung)
	c.rung = make(chan struct{})
}

func (c *changing) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for run := range c.runs {
		for _, d := range c.setOf(run).Decisions {
			all = append(all, loop.DecisionRef(run, d.ID))
		}
	}
	slices.Sort(all)
	return all
}

func (c *changing) setOf(run string) agent.DecisionSet {
	s := agent.DecisionSet{RunID: run, Owner: "red/ada"}
	for n := range c.runs[run] {
		s.Decisions = append(s.Decisions, agent.Decision{Pending: loop.Pending{DecisionRequested: loop.DecisionRequested{ID: fmt.Sprintf("d%d", n), Kind: loop.DecideApproval}}, Waits: true, Brief: true, Run: agent.Run{ID: run, Principal: "red/ada"}})
	}
	return s
}

func (c *changing) ListDecisions(_ context.Context, q agent.DecisionQuery) (list []agent.Decision, next string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, run := range slices.Sorted(maps.Keys(c.runs)) { // two runs in a page
		if run > q.Token && len(list) > 0 && next != "" && c.runs[run] > 0 {
			return list, next, nil
		}
		if run > q.Token {
			list = append(list, c.setOf(run).Decisions...)
			if len(list) > 2 {
				next = run
			}
		}
	}
	return list, "", nil
}

func (c *changing) ChangedDecisions(_ context.Context, _ agent.DecisionQuery, after int64) (sets []agent.DecisionSet, now int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if after > c.last {
		return nil, after, runstore.NotReached(after)
	}
	for run, at := range c.changed {
		if after != runstore.Now && at > after {
			sets = append(sets, c.setOf(run))
		}
	}
	slices.SortFunc(sets, func(a, b agent.DecisionSet) int { return cmp.Compare(c.changed[a.RunID], c.changed[b.RunID]) })
	if len(sets) > 2 {
		return sets[:2], c.changed[sets[1].RunID], nil
	}
	return sets, c.last, nil
}

// watcher is what a watcher knows.
type watcher struct {
	waiting     map[string][]string
	position    string
	unavailable []string
	restarts    int
}

func (w *watcher) names() (all []string) {
	for _, names := range w.waiting {
		all = append(all, names...)
	}
	slices.Sort(all)
	return all
}

// follow applies a watch until the state is complete and enough holds, or the watch ends.
func (w *watcher) follow(t *testing.T, c decisionv1.DecisionServiceClient, enough func() bool) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := c.WatchDecisions(ctx, &decisionv1.WatchDecisionsRequest{Position: w.position})
	if err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		if m.GetRestart() {
			w.waiting, w.restarts = map[string][]string{}, w.restarts+1
		}
		if m.GetSource() != "" {
			delete(w.waiting, m.GetSource())
			for _, d := range m.GetDecisions() {
				w.waiting[m.GetSource()] = append(w.waiting[m.GetSource()], d.GetName())
			}
		}
		if m.GetComplete() {
			w.position, w.unavailable = m.GetPosition(), m.GetUnavailable()
			if enough() {
				return nil
			}
		}
	}
}

// Watchers that come, go and come back know what runs wait for in the end.
func TestWatchedDecisions(t *testing.T) {
	a, random := newChanging(), rand.New(rand.NewPCG(1, 2))
	c := inboxOf(t, a, identity.Principal{Tenant: "red", Name: "bob"})
	watchers := make([]watcher, 3)
	for step := range 80 {
		a.set(fmt.Sprintf("red/r%d", random.IntN(7)), random.IntN(4))
		if err := watchers[step%2].follow(t, c, func() bool { return true }); err != nil && step%2 == 0 {
			t.Fatal(err)
		}
	}
	for n := range watchers {
		err := watchers[n].follow(t, c, func() bool { return slices.Equal(watchers[n].names(), a.names()) })
		if err != nil || watchers[n].restarts != 1 {
			t.Errorf("watcher %d: %v, %d restarts", n, err, watchers[n].restarts)
		}
	}
	page, err := c.ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	a.set("red/r0", 9) // after the page, and before the watch of it
	listed := watcher{position: page.GetPosition(), waiting: map[string][]string{}}
	for wanted := range 2 {
		err := listed.follow(t, c, func() bool { // what changed just before the page can come again
			return len(listed.waiting["red/r0"]) == 9 && len(listed.waiting["red/later"]) == wanted
		})
		if err != nil || listed.restarts != 0 {
			t.Errorf("a watcher of a page: %v, %+v", err, listed)
		}
		a.set("red/later", 1)
	}
	at := watchers[0].position
	a.last = 0 // another store
	if err := watchers[0].follow(t, c, func() bool { return true }); err != nil || watchers[0].restarts != 2 {
		t.Errorf("after the store was restored: %v, %d restarts", err, watchers[0].restarts)
	}
	for _, position := range []string{"x", at + "x", "." + at, strings.Replace(at, ".", "", 1)} {
		w := watcher{position: position}
		if err := w.follow(t, c, func() bool { return true }); position != at+"x" && kindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%q: %v", position, err)
		}
	}
	other := watcher{position: at}
	if err := other.follow(t, inboxOf(t, a, identity.Principal{Tenant: "red", Name: "eve"}), func() bool { return true }); kindOf(err) != tool.KindInvalidArgument {
		t.Errorf("the position of another caller: %v", err)
	}
}

// A principal has some watches at a time, and another one has its own.
func TestWatchesAreBounded(t *testing.T) {
	a := newChanging()
	a.set("red/r1", 1)
	watch := func(c decisionv1.DecisionServiceClient) error {
		stream, err := c.WatchDecisions(t.Context(), &decisionv1.WatchDecisionsRequest{}) // open until the end
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	bob := inboxOf(t, a, identity.Principal{Tenant: "red", Name: "bob"})
	for range 100 {
		if err := watch(bob); err != nil {
			t.Fatal(err)
		}
	}
	if err := watch(bob); kindOf(err) != tool.KindRateLimited {
		t.Errorf("one more watch: %v", err)
	}
	if err := watch(inboxOf(t, a, identity.Principal{Tenant: "red", Name: "ada"})); err != nil {
		t.Errorf("the watch of another principal: %v", err)
	}
}

// A watch ends when its caller may see less, or more.
func TestTheWatchEndsWithTheRights(t *testing.T) {
	var policy atomic.Pointer[authz.Policy]
	policy.Store(authz.New(roles))
	c := decisionv1.NewDecisionServiceClient(connectedTo(t, agentserver.Config{Agent: newChanging(), Gate: gate.New(gate.Config{
		Rights: agentserver.Rights(), Authenticator: known{identity.Principal{Tenant: "red", Name: "bob"}}, Policy: policy.Load,
	})}))
	err := new(watcher).follow(t, c, func() bool {
		policy.Store(authz.New(roles[:1]))
		return false
	})
	if kindOf(err) != tool.KindDenied {
		t.Errorf("the watch ended with %v", err)
	}
}

// The watch has the calls that toolhost holds, goes on at toolhost where it was, and says when
// toolhost does not answer. A toolhost that begins again makes the watcher begin again.
func TestWatchedHeldCalls(t *testing.T) {
	h, a := holdsCall(), newChanging()
	a.set("red/r", 1)
	var mu sync.Mutex
	var asked []string
	var fails atomic.Bool
	restart := make(chan struct{})
	h.watch = func(r *decisionv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[decisionv1.WatchDecisionsResponse]) error {
		mu.Lock()
		asked = append(asked, r.GetOnBehalfOf().GetName()+" "+r.GetPosition())
		mu.Unlock()
		if fails.Load() {
			return status.Error(codes.Unavailable, "secret address")
		}
		state := func() {
			_ = stream.Send(&decisionv1.WatchDecisionsResponse{Restart: true, Source: heldName, Decisions: h.held})
			_ = stream.Send(&decisionv1.WatchDecisionsResponse{Source: "red/r", Decisions: h.held}) // it is none of toolhost's
			_ = stream.Send(&decisionv1.WatchDecisionsResponse{Complete: true, Position: "h.1"})
		}
		if r.GetPosition() == "" {
			state()
		} else {
			_ = stream.Send(&decisionv1.WatchDecisionsResponse{Source: heldName})
			_ = stream.Send(&decisionv1.WatchDecisionsResponse{Complete: true, Position: "h.2"})
		}
		var again <-chan struct{}
		if r.GetPosition() == "h.2" { // the streams of before may not have ended yet
			again = restart
		}
		for {
			select {
			case <-again:
				state()
			case <-stream.Context().Done():
				return nil
			}
		}
	}
	c := inboxWith(t, a, h.client(t), identity.Principal{Tenant: "red", Name: "bob"})
	always := func() bool { return true }
	var w watcher
	if err := w.follow(t, c, always); err != nil || !slices.Equal(w.names(), []string{heldName, "red/r/d0"}) || len(w.unavailable) > 0 {
		t.Errorf("the present state: %v, %+v", err, w)
	}
	if err := w.follow(t, c, always); err != nil || !slices.Equal(w.names(), []string{"red/r/d0"}) || w.restarts != 1 {
		t.Errorf("after the call was decided: %v, %+v", err, w)
	}
	begun := false
	if err := w.follow(t, c, func() bool {
		if !begun {
			begun = true
			restart <- struct{}{}
			return false
		}
		return true
	}); err != nil || !slices.Equal(w.names(), []string{heldName, "red/r/d0"}) || w.restarts != 2 {
		t.Errorf("after toolhost began again: %v, %+v", err, w)
	}
	fails.Store(true)
	var beside watcher
	if err := beside.follow(t, c, always); err != nil || !slices.Equal(beside.names(), []string{"red/r/d0"}) || len(beside.unavailable) != 1 || strings.Contains(beside.unavailable[0], "secret") {
		t.Errorf("without toolhost: %v, %+v", err, beside)
	}
	fails.Store(false)
	listed := watcher{waiting: map[string][]string{}}
	for _, known := range []string{"", "h.1"} { // the page of a toolhost that is silent, and of one that answers
		h.position, h.err = known, nil
		if known == "" {
			h.err = status.Error(codes.Unavailable, "secret address")
		}
		page, err := c.ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		listed.position = page.GetPosition()
		err = listed.follow(t, c, func() bool { return (len(listed.names()) == 1) == (known == "") })
		if err != nil || listed.restarts != 0 {
			t.Errorf("after a page with the position %q: %v, %+v", known, err, listed)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(asked)
	if want := []string{"bob ", "bob h.1", "bob h.2"}; !slices.Equal(slices.Compact(asked), want) {
		t.Errorf("toolhost was asked %q, want %q", asked, want)
	}
}

// Watches of one caller share a stream of toolhost, which bounds the streams of a connection.
func TestWatchesShareAStream(t *testing.T) {
	h, a := holdsCall(), newChanging()
	h.position = "h.0"
	var mu sync.Mutex
	asked := map[string]int{}
	decided := make(chan struct{})
	h.watch = func(r *decisionv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[decisionv1.WatchDecisionsResponse]) error {
		mu.Lock()
		asked[r.GetPosition()]++
		mu.Unlock()
		_ = stream.Send(&decisionv1.WatchDecisionsResponse{Complete: true, Position: "h.1"})
		select {
		case <-decided:
			_ = stream.Send(&decisionv1.WatchDecisionsResponse{Source: heldName})
			_ = stream.Send(&decisionv1.WatchDecisionsResponse{Complete: true, Position: "h.2"})
		case <-stream.Context().Done():
		}
		<-stream.Context().Done()
		return nil
	}
	c := inboxWith(t, a, h.client(t), identity.Principal{Tenant: "red", Name: "bob"})
	page, err := c.ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var streams []grpc.ServerStreamingClient[decisionv1.WatchDecisionsResponse]
	for range 40 {
		stream, err := c.WatchDecisions(t.Context(), &decisionv1.WatchDecisionsRequest{Position: page.GetPosition()})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := stream.Recv(); err != nil || !m.GetComplete() {
			t.Fatal(m, err)
		}
		streams = append(streams, stream)
	}
	close(decided)
	for n, stream := range streams {
		for source := ""; source == ""; {
			m, err := stream.Recv()
			if err != nil || m.GetRestart() {
				t.Fatalf("watch %d: %v, %v", n, m, err)
			}
			source = m.GetSource()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked["h.0"] != 1 {
		t.Errorf("toolhost has the streams %v", asked)
	}
}

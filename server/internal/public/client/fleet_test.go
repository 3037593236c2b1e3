package client_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// node is one of several toolhosts in this process.
type node struct {
	at     address.Address
	host   *hosttest.Toolhost
	server *hostserver.Server
	served chan error
}

func startNodes(t *testing.T, hosts ...*hosttest.Toolhost) (nodes []*node) {
	t.Helper()
	for _, h := range hosts {
		n := &node{at: socket(t), host: h}
		n.start(t)
		t.Cleanup(n.kill)
		nodes = append(nodes, n)
	}
	return nodes
}

func (n *node) start(t *testing.T) {
	t.Helper()
	listener, err := n.at.Listen(t.Context(), "toolhost")
	if err != nil {
		t.Fatal(err)
	}
	server, served := hostserver.NewServer(hostserver.Config{Host: n.host}), make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with stop
	n.server, n.served = server, served
}

// stop stops the server. Calls end before, unless ctx does.
func (n *node) stop(ctx context.Context) {
	if n.server != nil {
		_ = n.server.Shutdown(ctx)
		<-n.served
		n.server = nil
	}
}

// kill stops the server, and closes its connections at once.
func (n *node) kill() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n.stop(ctx)
}

// sessions returns the sessions whose calls the toolhost has got.
func (n *node) sessions() map[string]bool {
	all := map[string]bool{}
	for _, call := range n.host.Opened() {
		all[call.Session] = true
	}
	return all
}

func dialNodes(t *testing.T, nodes ...*node) *client.Client {
	t.Helper()
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.at.String())
	}
	c, err := client.Dial(strings.Join(addresses, ","))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

const sessionCount = 60

func inSession(i int) tool.Call {
	call := echo("hello")
	call.Session = fmt.Sprint("session-", i)
	return call
}

// callAll makes a call in each session. Each has an id, so that one that goes to a toolhost whose
// loss its client has not seen yet is made again at another one.
func callAll(t *testing.T, c *client.Client) {
	t.Helper()
	for i := range sessionCount {
		call := inSession(i)
		call.ID = rand.Text()
		if out, err := c.Call(bounded(t), call); err != nil || out.Result.Text() != "hello" {
			t.Fatalf("session %d: %+v, %v", i, out.Result, err)
		}
	}
}

func TestSessionsAreSpreadOverToolhosts(t *testing.T) {
	nodes := startNodes(t, newHost(t), newHost(t), newHost(t))
	callAll(t, dialNodes(t, nodes[0], nodes[1], nodes[2]))
	callAll(t, dialNodes(t, nodes[2], nodes[0], nodes[1])) // finds them where the other client does
	all := 0
	for i, n := range nodes {
		if len(n.sessions()) == 0 {
			t.Errorf("the toolhost %d has no session", i)
		}
		all += len(n.sessions())
	}
	if all != sessionCount {
		t.Errorf("%d sessions are at %d toolhosts", sessionCount, all)
	}
}

// The sessions of a toolhost that is lost move to others, and come back with it. Those of the
// others stay.
func TestSessionsOfALostToolhostMove(t *testing.T) {
	nodes := startNodes(t, newHost(t), newHost(t), newHost(t))
	c := dialNodes(t, nodes...)
	callAll(t, c)
	lost, before := nodes[1], []map[string]bool{nodes[0].sessions(), nodes[1].sessions(), nodes[2].sessions()}
	lost.kill()
	callAll(t, c)
	moved := 0
	for _, i := range []int{0, 2} {
		for s := range nodes[i].sessions() {
			switch {
			case before[1][s]:
				moved++
			case !before[i][s]:
				t.Errorf("%s has moved, and its toolhost lives", s)
			}
		}
	}
	if moved != len(before[1]) {
		t.Errorf("%d of %d sessions have moved", moved, len(before[1]))
	}
	had := len(lost.host.Opened())
	lost.start(t)
	eventually.Holds(t, "the sessions are back", func() bool {
		callAll(t, c)
		return len(lost.host.Opened()) > had
	})
}

// Each toolhost stops in turn and starts again, while calls are made. None fails.
func TestCallsGoOnWhileToolhostsRestart(t *testing.T) {
	nodes := startNodes(t, newHost(t), newHost(t), newHost(t))
	c := dialNodes(t, nodes...)
	var over atomic.Bool
	var callers sync.WaitGroup
	var made [4]atomic.Int64
	for i := range len(made) {
		callers.Go(func() {
			for n := 0; !over.Load(); n++ {
				call := inSession(n%sessionCount*len(made) + i)
				if out, err := c.Call(t.Context(), call); err != nil || out.Result.IsError {
					t.Errorf("%s: %v", call.Session, err)
					return
				}
				made[i].Add(1)
			}
		})
	}
	progress := func() {
		for i := range len(made) {
			before := made[i].Load()
			eventually.Holds(t, "more calls have been made", func() bool { return t.Failed() || made[i].Load() > before+20 })
		}
	}
	for range 5 {
		for _, n := range nodes {
			progress()
			n.stop(bounded(t))
			progress()
			n.start(t)
		}
	}
	over.Store(true)
	callers.Wait()
}

// A call with an id whose toolhost is lost is joined at another one that knows it, and one that has
// only lost its connection at the same toolhost, which alone knows it.
func TestALostCallIsJoined(t *testing.T) {
	shared := newHost(t) // as with one ledger
	for name, hosts := range map[string][]*hosttest.Toolhost{
		"at another toolhost":  {shared, shared},
		"at the same toolhost": {newHost(t), newHost(t)},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := startNodes(t, hosts...)
			c := dialNodes(t, nodes...)
			var open []tool.Execution
			for i := range 20 { // some of them are at each toolhost
				call := wait("lost")
				call.Session = inSession(i).Session
				e, err := c.Open(bounded(t), call, true)
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				begun(t, e)
				open = append(open, e)
			}
			nodes[0].kill()
			if hosts[0] != hosts[1] {
				nodes[0].start(t)
			}
			for _, h := range hosts {
				e, err := h.Open(bounded(t), tool.Call{Tool: "release", Arguments: []byte(`{"key":"k"}`)}, true)
				if err != nil {
					t.Fatal(err)
				}
				end(t, e)
				e.Close()
			}
			for _, e := range open {
				if out := end(t, e); out.Err != nil {
					t.Errorf("it ended with %v", out.Err)
				}
			}
		})
	}
}

// A call without an id whose toolhost is lost may have been executed, and so may one of which the
// next toolhost knows nothing.
func TestALostCallThatNobodyKnows(t *testing.T) {
	for name, id := range map[string]string{"without an id": "", "with an id": "known-to-one"} {
		t.Run(name, func(t *testing.T) {
			empty := hosttest.New(t, nil)
			nodes := startNodes(t, newHost(t), empty)
			c := dialNodes(t, nodes...)
			call := wait(id)
			for i := 0; call.Session == ""; i++ { // a session of the first toolhost
				if out, _ := c.Call(bounded(t), inSession(i)); out.Err == nil {
					call.Session = inSession(i).Session
				}
			}
			e, err := c.Open(bounded(t), call, true)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			begun(t, e)
			nodes[0].kill()
			if out := end(t, e); out.Err == nil || out.Err.Kind != tool.KindOutcomeUnknown || !errors.Is(out.Err, client.ErrNoServer) {
				t.Errorf("it ended with %v", out.Err)
			}
		})
	}
}

// A call without an id that an instance has got may have been executed, also if its toolhost
// answers that it is unavailable, such as when there was no memory for its result.
func TestACallThatBeganIsNotMadeAgain(t *testing.T) {
	var made atomic.Int64
	pay := hosttest.Tool{Spec: tool.Spec{Name: "pay", Description: "Pays.", InputSchema: []byte(`{"type":"object"}`)}, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		made.Add(1)
		return tool.Result{}, tool.Errorf(tool.KindUnavailable, "the result is lost")
	}}
	c := dialNodes(t, startNodes(t, hosttest.New(t, nil, pay), hosttest.New(t, nil, pay))...)
	if _, err := c.Call(bounded(t), tool.Call{Tool: "pay", Arguments: []byte("{}")}); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("it ended with %v", err)
	}
	if made.Load() != 1 {
		t.Errorf("it was executed %d times", made.Load())
	}
}

// A client finds a call at a toolhost that is not the first choice of its session.
func TestACallIsFoundAtAnyToolhost(t *testing.T) {
	nodes := startNodes(t, newHost(t), newHost(t), newHost(t))
	c := dialNodes(t, nodes...)
	for i, n := range nodes {
		id := fmt.Sprint("at-", i)
		e := running(t, dial(t, n.at), id)
		if err := c.CancelCall(bounded(t), tool.CallKey{ID: id}, "enough"); err != nil {
			t.Error(err)
		}
		if out := end(t, e); out.Err == nil || out.Err.Kind != tool.KindCancelled {
			t.Errorf("it ended with %+v", out)
		}
		var last tool.Event
		for event, err := range c.WatchCall(bounded(t), tool.CallKey{ID: id}, 0) {
			if err != nil {
				t.Fatal(err)
			}
			last = event
		}
		if last.Ended == nil {
			t.Errorf("the watch ended with %+v", last)
		}
	}
	if err := c.CancelCall(bounded(t), tool.CallKey{ID: "none"}, ""); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("a call that none has: %v", err)
	}
	nodes[0].kill()
	if err := c.CancelCall(bounded(t), tool.CallKey{ID: "none"}, ""); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("a call that one may have: %v", err)
	}
}

// The name decides about TLS and the certificates of the addresses that DNS has for it. All servers
// get tokens of one source.
func TestAddressesOfDNS(t *testing.T) {
	ca := testca.New(t)
	s := serveSecurely(t, "127.0.0.1:0", serverTLS(t, ca, "localhost"))
	_, port, _ := net.SplitHostPort(s.addr)
	asked := 0
	source := client.WithTokenSource(func(context.Context) (client.Token, error) {
		asked++
		return client.Token{Value: "secret"}, nil
	})
	c := dialWith(t, "dns:///localhost:"+port, client.WithTLS(client.TLS{CA: ca.Path}), source)
	if err := call(t, c, "any"); err != nil || c.Addr() != "dns:///localhost:"+port {
		t.Errorf("%s: %v", c.Addr(), err)
	}
	if v, err := c.Version(bounded(t)); err != nil || v.Version != "9.9.9" || asked != 1 {
		t.Errorf("%v, %v; the source was asked %d times", v, err, asked)
	}
	other := serveSecurely(t, "127.0.0.1:0", serverTLS(t, ca, "127.0.0.1"))
	_, port, _ = net.SplitHostPort(other.addr)
	c = dialWith(t, "dns:///localhost:"+port, client.WithTLS(client.TLS{CA: ca.Path}), source)
	if err := call(t, c, "any"); !errors.Is(err, client.ErrNoServer) {
		t.Errorf("a certificate for another name: %v", err)
	}
	if _, sent := other.bearers.Load("Bearer secret"); sent {
		t.Error("a server with a certificate for another name has received a token")
	}
}

func TestDialRefusesSeveralAddresses(t *testing.T) {
	dialer := client.WithDialer(func(context.Context) (net.Conn, error) { return nil, io.EOF })
	for name, tc := range map[string]struct {
		addr    string
		options []client.DialOption
		says    string
	}{
		"twice":            {addr: "127.0.0.1:1,127.0.0.1:1", says: "twice"},
		"an empty one":     {addr: "127.0.0.1:1,", says: "empty"},
		"an IP address":    {addr: "dns:///192.0.2.1:7", says: "no name of DNS"},
		"a name in a list": {addr: "dns:///a.example:7,b.example:7", says: "already stands for several"},
		"too many": {addr: strings.Join(slices.Collect(func(yield func(string) bool) {
			for i := range 101 {
				if !yield(fmt.Sprint("127.0.0.1:", 1000+i)) {
					return
				}
			}
		}), ","), says: "the maximum is 100"},
		"one dialer":   {addr: "a.example:1,b.example:2", options: []client.DialOption{dialer}, says: "connects to one server"},
		"an unfit one": {addr: "unix:///run/x.sock,b.example:2", options: []client.DialOption{client.WithTLS(client.TLS{})}, says: "is a unix socket"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.Dial(tc.addr, tc.options...)
			if err == nil {
				_ = c.Close()
			}
			if tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
}

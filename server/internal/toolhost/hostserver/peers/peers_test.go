package peers_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/clientlimit"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/access/passing"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver/peers"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	callerKey = "toolhost-node-caller-bin"
	targetKey = "toolhost-node-target"
	nodeID    = "1" // of each node
)

var me = identity.Principal{Tenant: identity.DefaultTenant, Name: authn.UserName(os.Getuid())}

// known is a ledger whose calls and artifacts are all at one toolhost.
type known struct {
	postgres.Peer
	none bool
}

func (k *known) PeerOfCall(context.Context, callstore.Key) (postgres.Peer, bool, error) {
	return k.Peer, !k.none, nil
}

func (k *known) PeerOfFolder(context.Context, string) (postgres.Peer, bool, error) {
	return k.Peer, !k.none, nil
}

// node is a toolhost with a listener for others.
type node struct {
	*hosttest.Toolhost
	ca  *testca.CA
	at  string // of the listener for others
	log *syncbuf.Buffer

	mu     sync.Mutex
	passed map[string]int // requests that were passed on to it, by method and outcome
}

// startNode starts a toolhost that shares nothing but its listener for others, with a policy.
func startNode(t *testing.T, policy *authz.Policy) *node {
	t.Helper()
	n := &node{ca: testca.New(t), log: &syncbuf.Buffer{}}
	artifacts, err := artifact.Open(artifact.Config{Dir: t.TempDir(), Place: "there234"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = artifacts.Close() })
	n.Toolhost = hosttest.New(t, func(c *host.Config) { c.Artifacts = artifacts }, hosttest.Tools()...)
	logger := slog.New(slog.NewTextHandler(n.log, nil))
	certificate, key := n.ca.Files(t, "127.0.0.1", "tools-1.example")
	at, err := address.ParseListener("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limits := listen.Limits{HandshakeTimeout: 30 * time.Second, AuthenticationTimeout: 30 * time.Second, Streams: 128}
	set, err := listen.Open(t.Context(), "test", []listen.Config{{
		Address: at, Nodes: true, TLS: &listen.TLS{Certificate: certificate, Key: key, ClientCA: n.ca.Path, ClientCertificate: listen.Required},
	}}, limits, logger)
	if err != nil {
		t.Fatal(err)
	}
	n.at = set.First().String()
	server := hostserver.NewServer(hostserver.Config{
		Host: n.Host, Logger: logger, Network: append(clientlimit.Options(limits, time.Minute, logger), peers.Options()...),
		Gate: gate.New(gate.Config{
			Rights: hostserver.PassedRights(), Policy: gate.Always(policy), Logger: logger,
			Authenticator: &passing.Authenticator{Program: "toolhost", Node: nodeID, Rights: hostserver.PassedRights(), Logger: logger},
		}),
	})
	_, wait := set.Serve(server.Serve)
	t.Cleanup(func() {
		_ = server.Shutdown(ended())
		if err := errors.Join(wait(), set.Close()); err != nil {
			t.Error(err)
		}
	})
	return n
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// peersOf returns what passes requests on to the node.
func (n *node) peersOf(t *testing.T, k *known, idle time.Duration) *peers.Peers {
	t.Helper()
	certificate, key := n.ca.Files(t, "tools-2.example")
	p := peers.New(peers.Config{
		Ledger: k, TLS: credential.TLS{CA: n.ca.Path, Certificate: certificate, Key: key}, Logger: slog.New(slog.DiscardHandler), Unused: idle,
		Passed: func(method, outcome string) {
			n.mu.Lock()
			defer n.mu.Unlock()
			if n.passed == nil {
				n.passed = map[string]int{}
			}
			n.passed[method+" "+outcome]++
		},
	})
	t.Cleanup(p.Close)
	return p
}

// beside returns a client of another toolhost, which takes all calls and artifacts for those of a
// node.
func (n *node) beside(t *testing.T, k *known) toolhostv1.ToolServiceClient {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "peers")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket, err := net.Listen("unix", filepath.Join(folder, "s"))
	if err != nil {
		t.Fatal(err)
	}
	server := hostserver.NewServer(hostserver.Config{Host: hosttest.New(t, nil, hosttest.Tools()...), Peers: n.peersOf(t, k, 0)})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(socket) })
	t.Cleanup(func() {
		_ = server.Shutdown(ended())
		serving.Wait()
	})
	return dial(t, "unix:"+socket.Addr().String(), insecure.NewCredentials())
}

func dial(t *testing.T, at string, transport credentials.TransportCredentials) toolhostv1.ToolServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(at, grpc.WithTransportCredentials(transport))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return toolhostv1.NewToolServiceClient(conn)
}

func (n *node) wantPassed(t *testing.T, want map[string]int) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !maps.Equal(n.passed, want) {
		t.Errorf("requests were passed on: %v, want %v", n.passed, want)
	}
}

// with returns the credentials of a client with a certificate of a CA.
func (n *node) with(t *testing.T, ca *testca.CA, names ...string) credentials.TransportCredentials {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(n.ca.PEM())
	config := &tls.Config{RootCAs: roots}
	if ca != nil {
		pair, err := tls.X509KeyPair(ca.Issue(t, names...))
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(config)
}

// begin begins a call at the node, and returns it after an event for which until is true.
func (n *node) begin(t *testing.T, call tool.Call, until func(tool.Event) bool) (tool.Execution, tool.Event) {
	t.Helper()
	call.Principal = me.Key()
	e, err := n.Open(t.Context(), call, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for {
		ev, err := e.Next(t.Context())
		if err != nil || ev.Ended != nil {
			t.Fatalf("%+v, %v", ev.Ended, err)
		}
		if until(ev) {
			return e, ev
		}
	}
}

func outcome(t *testing.T, e tool.Execution) *tool.Outcome {
	t.Helper()
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Ended != nil {
			return ev.Ended
		}
	}
}

var waiting = tool.Call{ID: "waits", Tool: "wait", Arguments: json.RawMessage(`{"key":"never"}`)}

func isStatus(e tool.Event) bool { return e.Status != nil }

// A call is cancelled, watched and answered, and an artifact is read, at another toolhost.
func TestRequestsArePassedOn(t *testing.T) {
	n := startNode(t, gate.LocalPolicy())
	k := &known{Peer: postgres.Peer{ID: nodeID, Name: "tools-1", Address: n.at}}
	c := n.beside(t, k)

	asks := tool.Call{ID: "asks", Tool: "ask", Arguments: json.RawMessage(`{"kind":"person","message":"Which?"}`), Answers: []tool.QuestionKind{tool.QuestionPerson}}
	e, asked := n.begin(t, asks, func(e tool.Event) bool { return e.Question != nil })
	answer := toolpb.FromAnswer(tool.Answer{Person: &tool.PersonAnswer{Action: tool.PersonDecline}})
	if _, err := c.AnswerQuestion(t.Context(), &toolhostv1.AnswerQuestionRequest{CallId: "asks", Question: asked.Question.ID, Answer: answer}); err != nil {
		t.Error(err)
	}
	if got := outcome(t, e); got.Err != nil {
		t.Errorf("after the answer: %+v", got)
	}
	_, err := c.AnswerQuestion(t.Context(), &toolhostv1.AnswerQuestionRequest{CallId: "asks", Question: 99, Answer: answer})
	if tool.KindOf(toolpb.FromStatusError(err)) != tool.KindNotFound {
		t.Errorf("no such question: %v", err)
	}

	e, _ = n.begin(t, waiting, isStatus)
	events, err := c.WatchCall(t.Context(), &toolhostv1.WatchCallRequest{CallId: "waits"})
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := events.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if m.GetEvent().GetStatus() != nil {
			break
		}
	}
	if _, err := c.CancelCall(t.Context(), &toolhostv1.CancelCallRequest{CallId: "waits", Reason: "enough of it"}); err != nil {
		t.Error(err)
	}
	if got := outcome(t, e); tool.KindOf(got.Err) != tool.KindCancelled || !strings.Contains(got.Err.Error(), "enough of it") {
		t.Errorf("after the cancellation: %+v", got)
	}
	if m, err := events.Recv(); err != nil || m.GetEvent().GetEnded() == nil {
		t.Errorf("the watcher got %v, %v", m, err)
	}
	if _, err := events.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the end of the watch: %v", err)
	}

	large := tool.Call{ID: "large", Tool: "large", Arguments: json.RawMessage(`{"bytes":50000,"kind":"text"}`), MaxShown: new(100)}
	e, _ = n.begin(t, large, func(e tool.Event) bool { return e.Started != nil })
	handle := outcome(t, e).Result.Content[1].Artifact.Handle
	piece, err := c.ReadArtifact(t.Context(), &toolhostv1.ReadArtifactRequest{Handle: handle})
	if err != nil || piece.GetSize() != 50_000 || len(piece.GetData()) == 0 {
		t.Errorf("the artifact %s: %d bytes of %d, %v", handle, len(piece.GetData()), piece.GetSize(), err)
	}
	if _, err := c.ReadArtifact(t.Context(), &toolhostv1.ReadArtifactRequest{Handle: handle, Session: "another"}); tool.KindOf(toolpb.FromStatusError(err)) != tool.KindNotFound {
		t.Errorf("in another session: %v", err)
	}
	k.Gone = true
	if _, err := c.ReadArtifact(t.Context(), &toolhostv1.ReadArtifactRequest{Handle: handle}); err == nil || !strings.Contains(err.Error(), "the toolhost tools-1 (1), which is gone: it is lost") {
		t.Errorf("when the toolhost is gone: %v", err)
	}
	n.wantPassed(t, map[string]int{
		"AnswerQuestion ok": 1, "AnswerQuestion error": 1, "WatchCall ok": 1, "CancelCall ok": 1, "ReadArtifact ok": 1, "ReadArtifact error": 1,
	})
	if log := n.log.String(); !strings.Contains(log, "principal="+me.Key()) || !strings.Contains(log, "node=dns:tools-2.example") {
		t.Errorf("the log of the node does not have both names:\n%s", log)
	}
}

// The other toolhost decides by its own policy, and a token that is limited to some tools stays so.
func TestThePolicyOfTheOtherToolhostDecides(t *testing.T) {
	n := startNode(t, authz.New([]authz.Binding{{Role: "caller", To: []string{"name:ada"}}}))
	p := n.peersOf(t, &known{Peer: postgres.Peer{ID: nodeID, Address: n.at}}, 0)
	call := waiting
	call.Principal = "ada"
	e, err := n.Open(t.Context(), call, true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for who, want := range map[*identity.Principal]tool.Kind{
		{Tenant: identity.DefaultTenant, Name: "ada"}:                                                     "",
		{Tenant: identity.DefaultTenant, Name: "ada", Scope: &identity.Scope{Tools: []string{"echo"}}}:    tool.KindNotFound,
		{Tenant: identity.DefaultTenant, Name: "ada", Scope: &identity.Scope{Roles: []string{"auditor"}}}: tool.KindDenied,
		{Tenant: identity.DefaultTenant, Name: "bob", Groups: []string{"ada"}}:                            tool.KindDenied,
		{Tenant: "red", Name: "ada"}:                           tool.KindDenied,
		{Tenant: identity.DefaultTenant, Name: "not a name\n"}: tool.KindUnavailable,
	} {
		ctx := identity.NewContext(t.Context(), *who)
		passed, err := p.Call(ctx, tool.CallKey{ID: call.ID}, func(ctx context.Context, c toolhostv1.ToolServiceClient) error {
			_, err := c.CancelCall(ctx, &toolhostv1.CancelCallRequest{CallId: call.ID})
			return err
		})
		if got := toolpb.FromStatusError(err); !passed || got == nil && want != "" || got != nil && got.Kind != want {
			t.Errorf("%+v: %v, want %q", who, err, want)
		}
	}
}

// Only a certificate of the toolhosts' CA counts, and only with a principal and for the RPCs that
// are passed on.
func TestStrangersAtTheListenerForToolhosts(t *testing.T) {
	n := startNode(t, gate.LocalPolicy())
	e, _ := n.begin(t, waiting, isStatus)
	named, err := json.Marshal(me)
	if err != nil {
		t.Fatal(err)
	}
	cancel := func(ctx context.Context, c toolhostv1.ToolServiceClient) error {
		_, err := c.CancelCall(ctx, &toolhostv1.CancelCallRequest{CallId: waiting.ID})
		return err
	}
	more := strings.Replace(string(named), "{", `{"MayOnly":"read",`, 1)
	for name, test := range map[string]struct {
		transport credentials.TransportCredentials
		metadata  []string
		do        func(context.Context, toolhostv1.ToolServiceClient) error
		want      codes.Code
	}{
		"no certificate":                 {n.with(t, nil), []string{callerKey, string(named)}, cancel, codes.Unavailable},
		"a certificate of another CA":    {n.with(t, testca.New(t), "tools-2.example"), []string{callerKey, string(named)}, cancel, codes.Unavailable},
		"no principal":                   {n.with(t, n.ca, "tools-2.example"), nil, cancel, codes.Unauthenticated},
		"a token alone":                  {n.with(t, n.ca, "tools-2.example"), []string{"authorization", "Bearer toolhost_x"}, cancel, codes.Unauthenticated},
		"two principals":                 {n.with(t, n.ca, "tools-2.example"), []string{callerKey, string(named), callerKey, string(named)}, cancel, codes.Unauthenticated},
		"a principal without a name":     {n.with(t, n.ca, "tools-2.example"), []string{callerKey, "{}"}, cancel, codes.Unauthenticated},
		"a limit that nobody here knows": {n.with(t, n.ca, "tools-2.example"), []string{callerKey, more}, cancel, codes.Unauthenticated},
		"a call, which is not passed on": {n.with(t, n.ca, "tools-2.example"), []string{callerKey, string(named)}, call, codes.Unauthenticated},
		"whoami, which is not passed on": {n.with(t, n.ca, "tools-2.example"), []string{callerKey, string(named)}, whoami, codes.Unauthenticated},
		"for another toolhost":           {n.with(t, n.ca, "tools-2.example"), []string{callerKey, string(named), targetKey, "2"}, cancel, codes.FailedPrecondition},
		"for this and for another one":   {n.with(t, n.ca, "tools-2.example"), []string{callerKey, string(named), targetKey, nodeID, targetKey, "2"}, cancel, codes.FailedPrecondition},
		"another toolhost, and no name":  {n.with(t, n.ca, "tools-2.example"), []string{targetKey, "2"}, cancel, codes.FailedPrecondition},
		"no certificate, and another":    {n.with(t, nil), []string{targetKey, "2"}, cancel, codes.Unavailable},
		"a call of somebody else's":      {n.with(t, n.ca, "tools-2.example"), []string{callerKey, `{"Tenant":"red","Name":"ada"}`}, cancel, codes.PermissionDenied},
	} {
		err := test.do(metadata.AppendToOutgoingContext(t.Context(), test.metadata...), dial(t, n.at, test.transport))
		if status.Code(err) != test.want {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	// A toolhost of before names no toolhost for which its request is.
	toolhost := dial(t, n.at, n.with(t, n.ca, "tools-2.example"))
	if err := cancel(metadata.AppendToOutgoingContext(t.Context(), callerKey, string(named)), toolhost); err != nil {
		t.Error(err)
	}
	if got := outcome(t, e); tool.KindOf(got.Err) != tool.KindCancelled {
		t.Errorf("the call: %+v", got)
	}
}

func call(ctx context.Context, c toolhostv1.ToolServiceClient) error {
	_, err := c.Call(ctx, &toolhostv1.CallRequest{Tool: "echo", Arguments: []byte(`{"text":"x"}`)})
	return err
}

func whoami(ctx context.Context, c toolhostv1.ToolServiceClient) error {
	_, err := c.WhoAmI(ctx, &toolhostv1.WhoAmIRequest{})
	return err
}

// Another toolhost has got the address of the one that has a call, or a toolhost finds itself
// there: it refuses the request instead of answering that there is no such call, and does nothing
// to a call of its own that has the same id.
func TestAnotherToolhostAtTheAddress(t *testing.T) {
	n := startNode(t, gate.LocalPolicy())
	k := &known{Peer: postgres.Peer{ID: "2", Name: "tools-2", Address: n.at}}
	c := n.beside(t, k)
	e, _ := n.begin(t, waiting, isStatus)
	_, err := c.CancelCall(t.Context(), &toolhostv1.CancelCallRequest{CallId: waiting.ID})
	if got := toolpb.FromStatusError(err); got == nil || got.Kind != tool.KindUnavailable || !strings.Contains(got.Error(), "the toolhost tools-2 (2): it cannot be reached") {
		t.Errorf("canceling the call of another toolhost: %v", err)
	}
	_, err = c.ReadArtifact(t.Context(), &toolhostv1.ReadArtifactRequest{Handle: "artifact-aaaaaaaaaaaaaaaaaaaaaaaaaa-there234"})
	if got := toolpb.FromStatusError(err); got == nil || got.Kind != tool.KindUnavailable {
		t.Errorf("reading the artifact of another toolhost: %v", err)
	}
	events, err := c.WatchCall(t.Context(), &toolhostv1.WatchCallRequest{CallId: waiting.ID})
	if err == nil {
		_, err = events.Recv()
	}
	if got := toolpb.FromStatusError(err); got == nil || got.Kind != tool.KindNotFound { // the ledger here has none
		t.Errorf("watching the call of another toolhost: %v", err)
	}
	n.wantPassed(t, map[string]int{"CancelCall unreachable": 1, "ReadArtifact unreachable": 1, "WatchCall unreachable": 1})
	k.ID = nodeID
	if _, err := c.CancelCall(t.Context(), &toolhostv1.CancelCallRequest{CallId: waiting.ID, Reason: "of this one"}); err != nil {
		t.Error(err)
	}
	if got := outcome(t, e); tool.KindOf(got.Err) != tool.KindCancelled || !strings.Contains(got.Err.Error(), "of this one") {
		t.Errorf("the call of the toolhost at the address: %+v", got)
	}
}

// At a listener for clients, the metadata means nothing, with or without a certificate.
func TestAClientThatNamesAPrincipalStaysItself(t *testing.T) {
	n := startNode(t, gate.LocalPolicy())
	c := n.beside(t, &known{none: true})
	ctx := metadata.AppendToOutgoingContext(t.Context(), callerKey, `{"Tenant":"default","Name":"ada"}`)
	if who, err := c.WhoAmI(ctx, &toolhostv1.WhoAmIRequest{}); err != nil || who.GetCaller().GetPrincipal() != me.Key() {
		t.Errorf("toolhost takes the client for %v, %v", who, err)
	}
	// What is passed on has the principal of the client, and not the metadata that it sent.
	c = n.beside(t, &known{Peer: postgres.Peer{ID: nodeID, Address: n.at}})
	e, _ := n.begin(t, waiting, isStatus)
	if _, err := c.CancelCall(ctx, &toolhostv1.CancelCallRequest{CallId: waiting.ID}); err != nil {
		t.Error(err)
	}
	if got := outcome(t, e); tool.KindOf(got.Err) != tool.KindCancelled {
		t.Errorf("the call: %+v", got)
	}
}

// A toolhost that cannot be reached is named, and its answer is not waited for without end. A
// connection without a request is closed.
func TestConnections(t *testing.T) {
	n := startNode(t, gate.LocalPolicy())
	k := &known{Peer: postgres.Peer{ID: nodeID, Name: "tools-1", Address: n.at}}
	p := n.peersOf(t, k, time.Millisecond)
	ctx := identity.NewContext(t.Context(), me)
	cancel := func(ctx context.Context, c toolhostv1.ToolServiceClient) error {
		_, err := c.CancelCall(ctx, &toolhostv1.CancelCallRequest{CallId: "none"})
		return err
	}
	for range 2 {
		if _, err := p.Call(ctx, tool.CallKey{ID: "none"}, cancel); tool.KindOf(toolpb.FromStatusError(err)) != tool.KindNotFound {
			t.Errorf("a call that does not exist: %v", err)
		}
		eventually.Holds(t, "the connection is closed", func() bool { return p.Open() == 0 })
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k.Address = taken.Addr().String()
	_ = taken.Close()
	_, err = p.Call(ctx, tool.CallKey{ID: "none"}, cancel)
	if tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "the toolhost tools-1 (1)") {
		t.Errorf("a toolhost that does not run: %v", err)
	}
	for at, want := range map[string]tool.Kind{"unix:///tmp/x": tool.KindUnavailable, "not an address": tool.KindUnavailable, "": ""} {
		k.Address = at
		if passed, err := p.Call(ctx, tool.CallKey{ID: "none"}, cancel); passed != (at != "") || tool.KindOf(err) != want {
			t.Errorf("the address %q: %v, %v", at, passed, err)
		}
	}
	here := peers.New(peers.Config{Ledger: k, Has: func(key tool.CallKey) bool { return key.ID == "here" }, Logger: slog.New(slog.DiscardHandler)})
	if passed, err := here.Call(ctx, tool.CallKey{ID: "here"}, cancel); passed || err != nil {
		t.Errorf("a call of this toolhost: %v, %v", passed, err)
	}
	p.Close()
	k.Address = n.at
	if _, err := p.Call(ctx, tool.CallKey{ID: "none"}, cancel); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("after Close: %v", err)
	}
	n.wantPassed(t, map[string]int{". error": 2, ". unreachable": 4}) // there is no method without a server
}

// Whoever watches many calls leaves room for the requests and the watches of others.
func TestWatchesThatArePassedOnAreBounded(t *testing.T) {
	n := &node{ca: testca.New(t)}
	p := n.peersOf(t, &known{Peer: postgres.Peer{ID: nodeID, Address: "127.0.0.1:1"}}, 0) // nothing connects
	// watch begins watches, each while the one before goes on, and returns how many are passed on. It
	// calls then when no more are.
	watch := func(name string, then func()) (most int) {
		ctx := identity.NewContext(t.Context(), identity.Principal{Tenant: identity.DefaultTenant, Name: name})
		var again func(context.Context, toolhostv1.ToolServiceClient) error
		again = func(context.Context, toolhostv1.ToolServiceClient) error {
			most++
			if passed, reachable, err := p.Watch(ctx, tool.CallKey{ID: "x"}, again); !passed {
				if !reachable || err != nil {
					t.Errorf("one more: %v, %v", reachable, err)
				}
				then()
			}
			return nil
		}
		_, _, _ = p.Watch(ctx, tool.CallKey{ID: "x"}, again)
		return most
	}
	all := 0
	var others func(n int)
	others = func(n int) {
		if n < 20 {
			all += watch("other-"+string(rune('a'+n)), func() { others(n + 1) })
		}
	}
	for range 2 { // the second time shows that the first has released all
		all = 0
		all += watch("ada", func() { others(0) })
		if all != 512 {
			t.Errorf("%d watches are passed on, want 512", all)
		}
	}
	if of := watch("ada", func() {}); of != 64 {
		t.Errorf("%d watches of one principal are passed on, want 64", of)
	}
}

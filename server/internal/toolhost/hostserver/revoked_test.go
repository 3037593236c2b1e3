package hostserver_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
)

// leased authenticates every caller as red/ada, by a token that can be revoked.
type leased struct{ revoked atomic.Bool }

func (r *leased) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	return authn.Verified{
		Principal: identity.Principal{Tenant: "red", Name: "ada", Credential: authn.Token},
		Current: func(context.Context) error {
			if r.revoked.Load() {
				return errors.New("the token was revoked")
			}
			return nil
		},
	}, nil
}

// refusing returns the gate of a server, and the refusals that it reports.
func refusing(a gate.Authenticator) (*gate.Gate, chan gate.Refusal) {
	refusals := make(chan gate.Refusal, 100)
	return gate.New(gate.Config{
		Rights: hostserver.Rights(), Authenticator: a,
		Policy:  gate.Always(authz.New([]authz.Binding{{Role: "caller", To: []string{"tenant:red"}}})),
		Refused: func(_ context.Context, r gate.Refusal) { refusals <- r },
	}), refusals
}

// A caller cannot open streams and calls in advance, and use them when its token has been revoked.
func TestCallsPreparedBeforeTheRevocation(t *testing.T) {
	token := &leased{}
	admitting, refusals := refusing(token)
	host := newHost(t)
	a, _ := serve(t, socket(t), hostserver.Config{Host: host, Gate: admitting})
	c := tools(t, a)
	execute, err := c.Execute(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := c.Connect(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, stream: stream}
	w.start(1, "echo", `{"te`, false)
	w.append(1, `xt":`)
	w.start(2, "echo", `{"text":"x"}`, true)
	w.ended(2)
	token.revoked.Store(true)
	w.append(1, `"x"}`)
	w.complete(1)
	w.endedWith(1, toolv1.ErrorKind_ERROR_KIND_UNAVAILABLE)
	for range 3 {
		w.start(3, "echo", `{"text":"x"}`, true)
		w.endedWith(3, toolv1.ErrorKind_ERROR_KIND_UNAVAILABLE)
	}
	start := &toolhostv1.StartCall{Tool: "echo", Arguments: []byte(`{"text":"x"}`), Complete: true}
	if err := execute.Send(&toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Start{Start: start}}); err != nil {
		t.Fatal(err)
	}
	ended, err := lastOf(execute, func(m *toolhostv1.ExecuteResponse) *toolhostv1.CallEvent { return m.GetEvent() })
	if err != nil || ended.GetError().GetKind() != toolv1.ErrorKind_ERROR_KIND_UNAVAILABLE {
		t.Errorf("the first frame of Execute after the revocation: %v, %v", ended, err)
	}
	if opened := len(host.Opened()); opened > 2 {
		t.Errorf("the host got %d calls after the revocation", opened-2)
	}
	for _, rpc := range []string{"Connect", "Execute"} { // each stream once, however many calls it tries
		if r := <-refusals; r.Reason != "the token was revoked" || r.Principal.Key() != "red/ada" {
			t.Errorf("%s: reported is %+v", rpc, r)
		}
	}
	if len(refusals) > 0 {
		t.Errorf("reported is, too: %+v", <-refusals)
	}
}

// Ids that a principal does not have are reported, whether others have them or not.
func TestIDsOfOthersAreReported(t *testing.T) {
	admitting, refusals := refusing(known{identity.Principal{Tenant: "red", Name: "ada", Credential: authn.Token}})
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: admitting})
	c := toolhostv1.NewToolServiceClient(raw(t, a))
	watch, err := c.WatchCall(bounded(t), &toolhostv1.WatchCallRequest{CallId: "of-others"})
	if err == nil {
		_, err = watch.Recv()
	}
	_, cancelled := c.CancelCall(bounded(t), &toolhostv1.CancelCallRequest{CallId: "of-others"})
	_, read := c.ReadArtifact(bounded(t), &toolhostv1.ReadArtifactRequest{Handle: "of-others"})
	for rpc, err := range map[string]error{"WatchCall": err, "CancelCall": cancelled, "ReadArtifact": read} {
		if status.Code(err) != codes.NotFound {
			t.Errorf("%s: %v", rpc, err)
		}
		if r := <-refusals; r.Principal.Key() != "red/ada" || r.Target != "of-others" || r.Method == "" || r.Reason == "" {
			t.Errorf("reported is %+v", r)
		}
	}
	for _, named := range []*toolv1.Principal{{Name: "a\nb"}, {Tenant: "All", Name: "x"}} {
		if _, err := c.ListTools(bounded(t), &toolhostv1.ListToolsRequest{OnBehalfOf: named}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("on behalf of %v: %v", named, err)
		}
		if r := <-refusals; r.Principal.Key() != "red/ada" || r.Reason == "" {
			t.Errorf("reported is %+v", r)
		}
	}
}

// The server reports a process that must not use it once for each connection. It also reports an
// RPC that no service has.
func TestRefusedConnectionsAreReported(t *testing.T) {
	admitting, refusals := refusing(known{identity.Principal{Tenant: "red", Name: "ada", Credential: authn.Token}})
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: admitting, Refuse: func(int) error { return errors.New("you are one of us") }})
	c := raw(t, a)
	for range 3 {
		if _, err := toolhostv1.NewToolServiceClient(c).ListTools(bounded(t), &toolhostv1.ListToolsRequest{}); status.Code(err) != codes.PermissionDenied {
			t.Error(err)
		}
	}
	if r := <-refusals; r.Reason != "you are one of us" || r.Principal.Name != "" || len(refusals) > 0 {
		t.Errorf("reported is %+v and %d more", r, len(refusals))
	}
	admitting, refusals = refusing(known{identity.Principal{Tenant: "red", Name: "ada", Credential: authn.Token}})
	a, _ = serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: admitting})
	err := raw(t, a).Invoke(bounded(t), "/toolhost.v1.AdminService/Become", &toolhostv1.ListToolsRequest{}, &toolhostv1.ListToolsResponse{})
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("an RPC that does not exist: %v", err)
	}
	if r := <-refusals; r.Method != "/toolhost.v1.AdminService/Become" || r.Principal.Key() != "red/ada" {
		t.Errorf("reported is %+v", r)
	}
}

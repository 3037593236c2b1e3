package gate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/audit"
)

const (
	call   = "/toolhost.v1.ToolService/Call"
	reload = "/toolhost.v1.AdminService/Reload"
)

// connection is the AuthInfo of a connection with some evidence.
type connection struct {
	credentials.CommonAuthInfo
	authn.Evidence
}

func (connection) AuthType() string { return "test" }

func (c connection) evidence() authn.Evidence { return c.Evidence }

// evident is a connection that package gate accepts.
type evident struct{ connection }

func (e evident) Evidence() authn.Evidence { return e.evidence() }

func rpc(t *testing.T, e authn.Evidence, authorization ...string) context.Context {
	t.Helper()
	ctx := peer.NewContext(t.Context(), &peer.Peer{AuthInfo: evident{connection{Evidence: e}}})
	return metadata.NewIncomingContext(ctx, metadata.MD{"authorization": authorization})
}

func TestAdmit(t *testing.T) {
	var refusals []gate.Refusal
	g := gate.New(gate.Config{
		Rights:  rpcright.Table{call: {authz.RunsApprove, authz.ToolsCall}, reload: {authz.ConfigReload}},
		Policy:  gate.Always(gate.LocalPolicy(gate.Anonymous("caller"))),
		Refused: func(_ context.Context, r gate.Refusal) { refusals = append(refusals, r) },
	})
	own, root, stranger := authn.Evidence{UID: os.Getuid(), HasUID: true}, authn.Evidence{HasUID: true}, authn.Evidence{UID: 4711, HasUID: true}
	for _, test := range []struct {
		name   string
		ctx    context.Context
		method string
		want   codes.Code
		reason string // part of the reason in the report
	}{
		{"the own user", rpc(t, own), reload, codes.OK, ""},
		{"root", rpc(t, root), reload, codes.OK, ""},
		{"another user", rpc(t, stranger), call, codes.PermissionDenied, "no binding gives uid:4711 a role"},
		{"anybody on loopback", rpc(t, authn.Evidence{Plain: true}), call, codes.OK, ""},
		{"anybody on loopback who administrates", rpc(t, authn.Evidence{Plain: true}), reload, codes.PermissionDenied, "does not have the right config.reload"},
		{"no evidence", rpc(t, authn.Evidence{}), call, codes.Unauthenticated, "nothing identifies the caller"},
		{"no connection", t.Context(), call, codes.Unauthenticated, "nothing identifies the caller"},
		{"a token that nothing verifies", rpc(t, own, "Bearer x"), call, codes.Unauthenticated, "is no token of this server"},
		{"another scheme", rpc(t, own, "Basic x"), call, codes.Unauthenticated, "does not begin with Bearer"},
		{"an empty token", rpc(t, own, "Bearer "), call, codes.Unauthenticated, "is empty"},
		{"two tokens", rpc(t, own, "Bearer x", "Bearer y"), call, codes.Unauthenticated, "several values"},
		{"an RPC that does not exist", rpc(t, own), "/x.Y/Z", codes.Unimplemented, "the server has no such RPC"},
		{"a stranger asks for an RPC that does not exist", rpc(t, authn.Evidence{}), "/x.Y/Z", codes.Unauthenticated, "nothing identifies the caller"},
		{"a stranger asks for the health", rpc(t, authn.Evidence{}), "/grpc.health.v1.Health/Check", codes.OK, ""},
		{"a stranger asks for descriptors", rpc(t, authn.Evidence{}), "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", codes.Unauthenticated, ""},
		{"the own user asks for descriptors", rpc(t, own), "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", codes.OK, ""},
	} {
		refusals = nil
		ctx, err := g.Admit(test.ctx, test.method, nil)
		if status.Code(err) != test.want {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		switch p, _ := identity.FromContext(orBackground(ctx)); {
		case err != nil && (len(refusals) != 1 || refusals[0].Method != test.method || !strings.Contains(refusals[0].Reason, test.reason)):
			t.Errorf("%s: reported %+v, want %q", test.name, refusals, test.reason)
		case err != nil && (test.want == codes.PermissionDenied && strings.Contains(err.Error(), refusals[0].Reason) || test.want == codes.Unauthenticated && strings.Contains(err.Error(), "uid:")):
			t.Errorf("%s: the stranger learns %v", test.name, err)
		case err == nil && !strings.Contains(test.method, "Health") && p.Key() == "":
			t.Errorf("%s: the RPC has no principal", test.name)
		case err == nil && len(refusals) != 0:
			t.Errorf("%s: reported %+v", test.name, refusals)
		case err == nil && p.Key() != "" && !gate.Decide(ctx, authz.Request{Right: authz.VersionRead}).Allowed:
			t.Errorf("%s: the policy is not in the context", test.name)
		}
	}
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Outside of an RPC, nothing is permitted.
func TestDecideWithoutAnRPC(t *testing.T) {
	ctx := identity.NewContext(t.Context(), identity.Principal{Tenant: identity.DefaultTenant, Name: authn.UserName(0)})
	if gate.Decide(ctx, authz.Request{Right: authz.VersionRead}).Allowed {
		t.Error("a principal without an RPC may read the version")
	}
}

// written is an audit log in memory. It fails if err is set.
type written struct {
	events []audit.Event
	err    error
}

func (w *written) Note(ctx context.Context, e audit.Event) error {
	if ctx.Err() != nil { // as *audit.Log does while another line is written
		return ctx.Err()
	}
	if w.err == nil {
		w.events = append(w.events, e)
	}
	return w.err
}

// restart is the request of an administrative RPC.
type restart struct{}

func (restart) GetPlugin() string { return "fs" }

// The audit log has each refusal and each administrative RPC, the latter before it is carried out.
// An administrative RPC that cannot be written is refused; other RPCs are not written.
func TestAudit(t *testing.T) {
	log := &written{}
	g := gate.New(gate.Config{Rights: rpcright.Table{call: {authz.ToolsCall}, reload: {authz.ConfigReload}}, Audit: log})
	own := authn.Evidence{UID: os.Getuid(), HasUID: true}
	for _, test := range []struct {
		ctx    context.Context
		method string
		kind   audit.Kind // empty: nothing is written
		want   codes.Code
	}{
		{rpc(t, own), call, "", codes.OK},
		{rpc(t, own), reload, audit.OfAdministration, codes.OK},
		{rpc(t, authn.Evidence{UID: 4711, HasUID: true}), reload, audit.OfAuthorization, codes.PermissionDenied},
		{rpc(t, authn.Evidence{Address: "192.0.2.7"}, "Bearer stolen"), call, audit.OfAuthentication, codes.Unauthenticated},
	} {
		log.events = nil
		_, err := g.Admit(test.ctx, test.method, restart{})
		if status.Code(err) != test.want || len(log.events) != 0 != (test.kind != "") {
			t.Fatalf("%s: %v, %+v", test.method, err, log.events)
		}
		if len(log.events) == 0 {
			continue
		}
		e := log.events[0]
		if e.Kind != test.kind || e.Act != test.method || e.From == "" || e.Reason == "" || (e.Outcome == audit.Allowed) != (err == nil) || (e.Target == "fs") != (err == nil) {
			t.Errorf("%s: %+v", test.method, e)
		}
		if strings.Contains(fmt.Sprint(e), "stolen") {
			t.Errorf("the log has the token: %+v", e)
		}
	}
	gone, leave := context.WithCancel(rpc(t, authn.Evidence{UID: 4711, HasUID: true}))
	leave()
	log.events = nil
	if _, err := g.Admit(gone, reload, restart{}); status.Code(err) != codes.PermissionDenied || len(log.events) != 1 {
		t.Errorf("a caller that gives up at once: %v, %+v", err, log.events)
	}
	log.err = errors.New("the disk is full")
	if _, err := g.Admit(rpc(t, own), reload, restart{}); status.Code(err) != codes.Unavailable {
		t.Errorf("an administrative RPC that cannot be written: %v", err)
	}
	if _, err := g.Admit(rpc(t, own), call, nil); err != nil {
		t.Errorf("another RPC: %v", err)
	}
}

// failing is an authenticator that cannot decide.
type failing struct{}

func (failing) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	return authn.Verified{}, errors.New("the token store cannot be read")
}

// A gate that cannot authenticate refuses, and says why only to the operator.
func TestAFailureRefuses(t *testing.T) {
	var reason string
	g := gate.New(gate.Config{
		Rights: rpcright.Table{call: {authz.ToolsCall}}, Authenticator: failing{},
		Refused: func(_ context.Context, r gate.Refusal) { reason = r.Reason },
	})
	_, err := g.Admit(rpc(t, authn.Evidence{HasUID: true}), call, nil)
	if status.Code(err) != codes.Unauthenticated || strings.Contains(err.Error(), "store") || reason != "the token store cannot be read" {
		t.Errorf("the caller gets %v, and the operator %q", err, reason)
	}
}

// A caller with a right in another tenant uses the RPCs whose service decides about tenants, and no
// others.
func TestAdmitInAnotherTenant(t *testing.T) {
	const list = "/toolhost.v1.AdminService/ListCalls"
	g := gate.New(gate.Config{
		Rights: rpcright.Table{list: {authz.CallsList}, reload: {authz.ConfigReload}, "/start": {authz.RunsStart}},
		Policy: gate.Always(authz.New([]authz.Binding{
			{Role: "operator", To: []string{"name:" + authn.UserName(os.Getuid())}, Tenants: []string{"red"}},
			{Role: "caller", To: []string{"name:" + authn.UserName(os.Getuid())}, Tenants: []string{"red"}},
		})),
	})
	for method, want := range map[string]codes.Code{list: codes.OK, reload: codes.PermissionDenied, "/start": codes.PermissionDenied} {
		if _, err := g.Admit(rpc(t, authn.Evidence{UID: os.Getuid(), HasUID: true}), method, nil); status.Code(err) != want {
			t.Errorf("%s: %v, want %v", method, err, want)
		}
	}
}

// expiring is an authenticator whose credential becomes invalid.
type expiring struct{ problem *error }

func (e expiring) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	p := identity.Principal{Tenant: identity.DefaultTenant, Name: authn.UserName(0), Credential: authn.Token}
	return authn.Verified{Principal: p, Current: func(context.Context) error { return *e.problem }}, nil
}

func TestRecheck(t *testing.T) {
	var problem error
	var refusals []gate.Refusal
	config := gate.Config{
		Rights: rpcright.Table{call: {authz.ToolsCall}}, Authenticator: expiring{&problem},
		Refused: func(_ context.Context, r gate.Refusal) { refusals = append(refusals, r) },
	}
	ctx, err := gate.New(config).Admit(rpc(t, authn.Evidence{Address: "192.0.2.1"}), call, nil)
	if err != nil {
		t.Fatal(err)
	}
	valid := gate.Recheck(ctx)
	if !valid(ctx) || len(refusals) != 0 {
		t.Errorf("a valid credential is refused: %+v", refusals)
	}
	problem = errors.New("the token was revoked")
	if valid(ctx) {
		t.Error("a revoked credential is valid")
	}
	if len(refusals) != 1 || refusals[0].Reason != "the token was revoked" || refusals[0].Method != call || refusals[0].Principal.Name != "uid:0" || refusals[0].Address != "192.0.2.1" {
		t.Errorf("reported %+v", refusals)
	}
	config.Authenticator = nil
	if ctx, err = gate.New(config).Admit(rpc(t, authn.Evidence{HasUID: true}), call, nil); err != nil {
		t.Fatal(err)
	}
	if gate.Recheck(ctx) != nil || gate.Recheck(t.Context()) != nil {
		t.Error("the user of a unix socket is checked again for each call")
	}
}

// A server warns if its policy gives its own user no role, also under the name that a rule gives
// it.
func TestWarnAboutOwner(t *testing.T) {
	own := os.Getuid()
	named := authn.New(authn.Config{Rules: []authn.Rule{{UID: &own, Name: "olga", Groups: []string{"ops"}}}})
	admin := func(to string) *authz.Policy { return authz.New([]authz.Binding{{Role: "admin", To: []string{to}}}) }
	for _, test := range []struct {
		callers *authn.Authenticator
		policy  *authz.Policy
		want    string // in the warning; empty: there is none
	}{
		{&authn.Authenticator{}, gate.LocalPolicy(), ""},
		{&authn.Authenticator{}, admin("name:" + authn.UserName(own)), ""},
		{&authn.Authenticator{}, admin("name:ada"), "principal=" + authn.UserName(own)},
		{named, admin("group:ops"), ""},
		{named, admin("name:" + authn.UserName(own)), "no binding gives olga a role"},
	} {
		var log strings.Builder
		gate.WarnAboutOwner(t.Context(), test.callers, test.policy, slog.New(slog.NewTextHandler(&log, nil)))
		if test.want == "" && log.Len() > 0 || !strings.Contains(log.String(), test.want) {
			t.Errorf("logged %q, want %q", log.String(), test.want)
		}
	}
}

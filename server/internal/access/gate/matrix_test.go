package gate_test

import (
	"context"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"google.golang.org/protobuf/reflect/protoreflect"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
)

var update = flag.Bool("update", false, "write the matrix")

// bearers verifies the tokens and JWTs of the test.
type bearers struct{}

func (bearers) Verify(_ context.Context, bearer string) (authn.Verified, error) {
	kind, ok := map[string]string{"tht_good": authn.Token, "ey.J.good": authn.JWT}[bearer]
	if !ok {
		return authn.Verified{}, errors.New("the credential is not valid")
	}
	return authn.Verified{Principal: identity.Principal{Tenant: "red", Name: "p", Credential: kind}}, nil
}

// ways are the ways in which the caller red/p, or a caller without a principal, is authenticated.
func ways(t *testing.T) map[string]context.Context {
	t.Helper()
	name, err := url.Parse("spiffe://red/p")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]context.Context{
		"peer":        rpc(t, authn.Evidence{UID: 1234, HasUID: true}),
		"certificate": rpc(t, authn.Evidence{Certificate: &x509.Certificate{URIs: []*url.URL{name}}}),
		"token":       rpc(t, authn.Evidence{}, "Bearer tht_good"),
		"jwt":         rpc(t, authn.Evidence{}, "Bearer ey.J.good"),
	}
}

// identified are those of the strangers that have a principal. They may ask about themselves.
var identified = []string{"another user", "another certificate", "anonymous"}

// strangers are callers that no role may help.
func strangers(t *testing.T) map[string]context.Context {
	t.Helper()
	return map[string]context.Context{
		"another user":        rpc(t, authn.Evidence{UID: 4321, HasUID: true}),
		"another certificate": rpc(t, authn.Evidence{Certificate: &x509.Certificate{DNSNames: []string{"p"}}}),
		"another token":       rpc(t, authn.Evidence{}, "Bearer tht_bad"),
		"another jwt":         rpc(t, authn.Evidence{}, "Bearer ey.J.bad"),
		"a token beside p":    rpc(t, authn.Evidence{UID: 1234, HasUID: true}, "Bearer tht_bad"),
		"anonymous":           rpc(t, authn.Evidence{Plain: true}),
		"nothing":             rpc(t, authn.Evidence{}),
	}
}

// Every RPC of every service with every role, given in the own tenant (o), in another tenant (f)
// and in all tenants (a), for each way of authentication. The golden file is reviewed by hand: it
// states what a role may do, and not what the options of the RPCs say. A letter in it means that
// the gate admits the RPC; f means that the service shows only what belongs to the other tenant.
func TestMatrix(t *testing.T) {
	files := []protoreflect.FileDescriptor{
		toolhostv1.File_toolhost_v1_tool_service_proto, toolhostv1.File_toolhost_v1_admin_service_proto, toolhostv1.File_toolhost_v1_login_service_proto, toolhostv1.File_toolhost_v1_approval_service_proto, decisionv1.File_toolhost_decision_v1_decision_service_proto, agentdv1.File_agentd_v1_agent_service_proto,
	}
	table, err := rpcright.Of(files...)
	if err != nil {
		t.Fatal(err)
	}
	uid := 1234
	identify := authn.New(authn.Config{
		Rules: []authn.Rule{
			{UID: &uid, Name: "p", Tenant: "red"}, {Certificate: "uri:spiffe://red/p", Name: "p", Tenant: "red"},
		},
		Tokens: bearers{}, TokenPrefix: "tht", Issuers: bearers{},
	})
	methods := slices.Sorted(maps.Keys(table))
	methods = append(methods, "/grpc.health.v1.Health/Check", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/unknown.Service/Do")
	for way, ctx := range ways(t) {
		var got strings.Builder
		w := tabwriter.NewWriter(&got, 0, 0, 1, ' ', 0)
		fmt.Fprintf(w, "RPC\t%s\n", strings.Join(authz.Roles(), "\t"))
		for _, method := range methods {
			fmt.Fprint(w, method)
			for _, role := range authz.Roles() {
				fmt.Fprintf(w, "\t%s", admitted(t, ctx, identify, table, role, method))
			}
			fmt.Fprintln(w)
		}
		_ = w.Flush()
		compareMatrix(t, way, got.String())
	}
}

// admitted returns the letters of the bindings of a role to red/p with which the gate admits an
// RPC. It checks that the bindings help no stranger.
func admitted(t *testing.T, ctx context.Context, identify gate.Authenticator, table rpcright.Table, role, method string) string {
	t.Helper()
	letters := ""
	for _, in := range []struct {
		letter  string
		tenants []string
	}{{"o", nil}, {"f", []string{"blue"}}, {"a", []string{authz.AllTenants}}} {
		binding := authz.Binding{Role: role, To: []string{"name:red/p"}, Tenants: in.tenants}
		g := gate.New(gate.Config{Rights: table, Authenticator: identify, Policy: gate.Always(authz.New([]authz.Binding{binding}))})
		if _, err := g.Admit(ctx, method, nil); err == nil {
			letters += in.letter
		}
		if strings.HasPrefix(method, "/grpc.health") {
			continue
		}
		for who, stranger := range strangers(t) {
			_, err := g.Admit(stranger, method, nil)
			asksAboutItself := strings.HasSuffix(method, "/WhoAmI") && slices.Contains(identified, who)
			if (err == nil) != asksAboutItself {
				t.Errorf("%s uses %s, while p has the role %s: %v", who, method, role, err)
			}
		}
	}
	if letters == "" {
		return "-"
	}
	return letters
}

func compareMatrix(t *testing.T, way, got string) {
	t.Helper()
	golden := filepath.Join("testdata", "matrix.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("with a credential of the kind %s, the matrix is\n%s\nand the golden file has\n%s", way, got, want)
	}
}

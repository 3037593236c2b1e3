package agentserver_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/tool"
)

// respond sends an approval with a name to a listener, and returns what the agent receives.
func respond(t *testing.T, listener net.Listener, target, by string) (name, principal string) {
	t.Helper()
	fake := &fakeAgent{}
	server := agentserver.NewServer(agentserver.Config{Agent: fake, Gate: gate.New(gate.Config{
		Rights: agentserver.Rights(), Policy: gate.Always(gate.LocalPolicy(gate.Anonymous("caller"))),
	})})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
		<-served
	}()
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := agentdv1.NewAgentServiceClient(conn).Respond(t.Context(), &agentdv1.RespondRequest{
		RunId: "r", DecidedBy: by, Decisions: []*agentdv1.Decision{{DecisionId: "d1", Verdict: &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{}}}},
	}); err != nil {
		t.Fatal(err)
	}
	return fake.made[0].By, fake.made[0].Principal
}

// The agent receives the user that the kernel names. The caller's name stays a name.
func TestADecisionNamesItsUser(t *testing.T) {
	for by, want := range map[string]string{"ann": "ann", "": "", "uid:4711": "uid:4711"} {
		path := filepath.Join(shortdir.Make(t), "s")
		listener, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		wantPrincipal := fmt.Sprintf("uid:%d", os.Getuid())
		if name, principal := respond(t, listener, "unix:"+path, by); name != want || principal != wantPrincipal {
			t.Errorf("%q became %q of %q, want %q of %q", by, name, principal, want, wantPrincipal)
		}
	}
}

// reloadable is a configuration that counts how often a caller reaches it.
type reloadable struct{ reached int }

func (r *reloadable) Reload(context.Context) *tool.ConfigurationChange { r.reached++; return nil }
func (r *reloadable) Diff(context.Context) *tool.ConfigurationChange   { r.reached++; return nil }

// Over TCP, agentd neither shows nor changes its configuration for a caller that it does not know.
func TestTheConfigurationIsOutOfReachOverTCP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	configuration := &reloadable{}
	server := agentserver.NewServer(agentserver.Config{Agent: &fakeAgent{}, Configuration: configuration})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Shutdown
	defer func() {
		_ = server.Shutdown(context.Background())
		<-served
	}()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := agentdv1.NewAgentServiceClient(conn)
	_, reloaded := c.Reload(t.Context(), &agentdv1.ReloadRequest{})
	_, shown := c.DiffConfiguration(t.Context(), &agentdv1.DiffConfigurationRequest{})
	for _, err := range []error{reloaded, shown} {
		if status.Code(err) != codes.PermissionDenied {
			t.Errorf("over TCP: %v", err)
		}
	}
	if configuration.reached != 0 {
		t.Error("a caller over TCP has reached the configuration")
	}
}

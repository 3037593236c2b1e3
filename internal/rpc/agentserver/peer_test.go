package agentserver_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/rpc/agentserver"
)

// respond sends an approval with a name to a listener, and returns what the agent receives.
func respond(t *testing.T, listener net.Listener, target, by string) (name, principal string) {
	t.Helper()
	fake := &fakeAgent{}
	server := agentserver.NewServer(fake, nil)
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

// A decision over TCP is marked as unverified, because any user of the machine can send it.
func TestADecisionOverTCPIsUnverified(t *testing.T) {
	for by, want := range map[string]string{"ann": "ann (unverified)", "": "somebody (unverified)"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if name, principal := respond(t, listener, listener.Addr().String(), by); name != want || principal != "" {
			t.Errorf("%q became %q of %q, want %q of no user", by, name, principal, want)
		}
	}
}

// The agent receives the user that the kernel names. The caller's name stays a name.
func TestADecisionNamesItsUser(t *testing.T) {
	for by, want := range map[string]string{"ann": "ann", "": "", "uid:4711": "uid:4711"} {
		path := filepath.Join(t.TempDir(), "s")
		listener, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		wantPrincipal := fmt.Sprintf("uid:%d", os.Getuid())
		if runtime.GOOS != "linux" { // the kernel is asked on Linux only
			wantPrincipal = ""
		}
		if name, principal := respond(t, listener, "unix:"+path, by); name != want || principal != wantPrincipal {
			t.Errorf("%q became %q of %q, want %q of %q", by, name, principal, want, wantPrincipal)
		}
	}
}

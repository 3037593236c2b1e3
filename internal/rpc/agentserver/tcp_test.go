package agentserver_test

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/rpc/agentserver"
)

// TestADecisionOverTCPIsUnverified: nothing says which user of the machine made it.
func TestADecisionOverTCPIsUnverified(t *testing.T) {
	fake := &fakeAgent{}
	server := agentserver.NewServer(fake, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
		<-served
	})
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for by, want := range map[string]string{"ann": "ann (unverified)", "": "somebody (unverified)"} {
		if _, err := agentdv1.NewAgentServiceClient(conn).Respond(t.Context(), &agentdv1.RespondRequest{
			RunId: "r", DecidedBy: by, Decisions: []*agentdv1.Decision{{DecisionId: "d1", Verdict: &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{}}}},
		}); err != nil {
			t.Fatal(err)
		}
		if got := fake.made[0].By; got != want {
			t.Errorf("%q became %q, want %q", by, got, want)
		}
	}
}

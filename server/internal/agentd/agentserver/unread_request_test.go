package agentserver_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
)

// strangers authenticates nobody.
type strangers struct{}

func (strangers) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	return authn.Verified{}, errors.New("a stranger")
}

// agentd refuses a stranger before it reads the request, which may be large and never end.
func TestStrangersAreRefusedBeforeTheirRequest(t *testing.T) {
	conn := connected(t, runs(), gate.New(gate.Config{Rights: agentserver.Rights(), Authenticator: strangers{}}))
	methods := agentdv1.File_agentd_v1_agent_service_proto.Services().Get(0).Methods()
	for i := range methods.Len() { // a server that waits for a request does not answer at all
		method := "/agentd.v1.AgentService/" + string(methods.Get(i).Name())
		stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.RecvMsg(new(emptypb.Empty)); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// Open requests take memory, although their callers send nothing, and give it back when they end.
func TestOpenRequestsTakeMemory(t *testing.T) {
	memory := budget.New(16<<20, 1<<20)
	_, conn := dialTo(t, agentserver.Config{Agent: runs(), Messages: memory})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	refused := make(chan bool, 100) // some fit into the share of the connection, and some into that of the principal
	for range cap(refused) {
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, agentdv1.AgentService_ListRuns_FullMethodName)
		if err != nil {
			t.Fatal(err)
		}
		go func() { refused <- status.Code(stream.RecvMsg(new(emptypb.Empty))) == codes.ResourceExhausted }() // ends with ctx
	}
	if !<-refused {
		t.Error("no request is refused")
	}
	if used := memory.Used(); used < 1<<20 {
		t.Errorf("the requests take %d bytes", used)
	}
	end()
	eventually.Holds(t, "the memory is released", func() bool { return memory.Used() == 0 })
}

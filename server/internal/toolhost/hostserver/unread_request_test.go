package hostserver_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
)

// strangers authenticates nobody.
type strangers struct{}

func (strangers) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	return authn.Verified{}, errors.New("a stranger")
}

// toolhost refuses a stranger before it reads the request, which may be large and never end.
func TestStrangersAreRefusedBeforeTheirRequest(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: gate.New(gate.Config{Rights: hostserver.Rights(), Authenticator: strangers{}})})
	conn := raw(t, a)
	for method := range hostserver.Rights() {
		stream, err := conn.NewStream(bounded(t), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.RecvMsg(new(emptypb.Empty)); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: %v", method, err)
		}
	}
}

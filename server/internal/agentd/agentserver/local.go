package agentserver

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
)

const (
	// localAddress names the agent of this process in errors.
	localAddress = "unix:///this-process"
	// localBytes is how much one side of the connection may write before the other side reads.
	localBytes = 256 << 10
)

// Local is a client of an agent in this process. The process serves the agent to itself over a
// connection in memory, which no other process can reach. So a command has one way to speak to
// runs: that of `agentd serve`. All methods are safe for concurrent use.
type Local struct {
	*client.AgentClient
	server *Server
	served <-chan error
}

// ServeLocal serves an agent to this process. logger gets only bugs; nil: no log. Refusals are not
// logged, because the process shows them. The caller calls Close, and then closes the agent.
func ServeLocal(a Agent, logger *slog.Logger) (*Local, error) {
	admit := gate.New(gate.Config{Rights: Rights(), Authenticator: ownUser{}})
	server := NewServer(Config{Agent: a, Foreground: true, Gate: admit, Logger: logger})
	c, served, err := server.Connect()
	if err != nil {
		return nil, errors.Join(err, server.Shutdown(context.Background()))
	}
	return &Local{c, server, served}, nil
}

// Connect connects this process to a server over memory, which no other process can reach. The
// caller closes the client, and receives from served after Shutdown. A caller of an RPC has no
// other evidence than that of As.
func (s *Server) Connect() (c *client.AgentClient, served <-chan error, err error) {
	memory := bufconn.Listen(localBytes)
	c, err = client.DialAgent(localAddress, client.WithDialer(memory.DialContext), client.IgnoreEnvironment())
	if err != nil {
		return nil, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(memory) }() // ends with Shutdown; the caller waits for it
	return c, ended, nil
}

// As returns a context whose RPCs have a bearer credential, for a client of Connect.
func As(ctx context.Context, bearer string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+bearer)
}

// Close ends the client, and then the server, whose RPCs end with the connection of the client.
// Call it once.
func (l *Local) Close() error {
	return errors.Join(l.AgentClient.Close(), l.server.Shutdown(context.Background()), <-l.served)
}

// ownUser identifies every caller as the user of this process.
type ownUser struct{}

// Authenticate implements gate.Authenticator.
func (ownUser) Authenticate(ctx context.Context, _ authn.Evidence) (authn.Verified, error) {
	var users authn.Authenticator
	return users.Authenticate(ctx, authn.Evidence{UID: os.Getuid(), HasUID: true})
}

package pluginwire

import (
	"context"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// Handler is what a plugin does. Its methods are called from many goroutines at once. A panic in one of them ends that
// call or request, not the process.
type Handler interface {
	// Describe says which tools there are. An error that is or wraps a *tool.Error keeps its kind.
	Describe(ctx context.Context, req DescribeRequest) (tool.Description, error)
	// Call runs one call from start to end, in a goroutine of its own. ctx ends at the call's deadline, when the host
	// cancels it and when the connection ends; context.Cause is a *tool.Error that says why. An error that is or wraps
	// a *tool.Error becomes the outcome; an error of ctx becomes its cause; any other is internal. The result must not
	// be changed afterwards.
	Call(ctx context.Context, call *ServerCall) (tool.Result, error)
}

// ServerConfig is how a plugin serves.
type ServerConfig struct {
	// Logger takes what goes wrong: panics with their stack. Nil means slog.Default.
	Logger *slog.Logger
	// MaxArgumentBytes bounds the argument text of one call; one that exceeds it ends with an error. 0: 64 MiB.
	MaxArgumentBytes int
}

// Register makes s serve handler. s should have ServerOptions.
func Register(s grpc.ServiceRegistrar, handler Handler, cfg ServerConfig) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.MaxArgumentBytes <= 0 {
		cfg.MaxArgumentBytes = defaultMaxArgumentBytes
	}
	pluginv1.RegisterToolPluginServiceServer(s, &server{handler: handler, cfg: cfg})
}

const defaultMaxArgumentBytes = 64 << 20

// server is the plugin's half of the contract.
type server struct {
	pluginv1.UnimplementedToolPluginServiceServer
	handler Handler
	cfg     ServerConfig
}

// Describe implements pluginv1.ToolPluginServiceServer.
func (s *server) Describe(ctx context.Context, req *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	var description tool.Description
	err := s.guard(slog.String("request", "describe"), func() (err error) {
		description, err = s.handler.Describe(ctx, DescribeRequest{
			Tools:   req.GetTools(),
			Session: req.GetSession(),
			Context: toolpb.ToValues(req.GetContext()),
		})
		return err
	})
	if err != nil {
		return nil, toolpb.StatusError(err)
	}
	return fromDescription(description), nil
}

// Connect implements pluginv1.ToolPluginServiceServer. It returns when the stream has ended and every call with it.
func (s *server) Connect(stream grpc.BidiStreamingServer[pluginv1.ConnectRequest, pluginv1.ConnectResponse]) error {
	if err := stream.SendHeader(metadata.Pairs(flow.BatchKey, flow.BatchValue)); err != nil {
		return err
	}
	session := newStreamSession(s, stream)
	defer session.close()
	return session.read(stream)
}

package wire

import (
	"context"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Handshake is the handshake of the bare go-plugin plugin and its client.
var Handshake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "TOOLHOST_BENCH", MagicCookieValue: "echo"}

// Plugin is the same service as a go-plugin plugin. Its client dispenses the connection.
type Plugin struct {
	plugin.NetRPCUnsupportedPlugin
}

// GRPCServer registers the service.
func (Plugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	Register(s)
	return nil
}

// GRPCClient returns the connection.
func (Plugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// Plugins is the plugin set of both sides.
func Plugins() map[string]plugin.Plugin { return map[string]plugin.Plugin{"echo": Plugin{}} }

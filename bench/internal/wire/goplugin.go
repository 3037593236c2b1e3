package wire

import (
	"context"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Handshake is what the bare go-plugin plugin and its client agree on.
var Handshake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "TOOLHOST_BENCH", MagicCookieValue: "echo"}

// Plugin is the same service by go-plugin, without a host between. What is dispensed is the connection.
type Plugin struct {
	plugin.NetRPCUnsupportedPlugin
}

// GRPCServer registers the work.
func (Plugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	Register(s)
	return nil
}

// GRPCClient returns the connection itself.
func (Plugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// Plugins is the set that both sides know.
func Plugins() map[string]plugin.Plugin { return map[string]plugin.Plugin{"echo": Plugin{}} }

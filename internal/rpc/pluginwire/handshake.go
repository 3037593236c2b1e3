package pluginwire

import (
	"context"
	"strconv"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/rpc/wirecode"
)

const (
	// ProtocolVersion is the version of toolhost.plugin.v1 in go-plugin's handshake line. It is the only one so far.
	//
	// It counts up when a plugin or a toolhost of before could not understand the other any more; a field or a frame that
	// the other side may ignore needs no new version. With version 2, HostPlugins returns a set for 2 and still the one
	// for 1, so that the plugins of before work on for at least one major version of toolhost; PluginPlugins of the new
	// sdk returns both too, so that new plugins run in the toolhost of before. toolhost lists its versions in
	// PLUGIN_PROTOCOL_VERSIONS, go-plugin's server answers with the highest that both know, and internal/plugin/process refuses
	// any other with both sides' versions. A set's wirePlugin knows its version and speaks accordingly, so that Conn and
	// Handler are the only places that differ.
	ProtocolVersion = 1
	// PluginKey is the key of the one plugin in go-plugin's plugin set: what to Dispense.
	PluginKey = "tool"
	// CookieKey and CookieValue are the environment variable by which an executable knows that toolhost started it, and
	// not a person. It is no secret.
	CookieKey   = "TOOLHOST_PLUGIN"
	CookieValue = "f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11"
)

// Handshake returns go-plugin's handshake for both sides.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

// Speaks reports whether a plugin knows one of the versions that a host offers in PLUGIN_PROTOCOL_VERSIONS, a list with commas.
// A plugin that knows none has to exit; go-plugin's server goes on all the same. An empty list is that of a host that does
// not tell.
func Speaks(offered string) bool {
	if offered == "" {
		return true
	}
	known := PluginPlugins(nil, ServerConfig{})
	for version := range strings.SplitSeq(offered, ",") {
		if v, err := strconv.Atoi(strings.TrimSpace(version)); err == nil && known[v] != nil {
			return true
		}
	}
	return false
}

// HostPlugins returns what the host gives go-plugin as VersionedPlugins. Dispensing PluginKey returns a *Conn that is
// not open yet; each Dispense returns another.
func HostPlugins(cfg ConnConfig) map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{ProtocolVersion: {PluginKey: &wirePlugin{conn: cfg}}}
}

// PluginPlugins returns what a plugin gives go-plugin as VersionedPlugins.
func PluginPlugins(handler Handler, cfg ServerConfig) map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{ProtocolVersion: {PluginKey: &wirePlugin{handler: handler, server: cfg}}}
}

// wirePlugin is either side of the contract as go-plugin wants it. It leaves the broker alone.
type wirePlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	conn    ConnConfig   // the host's side
	handler Handler      // the plugin's side
	server  ServerConfig // the plugin's side
}

// GRPCServer implements goplugin.GRPCPlugin.
func (p *wirePlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	Register(s, p.handler, p.server)
	return nil
}

// GRPCClient implements goplugin.GRPCPlugin. The context is not kept: what ends a Conn is its stream or its Close.
func (p *wirePlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, cc *grpc.ClientConn) (any, error) {
	return NewConn(cc, p.conn), nil
}

const (
	// maxMessage bounds one gRPC message. Frames are at most 64 KiB of payload by contract; what is larger are whole
	// replaced arguments and descriptions of many tools.
	maxMessage = 4 << 20
	// window is the HTTP/2 window of a stream and of a connection. It is static: on a unix socket the bandwidth probes
	// of a dynamic one cost more than they win.
	window = 1 << 20
	// maxStreams bounds the streams of one connection: Connect, Describe, health and go-plugin's own.
	maxStreams = 128
)

// DialOptions returns the options with which the host dials a plugin.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage), grpc.ForceCodecV2(wirecode.NewCodec())),
		grpc.WithStaticStreamWindowSize(window),
		grpc.WithStaticConnWindowSize(window),
		grpc.WithIdleTimeout(0),         // a plugin without calls stays connected
		grpc.WithDisableServiceConfig(), // a plugin does not configure its host
		grpc.WithDisableRetry(),         // whoever knows whether a call may run twice retries
		grpc.WithNoProxy(),
	}
}

// ServerOptions returns the options with which a plugin serves.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(wirecode.NewCodec()),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(maxMessage),
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(window),
		grpc.MaxConcurrentStreams(maxStreams),
	}
}

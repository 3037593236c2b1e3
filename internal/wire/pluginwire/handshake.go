package pluginwire

import (
	"context"
	"strconv"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/wire/wirecode"
)

const (
	// ProtocolVersion is the version of toolhost.plugin.v1 in go-plugin's handshake line. It is the
	// only one so far.
	//
	// A new version is needed only if an older plugin or toolhost could not understand the other
	// side; a field or frame that the other side may ignore needs none. With a version 2,
	// HostPlugins would return sets for 1 and 2, so that older plugins continue to work for at
	// least one major version of toolhost, and PluginPlugins of the new SDK would return both, so
	// that new plugins work with an older toolhost. toolhost lists its versions in
	// PLUGIN_PROTOCOL_VERSIONS, and go-plugin's server answers with the highest common one. Package
	// process refuses any other, with the versions of both sides. The wirePlugin of a set knows its
	// version, so only Conn and Handler would differ.
	ProtocolVersion = 1
	// PluginKey is the key of the only plugin in go-plugin's plugin set.
	PluginKey = "tool"
	// CookieKey and CookieValue are the environment variable by which an executable knows that
	// toolhost started it. It is not a secret.
	CookieKey   = "TOOLHOST_PLUGIN"
	CookieValue = "f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11"
)

// Handshake returns go-plugin's handshake configuration for both ends.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

// Speaks reports whether a plugin supports one of the versions that a host offers in
// PLUGIN_PROTOCOL_VERSIONS, a comma-separated list. A plugin that supports none must exit;
// go-plugin's server would continue. An empty list means that the host does not say.
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

// HostPlugins returns go-plugin's VersionedPlugins for the host. Dispensing PluginKey returns a new
// *Conn that is not open.
func HostPlugins(cfg ConnConfig) map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{ProtocolVersion: {PluginKey: &wirePlugin{conn: cfg}}}
}

// PluginPlugins returns go-plugin's VersionedPlugins for a plugin.
func PluginPlugins(handler Handler, cfg ServerConfig) map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{ProtocolVersion: {PluginKey: &wirePlugin{handler: handler, server: cfg}}}
}

// wirePlugin is either end of the contract as a go-plugin plugin. It does not use the broker.
type wirePlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	conn    ConnConfig   // for the host's end
	handler Handler      // for the plugin's end
	server  ServerConfig // for the plugin's end
}

// GRPCServer implements goplugin.GRPCPlugin.
func (p *wirePlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	Register(s, p.handler, p.server)
	return nil
}

// GRPCClient implements goplugin.GRPCPlugin. It ignores the context, because a Conn ends with its
// stream or with Close.
func (p *wirePlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, cc *grpc.ClientConn) (any, error) {
	return NewConn(cc, p.conn), nil
}

const (
	// maxMessage is the maximum size of a gRPC message. The contract limits frames to 64 KiB of
	// payload; only replaced arguments and descriptions of many tools are larger.
	maxMessage = 4 << 20
	// window is the HTTP/2 flow-control window of streams and connections. It is static, because on
	// a unix socket the bandwidth probes of a dynamic window cost more than they gain.
	window = 1 << 20
	// maxStreams limits the streams of one connection: Connect, Describe, health checks and
	// go-plugin's own.
	maxStreams = 128
	// maxHeaderBytes limits the headers and the trailers of one RPC that a plugin sends. They have at
	// most the message of an error. gRPC's default is 16 MiB.
	maxHeaderBytes = 64 << 10
)

// DialOptions returns the options with which the host connects to a plugin.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage), grpc.ForceCodecV2(wirecode.NewCodec())),
		grpc.WithMaxHeaderListSize(maxHeaderBytes),
		grpc.WithStaticStreamWindowSize(window),
		grpc.WithStaticConnWindowSize(window),
		grpc.WithIdleTimeout(0),         // a plugin without calls stays connected
		grpc.WithDisableServiceConfig(), // a plugin must not configure its host
		grpc.WithDisableRetry(),         // the host decides whether a call may be retried
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

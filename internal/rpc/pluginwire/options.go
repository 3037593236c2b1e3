package pluginwire

import (
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/rpc/wirecode"
)

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

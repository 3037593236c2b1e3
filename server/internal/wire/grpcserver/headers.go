package grpcserver

import (
	"context"
	"log/slog"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// gRPC closes the connection, with all its RPCs, when the metadata of one of them exceeds the bound
// of its option by much (grpc-go#4265). So gRPC reads readFactor times as much as an RPC may have,
// and CheckHeaders refuses that one RPC before it begins.
const readFactor = 4

// ReadHeaders returns the option for servers that call CheckHeaders with a bound in a tap.
func ReadHeaders(most int) grpc.ServerOption {
	return grpc.MaxHeaderListSize(uint32(most) * readFactor)
}

// CheckHeaders returns an error with the code ResourceExhausted if the metadata of an RPC has more
// than most bytes, as HTTP/2 counts them.
func CheckHeaders(header metadata.MD, most int) error {
	const overhead = 32 // of each field, by RFC 9113
	size := 0
	for name, values := range header {
		for _, value := range values {
			size += len(name) + len(value) + overhead
		}
	}
	if size > most {
		return status.Errorf(codes.ResourceExhausted, "the metadata of the RPC has %d bytes, and %d are allowed", size, most)
	}
	return nil
}

// RefuseHeaders is CheckHeaders for the tap of a server, and logs what it refuses: gRPC logs
// nothing, and no service sees the RPC. The logger has to bound its lines, because a client can
// repeat the RPC at will.
func RefuseHeaders(ctx context.Context, info *tap.Info, most int, logger *slog.Logger) error {
	err := CheckHeaders(info.Header, most)
	if err == nil {
		return nil
	}
	from := "unix"
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		if host, _, err := net.SplitHostPort(p.Addr.String()); err == nil {
			from = host
		}
	}
	method := info.FullMethodName
	if len(method) > maxMethod {
		method = method[:maxMethod] + "…"
	}
	logger.WarnContext(ctx, "an RPC was refused before it began", "method", method, "from", from, "error", status.Convert(err).Message())
	return err
}

// maxMethod is how much of the name of a method a log line has, in bytes. A client chooses the
// name.
const maxMethod = 100

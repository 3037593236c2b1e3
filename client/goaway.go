package client

import (
	"google.golang.org/grpc/connectivity"

	"github.com/toolhost/toolhost/internal/wire/link"
)

// watch retires the session when its connection takes no new streams: the server sent GOAWAY,
// because it limits the age of connections or shuts down. gRPC reports a GOAWAY only by the state
// of the connection, which stops being READY. watch ends with the stream.
func (s *session) watch(conn *link.Conn) {
	for state := conn.GetState(); state == connectivity.Ready || state == connectivity.Connecting; state = conn.GetState() {
		if !conn.WaitForStateChange(s.ctx, state) {
			return
		}
	}
	s.retire()
}

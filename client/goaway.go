package client

import (
	"errors"

	"google.golang.org/grpc/connectivity"

	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
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

// retire makes the client open another session for the next call. The stream ends now or with its
// last call.
func (s *session) retire() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.retired = true
	s.endIfIdle()
}

// endIfIdle ends the stream of a retired session without calls. The caller holds the mutex.
func (s *session) endIfIdle() {
	if s.retired && len(s.calls) == 0 && s.err == nil {
		s.err = tool.Errorf(tool.KindUnavailable, "the call was not executed: %w", errRetired)
		s.cancel()
	}
}

// errRetired is wrapped by the errors of a session that has retired. Another session takes the
// call.
var errRetired = errors.New("the session has retired")

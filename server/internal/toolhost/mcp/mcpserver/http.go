package mcpserver

import (
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// FromHeader is the header in which an HTTP server says where the caller is, for the audit log. It
// must replace what the client sent.
const FromHeader = "Toolhost-From"

// versionHeader is the header in which a client says which version of the protocol it speaks.
const versionHeader = "Mcp-Protocol-Version"

// Sessionless reports whether a request is of a version of the protocol without sessions.
func Sessionless(r *http.Request) bool { return r.Header.Get(versionHeader) >= stateless }

// Handler returns the handler of the streamable HTTP transport. It does not know who the caller is:
// every request that reaches it is one of the server's principal. A session ends after the time
// idle without a request.
//
// The SDK's stateful handler serves the versions that begin with initialize, and refuses later
// ones. Its stateless handler serves the version without sessions, and cannot ask a client of an
// earlier one. So the version that the client says decides. A client that says none begins with
// initialize.
func (s *Server) Handler(idle time.Duration) http.Handler {
	server := func(*http.Request) *mcp.Server { return s.mcp }
	// The caller of Handler checks the headers Host and Origin.
	sessions := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{SessionTimeout: idle, DisableLocalhostProtection: true})
	single := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get(versionHeader) >= withoutBatches {
			w = &answer{ResponseWriter: w}
		}
		if Sessionless(r) {
			single.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
}

// Close ends all sessions after the calls that they have, and waits for that.
func (s *Server) Close() {
	s.kept.close()
	var closing sync.WaitGroup
	for session := range s.mcp.Sessions() {
		closing.Go(func() { _ = session.Close() }) // a client that has gone cannot be told
	}
	closing.Wait()
}

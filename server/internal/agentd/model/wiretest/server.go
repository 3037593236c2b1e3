// Package wiretest has the shared parts of the providers' tests: a server on loopback that answers
// with recorded event streams and records its requests, and a text form of model responses.
//
// It does not know a wire format. Each test supplies the bytes of the responses.
package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Reply is one response of a Server. The zero value is an empty event stream.
type Reply struct {
	Status int         // 0 means 200
	Header http.Header // replaces the default content type text/event-stream
	Body   string
	// Piece is the number of bytes per write. The server flushes after each write. 0 means one
	// write for the whole body.
	Piece int
	// Step, if not nil, must yield a value before the server sends each event.
	Step <-chan struct{}
	// Hold keeps the stream open after the body until the client closes it.
	Hold bool
	// Cut breaks the connection after the body.
	Cut bool
}

// Request is one request that a Server received.
type Request struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte
}

// Server answers each request with the next reply. It repeats the last reply.
type Server struct {
	URL string
	// Client has a separate connection pool, which the end of the test closes.
	Client *http.Client
	// Gone receives one value for each reply with Hold when its client has closed the stream.
	Gone <-chan struct{}

	mu       sync.Mutex
	replies  []Reply
	requests []Request
}

// Serve starts a server that stops at the end of the test.
func Serve(t *testing.T, replies ...Reply) *Server {
	t.Helper()
	gone := make(chan struct{}, 16)
	s := &Server{Gone: gone, replies: replies}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		reply := s.next(Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
		if reply.send(w, r) {
			gone <- struct{}{}
		}
	}))
	t.Cleanup(web.Close)
	s.URL, s.Client = web.URL, web.Client()
	return s
}

// Requests returns the requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) next(request Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
	return s.replies[min(len(s.requests), len(s.replies))-1]
}

// send writes the reply. held reports whether it waited for the client to close the stream.
func (p Reply) send(w http.ResponseWriter, r *http.Request) (held bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	for key, values := range p.Header {
		w.Header()[http.CanonicalHeaderKey(key)] = values
	}
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	flush := http.NewResponseController(w).Flush
	for _, piece := range p.pieces() {
		if p.Step != nil {
			select {
			case <-p.Step:
			case <-r.Context().Done():
				return false
			}
		}
		if _, err := w.Write(piece); err != nil || flush() != nil {
			return false
		}
	}
	if p.Cut {
		// net/http documents this panic as the way to break a connection.
		panic(http.ErrAbortHandler)
	}
	if p.Hold {
		_ = flush()
		<-r.Context().Done()
	}
	return p.Hold
}

func (p Reply) pieces() [][]byte {
	rest := []byte(p.Body)
	var pieces [][]byte
	for len(rest) > 0 {
		n := len(rest)
		if p.Piece > 0 {
			n = min(n, p.Piece)
		}
		if p.Step != nil {
			if end := bytes.Index(rest, []byte("\n\n")); end >= 0 {
				n = end + 2
			}
		}
		pieces = append(pieces, rest[:n])
		rest = rest[n:]
	}
	return pieces
}

package jsonapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
)

const (
	// maxElements bounds the values in a request, as package grpcserver does: an empty value has three
	// bytes in a request and some hundred in memory.
	maxElements = 100_000
	// maxAnswer bounds an answer, which comes from this process.
	maxAnswer = 1 << 30
	// decoded is how many times its size a request takes while it is decoded and passed on.
	decoded = 3
	// envelope is the size of what precedes the request of a stream.
	envelope = 5
	unary    = "application/json"
	stream   = "application/connect+json"
)

// guarded refuses what is no request for an RPC, then callers that may not use the RPC, and then
// bodies that are too large. Only then it decodes anything.
func (s *Server) guarded(method string, streams bool, next http.Handler) http.Handler {
	kind := unary
	if streams {
		kind = stream
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.config.Limits.RequestTimeout > 0 { // also for a body that is refused: net/http reads some of it
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.config.Limits.RequestTimeout))
		}
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		fail := func(code int, err *connect.Error) { answer(w, code, err) }
		switch {
		case r.Method != http.MethodPost:
			h.Set("Allow", http.MethodPost)
			fail(http.StatusMethodNotAllowed, refusal("an RPC is a POST"))
		case r.Header.Values("Cookie") != nil || r.Header.Values("Origin") != nil || r.Header.Values("Sec-Fetch-Site") != nil:
			fail(http.StatusForbidden, connect.NewError(connect.CodePermissionDenied, errors.New("this server is not for browsers: send no Cookie, no Origin and no Sec-Fetch-Site")))
		case !only(r.Header, "Content-Type", kind):
			fail(http.StatusUnsupportedMediaType, refusal("the Content-Type of this RPC has to be "+kind))
		case r.Header.Values("Content-Encoding") != nil || r.Header.Values("Connect-Content-Encoding") != nil:
			fail(http.StatusUnsupportedMediaType, refusal("requests must not be compressed"))
		case r.URL.RawQuery != "":
			fail(http.StatusBadRequest, refusal("an RPC has no query"))
		default:
			s.admitted(w, r, method, kind, next)
		}
	})
}

// only reports whether a header has one value and nothing else.
func only(h http.Header, name, value string) bool {
	values := h.Values(name)
	return len(values) == 1 && values[0] == value
}

func refusal(text string) *connect.Error {
	return connect.NewError(connect.CodeInvalidArgument, errors.New(text))
}

// admitted admits a request, reads its body, and passes it on.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request, method, kind string, next http.Handler) {
	conn, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		panic("a request without a connection")
	}
	ctx, err := conn.admit(r, s.config.Gate, method)
	if err != nil {
		failed := errorOf(err)
		if failed.Code() == connect.CodeUnauthenticated {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		answer(w, statusOf(failed.Code()), failed)
		return
	}
	caller, _ := identity.FromContext(ctx)
	var hold budget.Hold
	hold.On(s.account)
	hold.For(caller.Key(), false)
	defer hold.Release()
	size := s.config.MaxBytes
	if r.ContentLength >= 0 {
		size = int(min(r.ContentLength, int64(size)))
	}
	if err := hold.TryReserve(decoded * size); err != nil {
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusTooManyRequests, connect.NewError(connect.CodeResourceExhausted, errors.New("the request cannot be read now: "+err.Error())))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.config.MaxBytes)))
	_, large := errors.AsType[*http.MaxBytesError](err)
	switch {
	case large:
		answer(w, http.StatusRequestEntityTooLarge, connect.NewError(connect.CodeResourceExhausted, err))
		return
	case err != nil:
		answer(w, http.StatusBadRequest, refusal("the body cannot be read: "+err.Error()))
		return
	case elements(body[min(len(body), offset(kind)):]) > maxElements:
		answer(w, http.StatusRequestEntityTooLarge, connect.NewError(connect.CodeResourceExhausted, errors.New("the request has too many values")))
		return
	}
	hold.Shrink(int64(decoded * len(body)))
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the answer may take longer
	r.Body = io.NopCloser(bytes.NewReader(body))
	next.ServeHTTP(w, r)
	_ = control.SetWriteDeadline(time.Time{}) // see rpc.send
}

// offset returns where the JSON text of a body begins.
func offset(kind string) int {
	if kind == stream {
		return envelope
	}
	return 0
}

// elements returns how many values a JSON text can have at most. Commas in strings do not count.
func elements(text []byte) (n int) {
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside = !inside
		case inside && c == '\\':
			i++
		case !inside && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// answer sends an error in the form of Connect to a caller whose request reaches no RPC. Streams
// have the same form: no message of theirs has begun.
func answer(w http.ResponseWriter, status int, err *connect.Error) {
	w.Header().Set("Content-Type", unary)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": err.Code().String(), "message": err.Message()})
}

// statusOf returns the HTTP status for an RPC that was not admitted.
func statusOf(code connect.Code) int {
	switch code {
	case connect.CodeUnauthenticated:
		return http.StatusUnauthorized
	case connect.CodePermissionDenied:
		return http.StatusForbidden
	case connect.CodeResourceExhausted:
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable
}

package model

import (
	"fmt"
	"io"
	"net/http"
)

const (
	// mostAnswered is the largest body of a response in bytes. The longest responses of today's models
	// have about 100,000 tokens, and a stream uses a few hundred bytes for each of them.
	mostAnswered = 256 << 20
	// mostRefused is how much is read of the body of a refused request, in bytes. It only says why.
	mostRefused = 1 << 20
)

// boundedTransport bounds the bodies of responses, after net/http has decompressed them.
//
// An adapter keeps what a server sends until the response is complete, and some SDKs read the whole
// body of a refused request. A server that never stops sending, or that compresses much into
// little, could otherwise use up the memory of agentd, and end the runs of all tenants. The body of
// a refused request ends at its bound, because its beginning says why. Reading more of any other
// body fails with a *tooLargeError.
type boundedTransport struct{ next http.RoundTripper } // nil means http.DefaultTransport

// RoundTrip implements http.RoundTripper.
func (t *boundedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	response, err := next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body := &boundedBody{ReadCloser: response.Body, left: mostAnswered, end: &tooLargeError{mostAnswered}}
	if response.StatusCode >= http.StatusBadRequest {
		body.left, body.end = mostRefused, io.EOF
	}
	response.Body = body
	return response, nil
}

// boundedBody is a body of which left bytes may still be read. Then Read returns end.
type boundedBody struct {
	io.ReadCloser
	left int64
	end  error
}

// Read implements io.Reader. A body that ends exactly at its bound is not too large.
func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), b.end
	}
	b.left -= int64(n)
	return n, err
}

// tooLargeError says that a response has more bytes than bound.
type tooLargeError struct{ bound int64 }

// Error says what happened.
func (e *tooLargeError) Error() string {
	return fmt.Sprintf("the response of the model's server has more than %d bytes", e.bound)
}

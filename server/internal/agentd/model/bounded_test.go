package model

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// endless answers every request with a body that never ends.
type endless struct{ status int }

func (e endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: e.status, Header: http.Header{}, Body: io.NopCloser(zeros{}), Request: r}, nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestBodiesAreBounded(t *testing.T) {
	for status, want := range map[int]int64{http.StatusOK: mostAnswered, http.StatusBadRequest: mostRefused, http.StatusBadGateway: mostRefused} {
		response, err := HTTPClient(&http.Client{Transport: endless{status}}).Get("http://model.example.com/v1")
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if n != want {
			t.Errorf("status %d: %d bytes were read, want %d", status, n, want)
		}
		failed := ClientError(err)
		if refused := want == mostRefused; refused != (err == nil) || !refused && (failed == nil || !failed.Malformed || !strings.Contains(failed.Message, "more than 268435456 bytes")) {
			t.Errorf("status %d: it ended with %v", status, err)
		}
	}
}

// A body that ends at its bound is whole, however it is read.
func TestBodyOfExactlyItsBound(t *testing.T) {
	tooLarge := errors.New("too large")
	for text, want := range map[string]error{"abcd": nil, "abcde": tooLarge, "abc": nil, "": nil} {
		for _, most := range []int{1, 3, 4, 5, 100} {
			body := &boundedBody{ReadCloser: io.NopCloser(strings.NewReader(text)), left: 4, end: tooLarge}
			var got strings.Builder
			_, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{body}, make([]byte, most))
			if err != want || got.String() != text[:min(len(text), 4)] {
				t.Errorf("%q by %d: read %q, %v", text, most, got.String(), err)
			}
		}
	}
}

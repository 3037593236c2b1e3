package main

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/toolhost/toolhost/sdk/egress"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// web is a server on loopback, and settings that only allow that server.
type web struct {
	*httptest.Server
	settings

	mu   sync.Mutex
	hits []*http.Request
}

func newWeb(t *testing.T, handler http.HandlerFunc) *web {
	t.Helper()
	w := &web{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.hits = append(w.hits, r)
		w.mu.Unlock()
		handler(answer, r)
	}))
	t.Cleanup(w.Close)
	w.rules.Allow = []egress.Grant{allowed(t, w.Listener.Addr())}
	return w
}

func (w *web) requests() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*http.Request(nil), w.hits...)
}

// named returns the server's URL with another host name.
func (w *web) named(host string) string {
	return strings.Replace(w.URL, "127.0.0.1", host, 1)
}

func allowed(t *testing.T, address net.Addr) egress.Grant {
	t.Helper()
	return grant(t, address.String())
}

// call runs a tool. arguments, a map or JSON text, override the defaults.
func call(t *testing.T, s settings, tool string, arguments any, options ...sdktest.Option) *sdktest.Call {
	t.Helper()
	return sdktest.New(t, plugin(s)).Call(tool, arguments, options...)
}

// says fails the test if the result does not contain a text or is not the expected kind of error.
func says(t *testing.T, got *sdktest.Call, isError bool, want string) {
	t.Helper()
	if got.Err != nil {
		t.Errorf("got the error %v, want %q", got.Err, want)
		return
	}
	if got.IsError != isError || !strings.Contains(got.Text(), want) {
		t.Errorf("got %.600q, is_error %v; want %q", got.Text(), got.IsError, want)
	}
}

// names returns a resolver that answers each query for a name with its next address, and repeats
// the last one. Other names do not exist.
func names(t *testing.T, known map[string][]string) *net.Resolver {
	var mu sync.Mutex
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		serving.Go(func() { // ends when the resolver closes its connection
			defer far.Close()
			for {
				var size [2]byte
				if _, err := io.ReadFull(far, size[:]); err != nil {
					return
				}
				query := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := io.ReadFull(far, query); err != nil {
					return
				}
				mu.Lock()
				reply := replyTo(query, known)
				mu.Unlock()
				if _, err := far.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
					return
				}
			}
		})
		return near, nil
	}}
}

func replyTo(query []byte, known map[string][]string) []byte {
	var message dnsmessage.Message
	if err := message.Unpack(query); err != nil {
		return nil
	}
	message.Response, message.Additionals = true, nil
	question := message.Questions[0]
	name := strings.TrimSuffix(question.Name.String(), ".")
	addresses, found := known[name]
	if !found {
		message.RCode = dnsmessage.RCodeNameError
	}
	if found && question.Type == dnsmessage.TypeA {
		message.Answers = append(message.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class},
			Body:   &dnsmessage.AResource{A: netip.MustParseAddr(addresses[0]).As4()},
		})
		if len(addresses) > 1 {
			known[name] = addresses[1:]
		}
	}
	reply, err := message.Pack()
	if err != nil {
		return nil
	}
	return reply
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

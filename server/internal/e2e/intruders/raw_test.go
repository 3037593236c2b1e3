package intruders_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
)

// patience limits each request, so that a hang fails a test and does not stop the run. Ada's call
// is in progress during all attacks.
const patience = 5 * time.Minute

// notConnected is the code of an answer if there was no connection.
const notConnected codes.Code = 1000

// request is an RPC as an intruder sends it. It goes out as HTTP/2 without a gRPC library, so that
// it can have any metadata.
type request struct {
	method  string
	headers []string // names and values
	frames  []proto.Message
	// body is sent instead of frames. nil: frames.
	body io.Reader
}

// answer is the answer to a request.
type answer struct {
	code    codes.Code // that of the outcome, if the request is a call on a stream
	message string     // of the status, or why there was no connection
	all     string     // everything that the server sent
}

// bearer returns the headers with a credential, and further ones.
func bearer(token string, more ...string) []string {
	return append([]string{"authorization", "Bearer " + token}, more...)
}

// transport returns an HTTP/2 client for a listener: unix:///PATH, or HOST:PORT. A nil config:
// plain. closeAll closes its connections, also those with a request in progress, so that they do
// not count against the limit of connections of later attacks.
func transport(address string, config *tls.Config) (client *http.Transport, closeAll func()) {
	protocols := &http.Protocols{}
	protocols.SetHTTP2(config != nil)
	protocols.SetUnencryptedHTTP2(config == nil)
	connections, stop := context.WithCancel(context.Background())
	client = &http.Transport{
		Protocols: protocols, TLSClientConfig: config, DisableCompression: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			to := address
			if path, ok := strings.CutPrefix(address, "unix://"); ok {
				network, to = "unix", path
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, network, to)
			if err == nil {
				context.AfterFunc(connections, func() { conn.Close() })
			}
			return conn, err
		},
	}
	return client, stop
}

// send sends a request on a new connection, and returns the answer.
func send(t *testing.T, address string, config *tls.Config, r request) answer {
	t.Helper()
	client, closeAll := transport(address, config)
	defer closeAll()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	body := r.body
	if body == nil {
		body = bytes.NewReader(frame(t, r.frames...))
	}
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, scheme+"://toolhost"+r.method, body)
	if err != nil {
		t.Fatal(err)
	}
	out.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	for i := 0; i < len(r.headers); i += 2 {
		out.Header.Add(r.headers[i], r.headers[i+1])
	}
	in, err := client.RoundTrip(out)
	if err != nil {
		return answer{code: notConnected, message: err.Error(), all: err.Error()}
	}
	defer in.Body.Close()
	return read(t, r.method, in)
}

// frame returns messages in the form of gRPC: each after its length.
func frame(t *testing.T, messages ...proto.Message) []byte {
	t.Helper()
	var out []byte
	for _, m := range messages {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(binary.BigEndian.AppendUint32(append(out, 0), uint32(len(data))), data...)
	}
	return out
}

// read reads an answer to its end, or up to the first message of a stream that does not end.
func read(t *testing.T, method string, in *http.Response) answer {
	t.Helper()
	a := answer{code: codes.Unknown}
	var all strings.Builder
	for {
		message, err := next(in.Body)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(&all, err)
			}
			break
		}
		all.Write(message)
		if endless(method) {
			a.code = codes.OK
			break
		}
		var executed toolhostv1.ExecuteResponse
		if strings.HasSuffix(method, "/Execute") && proto.Unmarshal(message, &executed) == nil {
			if e := executed.GetEvent().GetEnded().GetError(); e != nil {
				a.code, a.message = status.Code(toolpb.StatusError(toolpb.ToError(e))), e.GetMessage()
			}
		}
	}
	for _, header := range []http.Header{in.Header, in.Trailer} {
		fmt.Fprintln(&all, header)
		code, err := strconv.Atoi(header.Get("Grpc-Status"))
		if err != nil || a.code != codes.Unknown {
			continue
		}
		a.code = codes.Code(code)
		if a.message, err = url.PathUnescape(header.Get("Grpc-Message")); err != nil {
			t.Error(err)
		}
	}
	a.all = all.String() + a.message
	return a
}

// next reads a message.
func next(body io.Reader) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(body, head[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint32(head[1:]))
	_, err := io.ReadFull(body, message)
	return message, err
}

// endless reports whether the answer of an RPC may have no end.
func endless(method string) bool {
	name := method[strings.LastIndexByte(method, '/')+1:]
	return name == "WatchEvents" || name == "TailLogs" || name == "WatchRun" || name == "WatchCall" || name == "ReadAudit"
}

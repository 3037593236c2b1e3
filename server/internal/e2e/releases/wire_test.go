package releases

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// exchange is one RPC of a recorded conversation, with its messages in the form in which they were
// sent.
type exchange struct {
	Method    string              `json:"method"`
	Header    map[string][]string `json:"header,omitempty"` // what the client announced
	Answer    map[string][]string `json:"answer,omitempty"` // what the server announced
	Requests  [][]byte            `json:"requests"`
	After     []int               `json:"after,omitempty"` // the number of responses before each request
	Responses [][]byte            `json:"responses"`
	Status    string              `json:"status"`
}

// rawCodec passes messages as bytes.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = slices.Clone(data); return nil }
func (rawCodec) Name() string                       { return "proto" }

var anyStream = &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}

// announced returns the metadata that a client of a contract sends.
func announced(md metadata.MD) map[string][]string {
	found := map[string][]string{}
	for key, values := range md {
		if strings.HasPrefix(key, "toolhost-") {
			found[key] = values
		}
	}
	return found
}

// serveRaw serves every method with a handler at a unix socket, until the end of the test.
func serveRaw(t *testing.T, socket string, handle func(method string, stream grpc.ServerStream) error) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(rawCodec{}), grpc.WaitForHandlers(true), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		return handle(method, stream)
	}))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Stop
	t.Cleanup(func() { server.Stop(); <-served })
}

func dialRaw(t *testing.T, socket string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// recorder is a proxy that records the conversation of its client with a server.
type recorder struct {
	upstream *grpc.ClientConn
	mutex    sync.Mutex
	all      []*exchange
}

// pass passes one RPC on.
func (r *recorder) pass(method string, down grpc.ServerStream) error {
	md, _ := metadata.FromIncomingContext(down.Context())
	e := &exchange{Method: method, Header: announced(md)}
	r.mutex.Lock()
	r.all = append(r.all, e)
	r.mutex.Unlock()
	up, err := r.upstream.NewStream(metadata.NewOutgoingContext(down.Context(), metadata.MD(e.Header)), anyStream, method, grpc.ForceCodec(rawCodec{}))
	if err != nil {
		return err
	}
	go func() { // ends with the client's side of the RPC
		for {
			var m []byte
			if down.RecvMsg(&m) != nil {
				_ = up.CloseSend()
				return
			}
			r.mutex.Lock()
			e.Requests = append(e.Requests, m)
			e.After = append(e.After, len(e.Responses))
			r.mutex.Unlock()
			if up.SendMsg(&m) != nil {
				return
			}
		}
	}()
	header, err := up.Header()
	if err == nil {
		e.Answer = announced(header)
		err = down.SendHeader(metadata.MD(e.Answer))
	}
	for err == nil {
		var m []byte
		if err = up.RecvMsg(&m); err == nil {
			r.mutex.Lock()
			e.Responses = append(e.Responses, m)
			r.mutex.Unlock()
			err = down.SendMsg(&m)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	e.Status = status.Code(err).String()
	return err
}

// save writes the conversation.
func (r *recorder) save(t *testing.T, file string) {
	t.Helper()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	data, err := json.MarshalIndent(r.all, "", " ")
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, file string) []*exchange {
	t.Helper()
	data, err := os.ReadFile(file)
	var all []*exchange
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has %d RPCs: %v", file, len(all), err)
	}
	return all
}

// replay sends the requests of an RPC again, and returns the responses.
func replay(t *testing.T, conn *grpc.ClientConn, e *exchange) (responses [][]byte, code string) {
	t.Helper()
	stream := openRaw(t, conn, e)
	for _, m := range e.Requests {
		if err := stream.SendMsg(&m); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var err error
	for err == nil {
		var m []byte
		if err = stream.RecvMsg(&m); err == nil {
			responses = append(responses, m)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return responses, status.Code(err).String()
}

// replayPaced sends the requests of an RPC to a plugin again, and returns the responses. It sends a
// request after as many answers as the release's toolhost had seen before it. A plugin cancels its
// calls when the stream is closed, so replayPaced keeps the stream open until the call has ended.
func replayPaced(t *testing.T, conn *grpc.ClientConn, then contracts, e *exchange) (responses [][]byte) {
	t.Helper()
	stream := openRaw(t, conn, e)
	seen := func(responses [][]byte) int { return len(then.seen(t, e.Method, responses)) }
	get := func(enough func() bool) {
		for !enough() {
			var m []byte
			if err := stream.RecvMsg(&m); err != nil {
				if code := status.Code(err); code == codes.DeadlineExceeded {
					t.Fatalf("%s: the plugin sent %d messages in %v, and the release %d", e.Method, len(responses), patience, len(e.Responses))
				}
				return // the comparison shows what is missing
			}
			responses = append(responses, m)
		}
	}
	for i, m := range e.Requests {
		wanted := seen(e.Responses[:e.After[i]])
		get(func() bool { return seen(responses) >= wanted })
		if err := stream.SendMsg(&m); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasSuffix(e.Method, "/Connect") {
		get(func() bool { return ends(responses) == ends(e.Responses) })
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	get(func() bool { return false })
	return responses
}

// openRaw begins an RPC with what the recorded client announced. The RPC fails after patience.
func openRaw(t *testing.T, conn *grpc.ClientConn, e *exchange) grpc.ClientStream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx = metadata.NewOutgoingContext(ctx, metadata.MD(e.Header))
	stream, err := conn.NewStream(ctx, anyStream, e.Method, grpc.ForceCodec(rawCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// contracts are the contracts of a release.
type contracts struct{ files *protoregistry.Files }

func contractsOf(t *testing.T, release string) contracts {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "proto", "releases", release+".binpb"))
	var set descriptorpb.FileDescriptorSet
	if err == nil {
		err = proto.Unmarshal(data, &set)
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		t.Fatal(err)
	}
	return contracts{files}
}

// seen returns responses as a client of the release sees them: as JSON, without the fields that
// this client does not know, and without the values that differ between two calls.
func (c contracts) seen(t *testing.T, method string, responses [][]byte) []string {
	t.Helper()
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	found, err := c.files.FindDescriptorByName(protoreflect.FullName(service + "." + name))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, data := range responses {
		m := dynamicpb.NewMessage(found.(protoreflect.MethodDescriptor).Output())
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, m); err != nil {
			t.Fatalf("a client of the release cannot read the answer of %s: %v", method, err)
		}
		text, err := protojson.Marshal(m)
		var value any
		if err == nil {
			err = json.Unmarshal(text, &value)
		}
		if err != nil {
			t.Fatal(err)
		}
		frames := []any{value}
		if object, ok := value.(map[string]any); ok && object["batch"] != nil {
			frames = append(frames, object["batch"].([]any)...)
			delete(object, "batch")
		}
		for _, frame := range frames {
			text, err := json.Marshal(steady(frame))
			if err != nil {
				t.Fatal(err)
			}
			// a frame with nothing but an ack
			if s := string(text); s != "{}" || name != "Connect" {
				all = append(all, s)
			}
		}
	}
	return all
}

// varying are the fields whose values differ between two conversations.
var varying = []string{
	"ack", "ackToken", "time", "startTime", "endTime", "duration", "totalDuration", "ledgerId", "instanceId", "instance", "digest", "path",
	"commit", "version", "pid", "rssBytes", "score", "usage", "meanDuration", "p50Duration", "p99Duration", "workspace", "writableFolders", "hiddenFolders",
}

// worded are the fields whose wording a release does not promise.
var worded = []string{"description", "displayName", "inputExamples", "content", "message", "tags", "category"}

// steady removes varying fields, and the values of worded fields.
func steady(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if slices.Contains(varying, key) {
				delete(v, key)
			} else if text, isText := inner.(string); slices.Contains(worded, key) && (isText && text != "" || key == "inputExamples" || key == "tags") {
				v[key] = "worded"
			} else {
				v[key] = steady(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = steady(v[i])
		}
	}
	return value
}

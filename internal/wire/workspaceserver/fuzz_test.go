package workspaceserver_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
	"github.com/toolhost/toolhost/internal/wire/workspaceserver"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// stream is a grpc.ServerStream whose client has sent everything already.
type stream struct {
	grpc.ServerStream // nil: the server calls no other method
	ctx               context.Context
	received          []proto.Message
	sent              []proto.Message
}

func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) SendMsg(m any) error {
	s.sent = append(s.sent, m.(proto.Message))
	return nil
}

func (s *stream) RecvMsg(m any) error {
	if len(s.received) == 0 {
		return io.EOF
	}
	proto.Merge(m.(proto.Message), s.received[0])
	s.received = s.received[1:]
	return nil
}

// FuzzRequests gives the server what a client may send: places, and the messages of a write. It
// answers or refuses each, and its answers are ones that a client accepts.
func FuzzRequests(f *testing.F) {
	for _, place := range []*workspacev1.Place{
		nil, {Name: "a"}, {Name: "../a"}, {Name: "/workspace/a"}, {Within: []string{"dir"}, Name: "b"}, {Within: []string{"..", "", "dir/../.."}, Name: "."},
		{Workspace: "../x", Name: "a"}, {Name: strings.Repeat("a/", 9000)}, {Name: "\x00\xff"}, {Within: make([]string, 300)},
	} {
		data, err := proto.Marshal(&workspacev1.WriteRequest{Place: place, Size: 3, Data: []byte("ab")})
		if err != nil {
			continue // a name that is not valid UTF-8 does not reach the server
		}
		f.Add(data, []byte("c"))
	}
	f.Fuzz(func(t *testing.T, head, rest []byte) {
		var write workspacev1.WriteRequest
		if proto.Unmarshal(head, &write) != nil {
			return
		}
		w := workspace.NewMemory(nil)
		for _, name := range []string{"a", "dir/b"} {
			if _, err := w.WriteFile(t.Context(), name, []byte("content"), workspace.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		s := workspaceserver.New(workspaceserver.Config{Open: func(context.Context, string) (workspace.Workspace, func(), error) { return w, func() {}, nil }})
		place := write.GetPlace()

		described, err := s.Describe(t.Context(), &workspacev1.DescribeRequest{Place: place})
		if succeeds(t, err); err == nil && workspacepb.CheckPaths(described.GetPaths()) != nil {
			t.Errorf("the workspace has the paths %q", described.GetPaths())
		}
		stat, err := s.Stat(t.Context(), &workspacev1.StatRequest{Place: place})
		if succeeds(t, err); err == nil {
			accepted(t, stat.GetInfo())
		}
		list := &stream{ctx: t.Context()}
		if succeeds(t, s.List(&workspacev1.ListRequest{Place: place}, &grpc.GenericServerStream[workspacev1.ListRequest, workspacev1.ListResponse]{ServerStream: list})) {
			for _, m := range list.sent {
				for _, entry := range m.(*workspacev1.ListResponse).GetEntries() {
					if _, err := workspacepb.ToEntry(entry); err != nil {
						t.Errorf("the folder has %v: %v", entry, err)
					}
				}
			}
		}
		read := &stream{ctx: t.Context()}
		if succeeds(t, s.Read(&workspacev1.ReadRequest{Place: place}, &grpc.GenericServerStream[workspacev1.ReadRequest, workspacev1.ReadResponse]{ServerStream: read})) {
			accepted(t, read.sent[0].(*workspacev1.ReadResponse).GetInfo())
		}
		writing := &stream{ctx: t.Context(), received: []proto.Message{&write, &workspacev1.WriteRequest{Data: rest}}}
		if succeeds(t, s.Write(&grpc.GenericServerStream[workspacev1.WriteRequest, workspacev1.WriteResponse]{ServerStream: writing})) {
			written := accepted(t, writing.sent[0].(*workspacev1.WriteResponse).GetAfter())
			if want := uint64(len(write.GetData()) + len(rest)); uint64(written.Size) != want || write.GetSize() != want {
				t.Errorf("%d bytes were written, of %d that were sent and %d that were announced", written.Size, want, write.GetSize())
			}
		}
	})
}

// succeeds reports whether an RPC succeeded. It fails the test unless the error is one for a
// client.
func succeeds(t *testing.T, err error) (succeeded bool) {
	t.Helper()
	if err == nil {
		return true
	}
	if st, ok := status.FromError(err); !ok || st.Code() == codes.Unknown || st.Code() == codes.Internal {
		t.Errorf("the server refuses with %v", err)
	}
	return false
}

// accepted returns a description of the server as a client reads it.
func accepted(t *testing.T, m *workspacev1.FileInfo) workspace.Info {
	t.Helper()
	info, err := workspacepb.ToInfo(m)
	if err != nil {
		t.Errorf("a client refuses %v: %v", m, err)
	}
	return info
}

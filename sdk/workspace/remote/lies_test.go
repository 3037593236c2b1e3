package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspaceserver"
	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/commands"
	"github.com/toolhost/toolhost/sdk/workspace/remote"
)

// liar is a server that answers what a test says.
type liar struct {
	workspacev1.UnimplementedWorkspaceServiceServer
	described *workspacev1.DescribeResponse
	info      *workspacev1.FileInfo
	entries   []*workspacev1.FileInfo
	data      []byte // of a file without end
	written   *workspacev1.WriteResponse
	execute   func(workspacev1.WorkspaceService_ExecuteServer) error
	err       error
}

func (l *liar) Describe(context.Context, *workspacev1.DescribeRequest) (*workspacev1.DescribeResponse, error) {
	return l.described, l.err
}

func (l *liar) Stat(context.Context, *workspacev1.StatRequest) (*workspacev1.StatResponse, error) {
	return &workspacev1.StatResponse{Info: l.info}, l.err
}

func (l *liar) List(_ *workspacev1.ListRequest, stream workspacev1.WorkspaceService_ListServer) error {
	if len(l.entries) > 0 {
		return stream.Send(&workspacev1.ListResponse{Entries: l.entries})
	}
	for n := 0; ; n++ { // a folder without end
		if err := stream.Send(&workspacev1.ListResponse{Entries: []*workspacev1.FileInfo{{Name: fmt.Sprint(n), Kind: 1}}}); err != nil {
			return err
		}
	}
}

func (l *liar) Read(_ *workspacev1.ReadRequest, stream workspacev1.WorkspaceService_ReadServer) error {
	if err := stream.Send(&workspacev1.ReadResponse{Info: l.info}); err != nil {
		return err
	}
	for {
		if err := stream.Send(&workspacev1.ReadResponse{Data: l.data}); err != nil {
			return err
		}
	}
}

func (l *liar) Write(stream workspacev1.WorkspaceService_WriteServer) error {
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			if l.written == nil {
				return l.err
			}
			return stream.SendAndClose(l.written)
		} else if err != nil {
			return err
		}
	}
}

func (l *liar) Execute(stream workspacev1.WorkspaceService_ExecuteServer) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		if request.GetStart() != nil {
			return l.execute(stream)
		}
	}
}

// lying returns the client of a liar.
func lying(t *testing.T, l *liar) workspace.Workspace {
	t.Helper()
	l.described = &workspacev1.DescribeResponse{Paths: []string{"/ws"}, Commands: true}
	return connect(t, serve(t, l))
}

func file(change func(*workspacev1.FileInfo)) *workspacev1.FileInfo {
	info := &workspacev1.FileInfo{Name: "a", Kind: workspacev1.FileKind_FILE_KIND_REGULAR, Permissions: 0o644, Size: 1, Version: "v"}
	change(info)
	return info
}

func TestNonsenseIsNoWorkspace(t *testing.T) {
	many := make([]string, 9)
	for i := range many {
		many[i] = "/ws"
	}
	for name, paths := range map[string][]string{"relative": {"ws"}, "unclean": {"/ws/../etc"}, "NUL": {"/w\x00s"}, "many": many} {
		var reported error
		l := &liar{described: &workspacev1.DescribeResponse{Paths: paths}}
		_, err := remote.Open(t.Context(), remote.Config{Conn: serve(t, l), Failed: func(err error) { reported = err }})
		if !errors.Is(err, workspace.ErrUnavailable) || reported == nil {
			t.Errorf("%s: got %v, reported %v", name, err, reported)
		}
	}
}

func TestDescriptionsThatCannotBe(t *testing.T) {
	for name, info := range map[string]*workspacev1.FileInfo{
		"none":        nil,
		"no kind":     file(func(f *workspacev1.FileInfo) { f.Kind = 0 }),
		"other kind":  file(func(f *workspacev1.FileInfo) { f.Kind = 99 }),
		"a link":      file(func(f *workspacev1.FileInfo) { f.Kind = workspacev1.FileKind_FILE_KIND_LINK }),
		"permissions": file(func(f *workspacev1.FileInfo) { f.Permissions = 0o4755 }),
		"size":        file(func(f *workspacev1.FileInfo) { f.Size = 1 << 63 }),
		"no version":  file(func(f *workspacev1.FileInfo) { f.Version = "" }),
		"version":     file(func(f *workspacev1.FileInfo) { f.Version = strings.Repeat("v", 1000) }),
		"a path":      file(func(f *workspacev1.FileInfo) { f.Name = "../a" }),
	} {
		w := lying(t, &liar{info: info, written: &workspacev1.WriteResponse{After: info}, data: []byte("x")})
		_, statErr := w.Stat(t.Context(), "a")
		_, openErr := w.Open(t.Context(), "a")
		_, writeErr := w.WriteFile(t.Context(), "a", []byte("x"), workspace.WriteOptions{})
		for method, err := range map[string]error{"Stat": statErr, "Open": openErr, "WriteFile": writeErr} {
			if !errors.Is(err, workspace.ErrUnavailable) {
				t.Errorf("%s, %s: got %v", name, method, err)
			}
		}
	}
}

// No name of an entry leads elsewhere.
func TestEntriesThatCannotBe(t *testing.T) {
	for _, name := range []string{"", ".", "..", "../secret", "a/b", "/etc", "a\x00b"} {
		w := lying(t, &liar{entries: []*workspacev1.FileInfo{file(func(f *workspacev1.FileInfo) { f.Name = name })}})
		for entry, err := range w.ReadDir(t.Context(), ".") {
			if !errors.Is(err, workspace.ErrUnavailable) {
				t.Errorf("%q: got %v, %v", name, entry, err)
			}
		}
	}
}

// What has no end takes bounded memory, and ends when the client has enough.
func TestStreamsWithoutEnd(t *testing.T) {
	w := lying(t, &liar{info: file(func(*workspacev1.FileInfo) {}), data: bytes.Repeat([]byte("x"), 256<<10)})
	if content, err := w.ReadFile(t.Context(), "a"); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("got %d bytes, %v", len(content), err)
	}
	seen := 0
	for _, err := range w.ReadDir(t.Context(), ".") {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 5000 {
			break
		}
	}
	empty := lying(t, &liar{info: file(func(*workspacev1.FileInfo) {})})
	if _, err := empty.ReadFile(t.Context(), "a"); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("parts without data: got %v", err)
	}
}

// An error of the server is one line without control characters.
func TestErrorsOfTheServerAreText(t *testing.T) {
	st, err := status.New(codes.NotFound, "\x1b]0;owned\a").WithDetails(&workspacev1.NameError{
		Reason: workspacev1.NameError_REASON_NOT_FOUND, Message: "no\x1b[2J\x1b]0;owned\a such\nfile\u202e " + strings.Repeat("x", 100_000),
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{}
	w := lying(t, l)
	l.err = st.Err()
	_, err = w.Stat(t.Context(), "a")
	if !errors.Is(err, fs.ErrNotExist) || len(err.Error()) > 5000 || strings.ContainsAny(err.Error(), "\x1b\a\n\u202e") || !strings.HasPrefix(err.Error(), "no[2J]0;owned such file") {
		t.Errorf("got %.100q", err)
	}
}

func TestWritesWithTheWrongSize(t *testing.T) {
	w := lying(t, &liar{written: &workspacev1.WriteResponse{After: file(func(f *workspacev1.FileInfo) { f.Size = 7 })}})
	if change, err := w.WriteFile(t.Context(), "a", []byte("x"), workspace.WriteOptions{}); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("got %+v, %v", change, err)
	}
}

// If the connection breaks after everything was sent, nothing is known about the effect.
func TestOutcomesThatAreNotKnown(t *testing.T) {
	gone := status.Error(codes.Unavailable, "the connection broke")
	l := &liar{execute: func(workspacev1.WorkspaceService_ExecuteServer) error { return gone }}
	w := lying(t, l)
	l.err = gone
	if _, err := w.WriteFile(t.Context(), "a", []byte("x"), workspace.WriteOptions{}); !errors.Is(err, workspace.ErrUnknownOutcome) {
		t.Errorf("a write: got %v", err)
	}
	if _, err := w.(workspace.Commands).Run(t.Context(), workspace.Command{Argv: []string{"x"}}); !errors.Is(err, workspace.ErrUnknownOutcome) {
		t.Errorf("a command: got %v", err)
	}
}

func TestExitsThatCannotBe(t *testing.T) {
	for name, exit := range map[string]*workspacev1.CommandExit{"code": {Code: 256}, "signal": {Signal: 65}, "left": {Left: 1 << 31}} {
		w := lying(t, &liar{execute: func(stream workspacev1.WorkspaceService_ExecuteServer) error {
			return stream.Send(&workspacev1.ExecuteResponse{Step: &workspacev1.ExecuteResponse_Exit{Exit: exit}})
		}})
		if got, err := w.(workspace.Commands).Run(t.Context(), workspace.Command{Argv: []string{"x"}}); !errors.Is(err, workspace.ErrUnknownOutcome) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	w := lying(t, &liar{execute: func(workspacev1.WorkspaceService_ExecuteServer) error { return nil }})
	if got, err := w.(workspace.Commands).Run(t.Context(), workspace.Command{Argv: []string{"x"}}); !errors.Is(err, workspace.ErrUnknownOutcome) {
		t.Errorf("no exit: got %+v, %v", got, err)
	}
}

// A server that is gone leaves files and commands unavailable; a command that ran is not known.
func TestTheServerGoes(t *testing.T) {
	local, _ := openLocal(t, map[string]workspace.MemoryFile{"a": {Content: "a"}})
	conn := serve(t, of(local, commands.New()))
	w := connect(t, conn)
	ready := &readyWriter{ready: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { // ends with the command
		_, err := w.(workspace.Commands).Run(t.Context(), workspace.Command{Argv: []string{"sh", "-c", "echo ready; sleep 1000"}, Stdout: ready})
		ended <- err
	}()
	<-ready.ready
	conn.server.Stop() // waits for the handlers, and so for the end of the command
	if err := <-ended; !errors.Is(err, workspace.ErrUnknownOutcome) {
		t.Errorf("the command that ran: got %v", err)
	}
	_, readErr := w.ReadFile(t.Context(), "a")
	_, writeErr := w.WriteFile(t.Context(), "a", []byte("b"), workspace.WriteOptions{})
	_, runErr := w.(workspace.Commands).Run(t.Context(), workspace.Command{Argv: []string{"true"}})
	for method, err := range map[string]error{"ReadFile": readErr, "WriteFile": writeErr, "Run": runErr} {
		if !errors.Is(err, workspace.ErrUnavailable) {
			t.Errorf("%s: got %v", method, err)
		}
	}
}

// readyWriter closes a channel with the first output.
type readyWriter struct{ ready chan struct{} }

func (r *readyWriter) Write(p []byte) (int, error) {
	close(r.ready)
	return len(p), nil
}

// The server bounds the places that a client names, and keeps clients out of the workspaces of
// others.
func TestPlacesAreBounded(t *testing.T) {
	client := workspacev1.NewWorkspaceServiceClient(serve(t, of(workspace.NewMemory(nil), nil)))
	for name, place := range map[string]*workspacev1.Place{
		"another workspace": {Workspace: "other", Name: "."},
		"a path":            {Workspace: "../x", Name: "."},
		"deep":              {Within: make([]string, 257), Name: "."},
		"long":              {Name: strings.Repeat("x", 17<<10)},
		"long folders":      {Within: []string{strings.Repeat("x", 65<<10)}, Name: "."},
		"no name":           {},
		"outside":           {Within: []string{".."}, Name: "."},
	} {
		if _, err := client.Stat(t.Context(), &workspacev1.StatRequest{Place: place}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A write that is not complete writes nothing.
func TestIncompleteWrites(t *testing.T) {
	files := workspace.NewMemory(nil)
	client := workspacev1.NewWorkspaceServiceClient(serve(t, of(files, nil)))
	place := &workspacev1.Place{Name: "a"}
	for name, requests := range map[string][]*workspacev1.WriteRequest{
		"nothing":   {},
		"short":     {{Place: place, Size: 2, Data: []byte("a")}},
		"long":      {{Place: place, Size: 2, Data: []byte("abc")}},
		"too large": {{Place: place, Size: 65 << 20}},
		"two names": {{Place: place, Size: 2, Data: []byte("a")}, {Place: place, Data: []byte("b")}},
	} {
		stream, err := client.Write(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			_ = stream.Send(r) // the answer says what is wrong
		}
		if _, err := stream.CloseAndRecv(); err == nil {
			t.Errorf("%s: it succeeded", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := client.Write(ctx)
	if err == nil {
		err = stream.Send(&workspacev1.WriteRequest{Place: place, Size: 1, Data: []byte("a")})
	}
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(&workspacev1.WriteResponse{}); status.Code(err) != codes.Canceled {
		t.Errorf("got %v", err)
	}
	if _, err := files.Stat(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// A write takes room at the server until it ends, and none that is not there.
func TestWritesTakeRoom(t *testing.T) {
	files := workspace.NewMemory(nil)
	w := connect(t, serve(t, workspaceserver.New(workspaceserver.Config{
		Room: workspaceserver.NewRoom(3, nil),
		Open: func(context.Context, string) (workspace.Workspace, func(), error) { return files, func() {}, nil },
	})))
	for range 2 {
		if _, err := w.WriteFile(t.Context(), "a", []byte("abc"), workspace.WriteOptions{}); err != nil {
			t.Error(err)
		}
		if _, err := w.WriteFile(t.Context(), "a", []byte("abcd"), workspace.WriteOptions{}); !errors.Is(err, workspace.ErrUnavailable) {
			t.Errorf("beyond the room: got %v", err)
		}
	}
	reads, err := w.ReadFile(t.Context(), "a")
	if err != nil || string(reads) != "abc" {
		t.Errorf("got %q, %v", reads, err)
	}
}

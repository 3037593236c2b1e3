// Package workspaceserver is the gRPC server of toolhost.workspace.v1 over workspaces. It
// translates, and bounds what a client sends. It does not know where the files are, who the client
// is, or what it may reach: its Config says which workspace an RPC gets.
package workspaceserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// Config describes a server. Open is required.
type Config struct {
	// Open returns the workspace with a name, which is empty or has letters, digits, "-" and "_". The
	// server calls release when the RPC ends. An error is an *workspace.Error, or that of ctx.
	Open func(ctx context.Context, name string) (w workspace.Workspace, release func(), err error)
	// Commands returns what runs the commands of a workspace. Nil means a workspace that implements
	// workspace.Commands itself.
	Commands func(w workspace.Workspace) (workspace.Commands, error)
	// ReadOnly refuses writes and commands.
	ReadOnly bool
	// MaxCommands bounds the commands that run at the same time. Zero means 16. The server refuses
	// more.
	MaxCommands int
	// Room bounds the contents that are received at the same time. Nil means 512 MiB for this server.
	Room *Room
}

// writeTime bounds the time in which a content must arrive, so that a client that stops gives its
// room back.
const writeTime = 5 * time.Minute

// Server implements the service. It has no goroutines of its own beyond those of its RPCs.
type Server struct {
	workspacev1.UnimplementedWorkspaceServiceServer
	cfg      Config
	commands chan struct{}
}

// New returns a server.
func New(cfg Config) *Server {
	if cfg.MaxCommands <= 0 {
		cfg.MaxCommands = 16
	}
	if cfg.Room == nil {
		cfg.Room = NewRoom(512<<20, nil)
	}
	if cfg.Commands == nil {
		cfg.Commands = ownCommands
	}
	return &Server{cfg: cfg, commands: make(chan struct{}, cfg.MaxCommands)}
}

// ownCommands returns the commands that a workspace has itself.
func ownCommands(w workspace.Workspace) (workspace.Commands, error) {
	if own, ok := w.(workspace.Commands); ok {
		return own, nil
	}
	return nil, &workspace.Error{Message: "this workspace runs no commands, because its files are in memory, where no process can see them", Err: workspace.ErrNoCommands}
}

// maxHeaderBytes is the largest metadata of one RPC: a token and a trace. The clients at the
// sockets of plugins are not trusted, and gRPC's default is 16 MiB for each RPC.
const maxHeaderBytes = 16 << 10

// Options are the options that a gRPC server needs for the service.
func Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(workspacepb.MessageBytes), grpc.MaxSendMsgSize(workspacepb.MessageBytes), grpc.MaxConcurrentStreams(1000), grpc.WaitForHandlers(true),
		grpc.MaxHeaderListSize(maxHeaderBytes),
	}
}

// Bounds of a Place.
const (
	maxWithin      = 256
	maxWithinBytes = 64 << 10
	maxName        = 16 << 10
)

var workspaceName = regexp.MustCompile(`^[A-Za-z0-9_-]{0,64}$`)

// open returns the folder that bounds a place. The caller calls release.
func (s *Server) open(ctx context.Context, place *workspacev1.Place) (w workspace.Workspace, release func(), err error) {
	size := 0
	for _, name := range place.GetWithin() {
		size += len(name)
	}
	if !workspaceName.MatchString(place.GetWorkspace()) || len(place.GetWithin()) > maxWithin || size > maxWithinBytes || len(place.GetName()) > maxName {
		return nil, nil, refuse(fs.ErrInvalid, "the path is too long, or the name of the workspace is invalid")
	}
	root, free, err := s.cfg.Open(ctx, place.GetWorkspace())
	if err != nil {
		return nil, nil, err
	}
	w, release = root, free
	for _, name := range place.GetWithin() {
		sub, err := w.Sub(ctx, name)
		if w != root {
			_ = w.Close() // closing a folder reports nothing useful
		}
		if err != nil {
			free()
			return nil, nil, err
		}
		w, release = sub, func() {
			_ = sub.Close()
			free()
		}
	}
	return w, release, nil
}

func refuse(kind error, format string, args ...any) error {
	return &workspace.Error{Message: fmt.Sprintf(format, args...), Err: kind}
}

// enter takes the right to run a command, or refuses.
func (s *Server) enter() (leave func(), err error) {
	select {
	case s.commands <- struct{}{}:
		return func() { <-s.commands }, nil
	default:
		return nil, refuse(workspace.ErrUnavailable, "%d commands of the workspace at the same time are the most; try again later", cap(s.commands))
	}
}

// Describe implements WorkspaceServiceServer.
func (s *Server) Describe(ctx context.Context, r *workspacev1.DescribeRequest) (*workspacev1.DescribeResponse, error) {
	w, release, err := s.open(ctx, r.GetPlace())
	if err != nil {
		return nil, workspacepb.FromError(err)
	}
	defer release()
	answer := &workspacev1.DescribeResponse{}
	if on, ok := w.(interface{ Dirs() []string }); ok {
		answer.Paths = on.Dirs()
	}
	_, err = s.cfg.Commands(w)
	answer.Commands = err == nil
	return answer, nil
}

// Stat implements WorkspaceServiceServer.
func (s *Server) Stat(ctx context.Context, r *workspacev1.StatRequest) (*workspacev1.StatResponse, error) {
	w, release, err := s.open(ctx, r.GetPlace())
	if err != nil {
		return nil, workspacepb.FromError(err)
	}
	defer release()
	info, err := w.Stat(ctx, r.GetPlace().GetName())
	if err != nil {
		return nil, workspacepb.FromError(err)
	}
	return &workspacev1.StatResponse{Info: workspacepb.FromInfo(info)}, nil
}

// List implements WorkspaceServiceServer.
func (s *Server) List(r *workspacev1.ListRequest, stream grpc.ServerStreamingServer[workspacev1.ListResponse]) error {
	const entries, size = 500, 256 << 10 // of one message
	w, release, err := s.open(stream.Context(), r.GetPlace())
	if err != nil {
		return workspacepb.FromError(err)
	}
	defer release()
	part, bytes := &workspacev1.ListResponse{}, 0
	for entry, err := range w.ReadDir(stream.Context(), r.GetPlace().GetName()) {
		if err != nil {
			return workspacepb.FromError(err)
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has been removed meanwhile
		}
		if err != nil {
			info = workspace.Info{Name: entry.Name(), Mode: entry.Type()}
		}
		part.Entries = append(part.Entries, workspacepb.FromInfo(info))
		if bytes += len(info.Name) + len(info.Target); len(part.Entries) == entries || bytes > size {
			if err := stream.Send(part); err != nil {
				return err
			}
			part, bytes = &workspacev1.ListResponse{}, 0
		}
	}
	if len(part.Entries) == 0 {
		return nil
	}
	return stream.Send(part)
}

// Read implements WorkspaceServiceServer.
func (s *Server) Read(r *workspacev1.ReadRequest, stream grpc.ServerStreamingServer[workspacev1.ReadResponse]) error {
	w, release, err := s.open(stream.Context(), r.GetPlace())
	if err != nil {
		return workspacepb.FromError(err)
	}
	defer release()
	file, err := w.Open(stream.Context(), r.GetPlace().GetName())
	if err != nil {
		return workspacepb.FromError(err)
	}
	defer file.Close()
	part := &workspacev1.ReadResponse{Info: workspacepb.FromInfo(file.Info())}
	if err := stream.Send(part); err != nil {
		return err
	}
	for {
		buffer := make([]byte, workspacepb.ChunkBytes) // gRPC may still use the one before
		n, err := file.Read(buffer)
		if n > 0 {
			if err := stream.Send(&workspacev1.ReadResponse{Data: buffer[:n]}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return workspacepb.FromError(err)
		}
	}
}

// Write implements WorkspaceServiceServer.
func (s *Server) Write(stream grpc.ClientStreamingServer[workspacev1.WriteRequest, workspacev1.WriteResponse]) error {
	head, err := stream.Recv()
	if err != nil {
		return received(err)
	}
	if s.cfg.ReadOnly {
		return workspacepb.FromError(refuse(fs.ErrPermission, "this plugin may only read the workspace; the operator grants more with sandbox.workspace: write"))
	}
	if head.GetSize() > workspace.MaxReadFile {
		return workspacepb.FromError(refuse(workspace.ErrTooLarge, "the content has more than %d bytes", workspace.MaxReadFile))
	}
	leave, err := s.cfg.Room.take(int64(head.GetSize()))
	if err != nil {
		return workspacepb.FromError(err)
	}
	defer leave()
	content, err := receiveInTime(stream, head)
	if err != nil {
		return err
	}
	w, release, err := s.open(stream.Context(), head.GetPlace())
	if err != nil {
		return workspacepb.FromError(err)
	}
	defer release()
	change, err := w.WriteFile(stream.Context(), head.GetPlace().GetName(), content, workspace.WriteOptions{IfVersion: head.GetIfVersion()})
	if err != nil {
		return workspacepb.FromError(err)
	}
	answer := &workspacev1.WriteResponse{After: workspacepb.FromInfo(change.After)}
	if !change.Created() {
		answer.Before = workspacepb.FromInfo(change.Before)
	}
	return stream.SendAndClose(answer)
}

type writing = grpc.ClientStreamingServer[workspacev1.WriteRequest, workspacev1.WriteResponse]

// receiveInTime returns the whole content of a write. The return of the caller ends the stream, and
// with it the goroutine.
func receiveInTime(stream writing, head *workspacev1.WriteRequest) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	received := make(chan result, 1)
	go func() { // ends with the stream
		content, err := receiveContent(stream, head)
		received <- result{content, err}
	}()
	late := time.NewTimer(writeTime)
	defer late.Stop()
	select {
	case r := <-received:
		return r.content, r.err
	case <-late.C:
		return nil, status.Errorf(codes.DeadlineExceeded, "the content did not arrive within %v", writeTime)
	}
}

// receiveContent returns the whole content of a write. Memory grows with what arrives, not with
// what the client announces.
func receiveContent(stream writing, head *workspacev1.WriteRequest) ([]byte, error) {
	content := head.GetData()
	for {
		part, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && uint64(len(content)) == head.GetSize():
			return content, nil
		case errors.Is(err, io.EOF):
			return nil, status.Errorf(codes.InvalidArgument, "the content has %d bytes, and %d were announced", len(content), head.GetSize())
		case err != nil:
			return nil, received(err)
		case part.GetPlace() != nil || uint64(len(content)+len(part.GetData())) > head.GetSize():
			return nil, status.Error(codes.InvalidArgument, "the content is larger than was announced, or a later message names a file")
		}
		content = append(content, part.GetData()...)
	}
}

// received returns the status for an error of a stream that the client broke.
func received(err error) error {
	if errors.Is(err, io.EOF) {
		return status.Error(codes.InvalidArgument, "the stream ended before its first message")
	}
	return err
}

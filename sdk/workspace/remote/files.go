package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"google.golang.org/grpc"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// first opens a stream of an RPC that only reads, and returns its first message. It repeats the RPC
// once if the connection broke. The error io.EOF means that the stream has no message.
func first[M any](open func() (grpc.ServerStreamingClient[M], error)) (grpc.ServerStreamingClient[M], *M, error) {
	var stream grpc.ServerStreamingClient[M]
	message, err := again(func() (*M, error) {
		var err error
		if stream, err = open(); err != nil {
			return nil, err
		}
		return stream.Recv()
	})
	return stream, message, err
}

// Open implements workspace.Reader.
func (w *Workspace) Open(ctx context.Context, name string) (workspace.File, error) {
	rel, err := w.begin(ctx, "read", name)
	if err != nil {
		return nil, err
	}
	reading, cancel := context.WithCancel(ctx)
	stream, head, err := first(func() (grpc.ServerStreamingClient[workspacev1.ReadResponse], error) {
		return w.client.Read(reading, &workspacev1.ReadRequest{Place: w.place(rel)})
	})
	if err != nil {
		cancel()
		if errors.Is(err, io.EOF) {
			return nil, w.lie(errors.New("a file begins with nothing"))
		}
		return nil, w.failure(ctx, "read", name, err)
	}
	info, err := w.info(head.GetInfo())
	if err == nil && !info.Mode.IsRegular() {
		err = w.lie(fmt.Errorf("an open file is of the mode %v", info.Mode))
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &file{w: w, ctx: ctx, cancel: cancel, stream: stream, name: name, info: info, rest: head.GetData()}, nil
}

// file is an open file.
type file struct {
	w      *Workspace
	ctx    context.Context
	cancel context.CancelFunc
	stream grpc.ServerStreamingClient[workspacev1.ReadResponse]
	name   string
	info   workspace.Info
	rest   []byte // received and not read
	end    error  // of the stream
}

// Info implements workspace.File.
func (f *file) Info() workspace.Info { return f.info }

// Close implements workspace.File. It ends the stream.
func (f *file) Close() error {
	f.cancel()
	return nil
}

// Read implements workspace.File.
func (f *file) Read(p []byte) (int, error) {
	if f.ctx.Err() != nil {
		return 0, ended(f.ctx, "read", f.name)
	}
	if len(p) == 0 {
		return 0, nil
	}
	for len(f.rest) == 0 && f.end == nil {
		message, err := f.stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			f.end = io.EOF
		case err != nil:
			f.end = f.w.failure(f.ctx, "read", f.name, err)
		case len(message.GetData()) == 0:
			f.end = f.w.lie(errors.New("a part of a file is empty"))
		}
		f.rest = message.GetData()
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	if n == 0 {
		return 0, f.end
	}
	return n, nil
}

// ReadFile implements workspace.Reader.
func (w *Workspace) ReadFile(ctx context.Context, name string) ([]byte, error) {
	return workspace.ReadAll(ctx, w, name)
}

// ReadDir implements workspace.Reader.
func (w *Workspace) ReadDir(ctx context.Context, name string) iter.Seq2[workspace.Entry, error] {
	return func(yield func(workspace.Entry, error) bool) {
		rel, err := w.begin(ctx, "list", name)
		if err != nil {
			yield(nil, err)
			return
		}
		listing, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, message, err := first(func() (grpc.ServerStreamingClient[workspacev1.ListResponse], error) {
			return w.client.List(listing, &workspacev1.ListRequest{Place: w.place(rel)})
		})
		for ; err == nil; message, err = stream.Recv() {
			if len(message.GetEntries()) == 0 {
				yield(nil, w.lie(errors.New("a part of a folder is empty")))
				return
			}
			for _, m := range message.GetEntries() {
				info, err := workspacepb.ToEntry(m)
				if err != nil {
					yield(nil, w.lie(err))
					return
				}
				if !yield(entry{info}, nil) {
					return
				}
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, w.failure(ctx, "list", name, err))
		}
	}
}

// entry is an entry of a folder. It has the description of the time when the folder was listed.
type entry struct{ info workspace.Info }

// Name implements workspace.Entry.
func (e entry) Name() string { return e.info.Name }

// Type implements workspace.Entry.
func (e entry) Type() fs.FileMode { return e.info.Mode.Type() }

// Info implements workspace.Entry.
func (e entry) Info() (workspace.Info, error) { return e.info, nil }

// WriteFile implements workspace.Writer.
func (w *Workspace) WriteFile(ctx context.Context, name string, content []byte, o workspace.WriteOptions) (workspace.Change, error) {
	rel, err := w.begin(ctx, "write", name)
	if err != nil {
		return workspace.Change{}, err
	}
	if len(content) > workspace.MaxReadFile {
		return workspace.Change{}, &workspace.Error{
			Message: fmt.Sprintf("the content of %q has more than %d bytes", name, workspace.MaxReadFile), Err: workspace.ErrTooLarge,
		}
	}
	writing, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := w.client.Write(writing)
	if err != nil {
		return workspace.Change{}, w.failure(ctx, "write", name, err)
	}
	sent := w.send(stream, rel, content, o)
	answer, err := stream.CloseAndRecv()
	switch {
	case err == nil && sent == nil:
		return w.change(answer, content)
	case err == nil:
		return workspace.Change{}, w.lie(errors.New("a write succeeded before its content was sent"))
	case sent != nil || workspacepb.ToError(err) != nil: // the server had not received everything, or says that it refuses
		return workspace.Change{}, w.failure(ctx, "write", name, err)
	case ctx.Err() != nil:
		return workspace.Change{}, ended(ctx, "write", name)
	}
	return workspace.Change{}, w.unknown(err, fmt.Sprintf("the workspace is on another machine, and the connection broke while %q was written; "+
		"the file has either its old or its new content: read it before you go on", name))
}

// send sends a file. The error io.EOF means that the server has ended the RPC.
func (w *Workspace) send(stream grpc.ClientStreamingClient[workspacev1.WriteRequest, workspacev1.WriteResponse], rel string, content []byte, o workspace.WriteOptions) error {
	request := &workspacev1.WriteRequest{Place: w.place(rel), IfVersion: o.IfVersion, Size: uint64(len(content))}
	for {
		n := min(len(content), workspacepb.ChunkBytes)
		request.Data, content = content[:n], content[n:]
		if err := stream.Send(request); err != nil {
			return err
		}
		if len(content) == 0 {
			return nil
		}
		request = &workspacev1.WriteRequest{}
	}
}

// change converts the answer to a write that succeeded.
func (w *Workspace) change(answer *workspacev1.WriteResponse, content []byte) (change workspace.Change, err error) {
	if answer.GetBefore() != nil {
		if change.Before, err = w.info(answer.GetBefore()); err != nil {
			return workspace.Change{}, err
		}
	}
	if change.After, err = w.info(answer.GetAfter()); err != nil {
		return workspace.Change{}, err
	}
	if change.After.Size != int64(len(content)) || !change.After.Mode.IsRegular() {
		return workspace.Change{}, w.lie(fmt.Errorf("a file has %d bytes after %d were written", change.After.Size, len(content)))
	}
	return change, nil
}

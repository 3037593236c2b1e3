// Package remote is the client of a workspace that a server has, over the contract
// toolhost.workspace.v1.
//
// It owns the RPCs and checks what the server answers: a server may lie, and a text of it is for a
// model. It does not own the connection, and knows no credentials. Package sdk uses it in plugins,
// and toolhost uses it to reach the server that the operator configured.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// Workspace is a workspace at a server. It implements workspace.Commands only if the server runs
// commands: see Open.
//
// The server resolves each name anew, so that a Sub denotes another folder if its name does. A read
// that fails because the connection broke is repeated once, before it has returned anything.
type Workspace struct {
	client workspacev1.WorkspaceServiceClient
	name   string   // of the workspace at the server
	within []string // the folders of Sub
	dirs   []string // the absolute paths
	failed func(error)
}

// Config describes how to reach a workspace. Conn is required.
type Config struct {
	// Conn is the connection, which must accept messages of workspacepb.MessageBytes. The caller
	// closes it when nothing uses the workspace any more.
	Conn grpc.ClientConnInterface
	// Name is the name of the workspace at a server that has several.
	Name string
	// Failed is called with each failure of the connection or the server, for a log. It must not
	// block. Nil means that nothing is called.
	Failed func(error)
}

var (
	_ workspace.Workspace = (*Workspace)(nil)
	_ workspace.Commands  = (*withCommands)(nil)
)

// Open asks the server about the workspace. The result implements workspace.Commands if the server
// runs commands. An error wraps workspace.ErrUnavailable, or is that of ctx.
func Open(ctx context.Context, cfg Config) (workspace.Workspace, error) {
	w := &Workspace{client: workspacev1.NewWorkspaceServiceClient(cfg.Conn), name: cfg.Name, failed: cfg.Failed}
	if w.failed == nil {
		w.failed = func(error) {}
	}
	described, err := again(func() (*workspacev1.DescribeResponse, error) {
		return w.client.Describe(ctx, &workspacev1.DescribeRequest{Place: w.place(".")})
	})
	if err != nil {
		return nil, w.failure(ctx, "open", ".", err)
	}
	if err := workspacepb.CheckPaths(described.GetPaths()); err != nil {
		return nil, w.lie(err)
	}
	w.dirs = described.GetPaths()
	return w.shaped(described.GetCommands()), nil
}

// withCommands is a Workspace whose server runs commands.
type withCommands struct{ *Workspace }

func (w *Workspace) shaped(commands bool) workspace.Workspace {
	if commands {
		return &withCommands{w}
	}
	return w
}

// Sub implements workspace.Workspace.
func (w *withCommands) Sub(ctx context.Context, name string) (workspace.Workspace, error) {
	sub, err := w.sub(ctx, name)
	if err != nil {
		return nil, err
	}
	return &withCommands{sub}, nil
}

// Sub implements workspace.Workspace.
func (w *Workspace) Sub(ctx context.Context, name string) (workspace.Workspace, error) {
	sub, err := w.sub(ctx, name)
	if err != nil {
		return nil, err
	}
	return sub, nil
}

func (w *Workspace) sub(ctx context.Context, name string) (*Workspace, error) {
	rel, err := w.begin(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	sub := *w
	if rel == "." {
		return &sub, nil
	}
	sub.within = append(slices.Clip(w.within), rel)
	sub.dirs = nil
	for _, dir := range w.dirs {
		sub.dirs = append(sub.dirs, path.Join(dir, rel))
	}
	if _, err := sub.stat(ctx, "open", "."); err != nil {
		return nil, err
	}
	return &sub, nil
}

// Close implements workspace.Workspace. It does nothing: the connection belongs to the caller of
// Open.
func (w *Workspace) Close() error { return nil }

// Rel implements workspace.Workspace.
func (w *Workspace) Rel(path string) (string, error) { return workspace.Relative(path, w.dirs) }

// Dirs returns the absolute paths of the workspace at the server.
func (w *Workspace) Dirs() []string { return w.dirs }

func (w *Workspace) place(name string) *workspacev1.Place {
	return &workspacev1.Place{Workspace: w.name, Within: w.within, Name: name}
}

// begin returns the relative form of a name. It fails if the context has ended.
func (w *Workspace) begin(ctx context.Context, action, name string) (string, error) {
	if ctx.Err() != nil {
		return "", ended(ctx, action, name)
	}
	return w.Rel(name)
}

// Stat implements workspace.Reader.
func (w *Workspace) Stat(ctx context.Context, name string) (workspace.Info, error) {
	rel, err := w.begin(ctx, "read", name)
	if err != nil {
		return workspace.Info{}, err
	}
	return w.stat(ctx, "read", rel)
}

func (w *Workspace) stat(ctx context.Context, action, rel string) (workspace.Info, error) {
	answer, err := again(func() (*workspacev1.StatResponse, error) {
		return w.client.Stat(ctx, &workspacev1.StatRequest{Place: w.place(rel)})
	})
	if err != nil {
		return workspace.Info{}, w.failure(ctx, action, rel, err)
	}
	return w.info(answer.GetInfo())
}

// info converts the description of a file that a name leads to, which is no link.
func (w *Workspace) info(m *workspacev1.FileInfo) (workspace.Info, error) {
	info, err := workspacepb.ToInfo(m)
	switch {
	case err != nil:
		return workspace.Info{}, w.lie(err)
	case info.Version == "":
		return workspace.Info{}, w.lie(errors.New("a file has no version"))
	case info.Mode.Type() == fs.ModeSymlink:
		return workspace.Info{}, w.lie(errors.New("the target of a name is a link"))
	}
	return info, nil
}

// again repeats an RPC that only reads, once, if the connection broke.
func again[R any](rpc func() (R, error)) (R, error) {
	answer, err := rpc()
	if broke(err) {
		return rpc()
	}
	return answer, err
}

// broke reports whether the connection broke, or could not be made.
func broke(err error) bool {
	return status.Code(err) == codes.Unavailable && workspacepb.ToError(err) == nil
}

// failure returns the error of an RPC that changed nothing.
func (w *Workspace) failure(ctx context.Context, action, name string, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, action, name)
	}
	if named := workspacepb.ToError(err); named != nil {
		return named
	}
	w.failed(err)
	message := "the workspace is on another machine, whose server failed; try again later"
	switch status.Code(err) {
	case codes.Unavailable:
		message = "the workspace is on another machine, which does not answer; try again later"
	case codes.Unauthenticated, codes.PermissionDenied:
		message = "the workspace is on another machine, which does not accept the credentials of toolhost; the operator has to correct them"
	}
	return &workspace.Error{Message: message, Err: errors.Join(workspace.ErrUnavailable, err)}
}

// unknown returns the error of an RPC that may have changed something.
func (w *Workspace) unknown(cause error, message string) error {
	w.failed(cause)
	return &workspace.Error{Message: message, Err: errors.Join(workspace.ErrUnknownOutcome, cause)}
}

// lie returns the error for an answer that violates the contract.
func (w *Workspace) lie(err error) error {
	err = fmt.Errorf("the server violates the contract of workspaces: %w", err)
	w.failed(err)
	return &workspace.Error{
		Message: "the workspace is on another machine, whose server answers nonsense; the operator has to look at it",
		Err:     errors.Join(workspace.ErrUnavailable, err),
	}
}

// ended returns the error of an ended context.
func ended(ctx context.Context, action, name string) error {
	return fmt.Errorf("trying to %s %q: %w", action, name, ctx.Err())
}

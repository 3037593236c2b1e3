package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/client"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/tool"
)

// shown lets every answer that is measured through whole.
const shown = 1 << 20

// settings switch on what a careful operator would: rules that are evaluated for each call, a log of decisions, limits.
const settings = `
policy:
  rules:
    - {name: nothing-huge, when: 'tool.name == "echo" && arguments.size > 1000000', then: deny, reason: too large}
    - {name: not-on-sundays, when: 'tool.name == "echo" && arguments.note.startsWith("sunday")', then: require_approval}
`

// Toolhost is a running toolhost, whose tool echo does the work.
type Toolhost struct {
	addr   string
	client *client.Client
	stub   toolhostv1.ToolServiceClient
	pids   load.Processes
	run    string
	calls  atomic.Uint64
}

// Toolhost starts toolhost with one plugin and what is to be added to its configuration.
func (f *Field) Toolhost(ctx context.Context, more string) (*Toolhost, error) {
	dir, err := f.folder("toolhost")
	if err != nil {
		return nil, err
	}
	plugins, socket, file := filepath.Join(dir, "plugins"), filepath.Join(dir, "s"), filepath.Join(dir, "toolhost.yaml")
	if err := os.Mkdir(plugins, 0o700); err != nil {
		return nil, err
	}
	if err := copyFile(f.program("echo"), filepath.Join(plugins, "echo")); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, []byte(settings+more), 0o600); err != nil {
		return nil, err
	}
	t := &Toolhost{addr: "unix://" + socket, run: filepath.Base(dir)}
	pid, err := f.start(ctx, socket, "toolhost", "serve", "--config", file, "--plugins", plugins, "--listen", t.addr,
		"--state", filepath.Join(dir, "state"), "--workspace", dir, "--log-level", "error")
	if err != nil {
		return nil, err
	}
	t.pids = load.Processes{pid}
	if t.client, err = client.Dial(t.addr); err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(t.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	t.stub = toolhostv1.NewToolServiceClient(conn)
	f.owns(conn.Close, t.client.Close)
	return t, nil
}

// Connect calls over the one stream that all calls of a client share.
func (t *Toolhost) Connect() Contender {
	return Contender{Key: "connect", Title: "toolhost, Connect", Processes: t.pids, Do: func(ctx context.Context, arguments []byte) (int, error) {
		most := shown
		outcome, err := t.client.Call(ctx, tool.Call{ID: t.id(), Tool: "echo", Arguments: arguments, MaxShown: &most})
		if err != nil {
			return 0, err
		}
		if len(outcome.Result.Content) != 1 {
			return 0, errors.New("the result is no single text")
		}
		return len(outcome.Result.Content[0].Text), nil
	}}
}

// Call calls by the unary RPC, with nothing but generated code.
func (t *Toolhost) Call() Contender {
	return Contender{Key: "call", Title: "toolhost, Call", Processes: t.pids, Do: func(ctx context.Context, arguments []byte) (int, error) {
		response, err := t.stub.Call(ctx, &toolhostv1.CallRequest{Tool: "echo", Arguments: arguments, Options: t.options()})
		if err != nil {
			return 0, err
		}
		return length(response.GetResult()), nil
	}}
}

// Execute calls by a stream for each call, with nothing but generated code.
func (t *Toolhost) Execute() Contender {
	return Contender{Key: "execute", Title: "toolhost, Execute", Processes: t.pids, Do: func(ctx context.Context, arguments []byte) (int, error) {
		stream, err := t.stub.Execute(ctx)
		if err != nil {
			return 0, err
		}
		if err := stream.Send(&toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Start{Start: &toolhostv1.StartCall{
			Tool: "echo", Arguments: arguments, Complete: true, Options: t.options()}}}); err != nil {
			return 0, err
		}
		if err := stream.CloseSend(); err != nil {
			return 0, err
		}
		n := 0
		for {
			response, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return n, nil
			}
			if err != nil {
				return 0, err
			}
			n += len(response.GetEvent().GetChunk().GetData()) + length(response.GetEvent().GetEnded().GetResult())
		}
	}}
}

// Restart ends the plugin's process, so that the next call is a cold one.
func (t *Toolhost) Restart(ctx context.Context) error { return t.client.Drain(ctx, "echo") }

func (t *Toolhost) options() *toolhostv1.CallOptions {
	return &toolhostv1.CallOptions{CallId: t.id(), MaxShownBytes: proto.Uint64(shown)}
}

// id makes a new call id, as callers who care do.
func (t *Toolhost) id() string { return t.run + "-" + strconv.FormatUint(t.calls.Add(1), 10) }

func length(r *toolv1.Result) int {
	n := 0
	for _, c := range r.GetContent() {
		n += len(c.GetText())
	}
	return n
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copying a plugin: %w", err)
	}
	return os.WriteFile(to, data, 0o700)
}

package peer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/client"
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

// House says what a toolhost is started with. The zero value is one with the plugin echo.
type House struct {
	Settings string // added to toolhost.yaml
	Plugins  string // the folder with the plugins; empty: one with echo alone
	State    string // the folder for what outlives it; empty: a new one
	Tool     string // what the contenders call; empty: echo
}

// Toolhost is a running toolhost, one of whose tools does the work.
type Toolhost struct {
	addr    string
	tool    string
	session string // in which Connect calls; empty: the default one
	client  *client.Client
	stub    toolhostv1.ToolServiceClient
	pids    load.Processes
	run     string
	calls   *atomic.Uint64
	stop    func() error
}

// Toolhost starts a toolhost. It returns when that listens, which may be before it answers.
func (f *Field) Toolhost(ctx context.Context, h House) (*Toolhost, error) {
	dir, err := f.Folder("toolhost")
	if err != nil {
		return nil, err
	}
	if h.Tool == "" {
		h.Tool = "echo"
	}
	if h.State == "" {
		h.State = filepath.Join(dir, "state")
	}
	if h.Plugins == "" {
		h.Plugins = filepath.Join(dir, "plugins")
		if err := f.install(h.Plugins); err != nil {
			return nil, err
		}
	}
	file, socket, workspace := filepath.Join(dir, "toolhost.yaml"), filepath.Join(dir, "s"), filepath.Join(dir, "workspace")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, []byte(settings+h.Settings), 0o600); err != nil {
		return nil, err
	}
	t := &Toolhost{addr: "unix://" + socket, tool: h.Tool, run: filepath.Base(dir), calls: new(atomic.Uint64)}
	pid, stop, err := f.start(ctx, socket, "toolhost", "serve", "--config", file, "--plugins", h.Plugins, "--listen", t.addr,
		"--state", h.State, "--workspace", workspace, "--log-level", "error")
	if err != nil {
		return nil, err
	}
	t.pids, t.stop = load.Processes{pid}, stop
	return t, t.dial(f)
}

func (t *Toolhost) dial(f *Field) (err error) {
	if t.client, err = client.Dial(t.addr); err != nil {
		return err
	}
	conn, err := grpc.NewClient(t.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	t.stub = toolhostv1.NewToolServiceClient(conn)
	f.owns(conn.Close, t.client.Close)
	return nil
}

// install makes a folder with the plugin echo.
func (f *Field) install(plugins string) error {
	if err := os.Mkdir(plugins, 0o700); err != nil {
		return err
	}
	data, err := os.ReadFile(f.program("echo"))
	if err != nil {
		return fmt.Errorf("copying a plugin: %w", err)
	}
	return os.WriteFile(filepath.Join(plugins, "echo"), data, 0o700)
}

// Crowd makes a folder with so many plugins, each with so many tools, among them the tool echo. A plugin is a line that names
// the program crowd as its interpreter, so that it has a digest of its own and takes no room.
func (f *Field) Crowd(plugins, toolsOfEach int) (string, error) {
	program, err := filepath.Abs(f.program("crowd"))
	if err != nil {
		return "", err
	}
	dir, err := f.Folder("crowd")
	if err != nil {
		return "", err
	}
	for i := range plugins {
		name := fmt.Sprintf("crowd%d", i)
		script := fmt.Appendf(nil, "#!%s\n%d %d\n", program, i, toolsOfEach)
		if err := os.WriteFile(filepath.Join(dir, name), script, 0o700); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// In returns the same toolhost, whose Connect calls in a session of that name.
func (t *Toolhost) In(session string) *Toolhost {
	other := *t
	other.session = session
	return &other
}

// List asks for the tools with one tag and returns how many there are.
func (t *Toolhost) List(ctx context.Context, tag string) (int, error) {
	tools, err := t.client.ListTools(ctx, tool.Query{Tags: []string{tag}})
	return len(tools), err
}

// Await returns when so many tools with a tag are known.
func (t *Toolhost) Await(ctx context.Context, tag string, want int) error {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	for {
		n, err := t.List(ctx, tag)
		if err != nil {
			return fmt.Errorf("waiting for %d tools, of which %d are known: %w", want, n, err)
		}
		if n == want {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d tools, of which %d are known: %w", want, n, ctx.Err())
		}
	}
}

// settling bounds how long a thousand plugins may take to say what they are, the first time.
const settling = 5 * time.Minute

// Resident returns the resident memory of the toolhost itself, in bytes.
func (t *Toolhost) Resident() (int64, error) {
	memory, err := t.pids.Memory()
	return memory["toolhost"], err
}

// Stop ends the toolhost and waits for it.
func (t *Toolhost) Stop() error { return t.stop() }

// Restart ends the plugin's process, so that the next call is a cold one.
func (t *Toolhost) Restart(ctx context.Context) error { return t.client.Drain(ctx, "echo") }

// Address returns where it listens.
func (t *Toolhost) Address() string { return t.addr }

// PIDs returns its processes.
func (t *Toolhost) PIDs() load.Processes { return t.pids }

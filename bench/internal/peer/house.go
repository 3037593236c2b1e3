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

// shown is a limit that no measured answer reaches.
const shown = 1 << 20

// settings are those of a careful operator: rules for each call, an audit log, limits.
const settings = `
policy:
  rules:
    - {name: nothing-huge, when: 'tool.name == "echo" && arguments.size > 1000000', then: deny, reason: too large}
    - {name: not-on-sundays, when: 'tool.name == "echo" && arguments.note.startsWith("sunday")', then: require_approval}
`

// House has the settings of a toolhost. The zero value starts one with the plugin echo.
type House struct {
	Settings string // lines for toolhost.yaml
	Plugins  string // the plugin folder; empty: one with only echo
	State    string // the state folder; empty: a new one
	Tool     string // the tool that the contenders call; empty: echo
}

// Toolhost is a running toolhost with a tool that does the work.
type Toolhost struct {
	addr    string
	tool    string
	session string // the session of Connect; empty: the default session
	client  *client.Client
	stub    toolhostv1.ToolServiceClient
	pids    load.Processes
	run     string
	calls   *atomic.Uint64
	stop    func() error
}

// Toolhost starts a toolhost. It returns when toolhost listens, which may be before it answers.
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
	t := &Toolhost{addr: "unix://" + socket, tool: h.Tool, run: filepath.Base(dir), calls: new(atomic.Uint64)}
	listen := fmt.Sprintf("listen: %q\n", t.addr) // not the flag, which replaces all listeners of the file
	if err := os.WriteFile(file, []byte(listen+settings+h.Settings), 0o600); err != nil {
		return nil, err
	}
	pid, stop, err := f.start(ctx, filepath.Dir(h.State), socket, "toolhost", "serve", "--config", file, "--plugins", h.Plugins,
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

// install creates a folder with the plugin echo.
func (f *Field) install(plugins string) error {
	if err := os.Mkdir(plugins, 0o700); err != nil {
		return err
	}
	return f.copyTo(plugins, "echo")
}

func (f *Field) copyTo(plugins, name string) error {
	data, err := os.ReadFile(f.program(name))
	if err != nil {
		return fmt.Errorf("copying a plugin: %w", err)
	}
	return os.WriteFile(filepath.Join(plugins, name), data, 0o700)
}

// Only creates a folder with the named plugins.
func (f *Field) Only(names ...string) (plugins string, err error) {
	if plugins, err = f.Folder("plugins"); err != nil {
		return "", err
	}
	for _, name := range names {
		if err := f.copyTo(plugins, name); err != nil {
			return "", err
		}
	}
	return plugins, nil
}

// Crowd creates a folder with the given number of plugins and tools per plugin. One of the tools is
// echo. Each plugin is a script of a few bytes with the program crowd as its interpreter, so each
// has another digest.
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

// In returns the same toolhost with a Connect that calls in the named session.
func (t *Toolhost) In(session string) *Toolhost {
	other := *t
	other.session = session
	return &other
}

// List requests the tools with a tag and returns their number.
func (t *Toolhost) List(ctx context.Context, tag string) (int, error) {
	tools, err := t.client.ListTools(ctx, tool.Query{Tags: []string{tag}})
	return len(tools), err
}

// Await returns when toolhost knows the given number of tools with a tag.
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

// settling bounds how long a thousand plugins may take to describe themselves the first time.
const settling = 5 * time.Minute

// Resident returns the resident memory of the toolhost process, in bytes.
func (t *Toolhost) Resident() (int64, error) {
	memory, err := t.pids.Memory()
	return memory["toolhost"], err
}

// Stop stops toolhost and waits for its end.
func (t *Toolhost) Stop() error { return t.stop() }

// Restart stops the plugin's process, so that the next call starts a new one.
func (t *Toolhost) Restart(ctx context.Context) error { return t.client.Admin().Drain(ctx, "echo") }

// Address returns the address that toolhost listens on.
func (t *Toolhost) Address() string { return t.addr }

// PIDs returns the processes of toolhost.
func (t *Toolhost) PIDs() load.Processes { return t.pids }

package process

import (
	"context"
	"io"
	"strconv"
	"strings"
	"syscall"

	goruntime "github.com/hashicorp/go-plugin/runner"
)

var _ goruntime.Runner = (*pluginRunner)(nil)

// pluginRunner shows the process to go-plugin: as a process that prints a valid handshake, prints
// nothing else, and dies at once. go-plugin never touches the process or its pipes.
type pluginRunner struct {
	p        *Process
	ctx      context.Context // of the launch; go-plugin has no context
	protocol []string        // the environment entries that go-plugin sets
	dir      string          // the folder in which the socket must be
	line     string          // the handshake; set by Start
}

// Start starts the process and waits for its handshake.
func (r *pluginRunner) Start(context.Context) error {
	if err := r.p.start(r.ctx, r.protocol, r.dir); err != nil {
		return err
	}
	line, err := r.p.awaitHandshake(r.ctx, r.dir)
	r.line = line
	return err
}

func (r *pluginRunner) Stdout() io.ReadCloser { return r.reader(r.line + "\n") }

func (r *pluginRunner) Stderr() io.ReadCloser { return r.reader("") }

func (r *pluginRunner) reader(text string) io.ReadCloser {
	return &finalReader{text: strings.NewReader(text), end: r.p.over}
}

func (r *pluginRunner) Wait(context.Context) error {
	<-r.p.over
	return nil
}

func (r *pluginRunner) Kill(context.Context) error {
	if r.p.child != nil {
		r.p.child.signalGroup(syscall.SIGKILL)
	}
	return nil
}

// ID is never empty, because go-plugin would not clean up then.
func (r *pluginRunner) ID() string {
	if r.p.child == nil {
		return "none"
	}
	return strconv.Itoa(r.p.child.id.PID)
}

func (r *pluginRunner) Name() string                    { return r.p.cfg.Path }
func (r *pluginRunner) Diagnose(context.Context) string { return "" }

func (r *pluginRunner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

func (r *pluginRunner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// finalReader yields its text, then blocks until end, then returns io.EOF.
type finalReader struct {
	text *strings.Reader
	end  <-chan struct{}
}

func (f *finalReader) Read(b []byte) (int, error) {
	if n, err := f.text.Read(b); err == nil {
		return n, nil
	}
	<-f.end
	return 0, io.EOF
}

func (f *finalReader) Close() error { return nil }

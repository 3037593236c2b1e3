package process

import (
	"context"
	"io"
	"maps"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
)

// clientConfig returns the configuration with which go-plugin launches the process.
func (p *Process) clientConfig(launch context.Context) *goplugin.ClientConfig {
	return &goplugin.ClientConfig{
		HandshakeConfig:  pluginwire.Handshake(),
		VersionedPlugins: pluginwire.HostPlugins(p.cfg.Conn),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			return &pluginRunner{p: p, ctx: launch, protocol: cmd.Env, dir: dir}, nil
		},
		SkipHostEnv:         true,
		StartTimeout:        2 * p.cfg.StartTimeout, // this package's timeout ends first
		UnixSocketConfig:    &goplugin.UnixSocketConfig{TempDir: p.folder},
		SyncStdout:          p.streams.servedStdout,
		SyncStderr:          p.streams.servedStderr,
		PluginLogBufferSize: 1, // it reads nothing from the process
		// Off, so that go-plugin does not parse output of the plugin.
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard}),
		GRPCDialOptions: append(pluginwire.DialOptions(),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				return p.link.dial(ctx, p.folder, p.socket, p.PID())
			}),
			grpc.WithChainStreamInterceptor(p.channels.note),
			// gRPC's own timeout must not end before the launch's.
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 2 * p.cfg.StartTimeout}),
		),
	}
}

var _ runner.Runner = (*pluginRunner)(nil)

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
	line, err := r.awaitHandshake()
	r.line = line
	return err
}

// awaitHandshake returns the process's first line if go-plugin may see it.
func (r *pluginRunner) awaitHandshake() (string, error) {
	select {
	case line, ok := <-r.p.streams.first:
		if !ok || !line.whole {
			r.p.unfinished = line.text
			return "", errNoHandshake
		}
		socket, err := checkHandshake(line.text, r.dir, slices.Sorted(maps.Keys(pluginwire.HostPlugins(r.p.cfg.Conn))))
		r.p.socket = socket
		return strings.TrimSpace(line.text), err
	case <-r.ctx.Done():
		return "", context.Cause(r.ctx)
	}
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
	if child := r.p.child(); child != nil {
		child.signalGroup(syscall.SIGKILL)
	}
	return nil
}

// ID is never empty, because go-plugin would not clean up then.
func (r *pluginRunner) ID() string {
	if r.p.child() == nil {
		return "none"
	}
	return strconv.Itoa(r.p.PID())
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

// channels are the gRPC channels that go-plugin makes, the oldest first. go-plugin returns a
// channel only on success, and does not close it otherwise. A channels is safe for concurrent use.
type channels struct {
	mu   sync.Mutex
	made []*grpc.ClientConn
}

// note is a grpc.StreamClientInterceptor that remembers the channel.
func (c *channels) note(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	c.mu.Lock()
	if !slices.Contains(c.made, cc) {
		c.made = append(c.made, cc)
	}
	c.mu.Unlock()
	return streamer(ctx, desc, cc, method, opts...)
}

// first returns the first channel, or nil if there is none.
func (c *channels) first() *grpc.ClientConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.made) == 0 {
		return nil
	}
	return c.made[0]
}

// close closes all channels.
func (c *channels) close() {
	c.mu.Lock()
	made := slices.Clone(c.made)
	c.mu.Unlock()
	for _, cc := range made {
		_ = cc.Close()
	}
}

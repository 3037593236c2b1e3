package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

var (
	errStartTimeout = errors.New("it did not answer in time")
	errNoHandshake  = errors.New("it ended its standard output without go-plugin's handshake")
)

// Launch starts a plugin process and returns it after it has answered. The end of ctx aborts the
// launch. After the launch, the process does not depend on ctx. If Launch fails, nothing of the
// process is left when it returns. If the plugin failed, or did not answer before ctx's deadline,
// the error is a *tool.Error of kind unavailable with the process's exit. If ctx ended the launch,
// the error wraps ctx's cause.
func Launch(ctx context.Context, cfg Config) (*Process, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, fmt.Errorf("launching plugin %q: %w", cfg.Plugin, err)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("launching plugin %q: %w", cfg.Plugin, context.Cause(ctx))
	}
	if deadline, ok := ctx.Deadline(); ok {
		cfg.StartTimeout = min(cfg.StartTimeout, time.Until(deadline))
	}
	launch, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, errStartTimeout)
	defer cancel()
	for try := 1; ; try++ {
		p, err := prepare(cfg)
		if err != nil {
			return nil, fmt.Errorf("launching plugin %q: %w", cfg.Plugin, err)
		}
		p.begin(launch)
		if p.run(launch); p.err == nil {
			return p, nil
		}
		<-p.done
		if p.Withdrawn() == "" || launch.Err() != nil || try == mostPlans {
			return nil, p.failure(ctx, launch)
		}
	}
}

// begin starts the goroutine that owns the process from its launch to its end.
func (p *Process) begin(launch context.Context) {
	p.client = goplugin.NewClient(p.clientConfig(launch))
	go p.own(launch.Done()) // ends with the process
}

// run launches the process. The launch has failed if p.err is set afterwards.
func (p *Process) run(launch context.Context) {
	p.conn, p.err = p.connect(launch)
	p.boost.end()
	close(p.launched)
}

// failure returns why a launch failed. Nothing of the process is left. ctx is the caller's.
func (p *Process) failure(ctx, launch context.Context) error {
	switch {
	case ctx.Err() == nil && context.Cause(launch) == errStartTimeout:
		p.err = errStartTimeout
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		p.err = errors.Join(errStartTimeout, context.Cause(ctx))
	case ctx.Err() != nil:
		return fmt.Errorf("launching plugin %q: %w", p.cfg.Plugin, context.Cause(ctx))
	}
	return p.explain(p.err)
}

// prepare makes the process's folder, and everything else that needs no process.
func prepare(cfg Config) (*Process, error) {
	folder, err := os.MkdirTemp(cfg.RunDir, "p")
	if err != nil {
		return nil, fmt.Errorf("making a folder for it: %w", err)
	}
	p := &Process{
		cfg:       cfg,
		folder:    folder,
		mark:      rand.Text() + "/" + rand.Text(),
		link:      newLink(),
		firstLine: make(chan firstLine, 1),
		spawned:   make(chan struct{}),
		launched:  make(chan struct{}),
		over:      make(chan struct{}),
		done:      make(chan struct{}),
	}
	if cfg.Reaper != nil {
		p.mark = cfg.Reaper.Token() + "/" + rand.Text()
	}
	if err := os.Mkdir(p.tmp(), 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("making a folder for it: %w", err), os.RemoveAll(folder))
	}
	if p.holder, err = limits.Hold(cfg.Limits, cfg.Cgroups, cfg.Instance); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	p.out = newOutput(cfg.Logger.With("plugin", cfg.Plugin), cfg.LinesPerSecond)
	p.servedStdout, p.servedStderr = p.newLines(p.out.stdoutLine), p.newLines(p.out.stderrLine)
	return p, nil
}

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
		SyncStdout:          p.servedStdout,
		SyncStderr:          p.servedStderr,
		PluginLogBufferSize: 1, // it reads nothing from the process
		// Off, so that go-plugin does not parse output of the plugin.
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard}),
		GRPCDialOptions: append(pluginwire.DialOptions(),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				return p.link.dial(ctx, p.folder, p.socket, p.child.id.PID)
			}),
			grpc.WithChainStreamInterceptor(p.noteChannel),
			// gRPC's own timeout must not end before the launch's.
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 2 * p.cfg.StartTimeout}),
		),
	}
}

// connect runs go-plugin's launch. All that go-plugin waits for ends when the process is killed,
// which own does when ctx ends.
func (p *Process) connect(ctx context.Context) (*pluginwire.Conn, error) {
	if _, err := p.client.Start(); err != nil {
		return nil, err
	}
	p.cfg.Report(tool.InstanceWarming)
	protocol, err := p.client.Client()
	if err != nil {
		return nil, err
	}
	dispensed, err := protocol.Dispense(pluginwire.PluginKey)
	if err != nil {
		return nil, err
	}
	conn, ok := dispensed.(*pluginwire.Conn)
	if !ok {
		return nil, fmt.Errorf("go-plugin dispensed a %T", dispensed)
	}
	if err := p.greet(ctx, conn); err != nil {
		if problem := p.link.problem(); problem != nil {
			err = problem // gRPC's message would only repeat it
		}
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// greet checks that the plugin answers, and opens the connection.
func (p *Process) greet(ctx context.Context, conn *pluginwire.Conn) error {
	channel := p.channel()
	if channel == nil {
		return errLinkLost
	}
	health := grpc_health_v1.NewHealthClient(channel)
	answer, err := health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName})
	if err != nil {
		return fmt.Errorf("asking for its health: %w", err)
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("asking for its health: it is %v", answer.GetStatus())
	}
	return conn.Open(ctx)
}

// noteChannel remembers the gRPC channel that go-plugin makes. go-plugin returns the channel only
// on success, and does not close it otherwise.
func (p *Process) noteChannel(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	p.mu.Lock()
	if !slices.Contains(p.channels, cc) {
		p.channels = append(p.channels, cc)
	}
	p.mu.Unlock()
	return streamer(ctx, desc, cc, method, opts...)
}

func (p *Process) channel() *grpc.ClientConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.channels) == 0 {
		return nil
	}
	return p.channels[0]
}

func (p *Process) closeChannels() {
	p.mu.Lock()
	channels := p.channels
	p.mu.Unlock()
	for _, cc := range channels {
		_ = cc.Close()
	}
}

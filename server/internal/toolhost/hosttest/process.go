package hosttest

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginclient"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// Process is a host.Process that runs in the process of the test, behind the plugin contract. Only
// the test can kill it. Use StartProcess to make one. All methods are safe for concurrent use.
type Process struct {
	Wire *pluginwire.Conn // the host's end of the connection

	pid    int
	server *grpc.Server
	cc     *grpc.ClientConn
	done   chan struct{}

	once sync.Once
	mu   sync.Mutex
	exit tool.Exit
}

// StartProcess serves a handler in the test like a process would. Its server ends with Stop or End.
func StartProcess(ctx context.Context, handler pluginwire.Handler, pid int, wire pluginwire.ConnConfig) (*Process, error) {
	listener := bufconn.Listen(1 << 20)
	p := &Process{pid: pid, done: make(chan struct{}), server: grpc.NewServer(pluginwire.ServerOptions()...)}
	pluginwire.Register(p.server, handler, pluginwire.ServerConfig{})
	go p.server.Serve(listener) // ends with End
	options := append(pluginwire.DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	cc, err := grpc.NewClient("passthrough:///test", options...)
	if err != nil {
		return nil, err
	}
	p.cc, p.Wire = cc, pluginwire.NewConn(cc, wire)
	if err := p.Wire.Open(ctx); err != nil {
		p.End(tool.Exit{})
		return nil, err
	}
	return p, nil
}

// PID returns the process id that the test has chosen.
func (p *Process) PID() int { return p.pid }

// CPU returns a second.
func (p *Process) CPU() time.Duration { return time.Second }

// RSS returns a MiB.
func (p *Process) RSS() uint64 { return 1 << 20 }

// Memory returns 100 MiB.
func (p *Process) Memory() uint64 { return 100 << 20 }

// Limits returns none.
func (p *Process) Limits() []tool.EffectiveLimit { return nil }

// Withdrawn returns nothing.
func (p *Process) Withdrawn() string { return "" }

// Workspace returns nothing, for the workspace of the host.
func (p *Process) Workspace() string { return "" }

// Sandbox returns one that is off.
func (p *Process) Sandbox() tool.Sandbox { return tool.Sandbox{Mode: "off"} }

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop ends the process with the exit code 0.
func (p *Process) Stop(context.Context) error { p.End(tool.Exit{}); return nil }

// Conn returns the connection to the handler.
func (p *Process) Conn() pluginconn.Conn { return pluginclient.New(p.Wire) }

// Alive reports whether the process has not ended.
func (p *Process) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Exit returns how the process ended.
func (p *Process) Exit() tool.Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// End ends the process with an exit, unless it has ended. It waits for the end.
func (p *Process) End(exit tool.Exit) {
	p.once.Do(func() {
		p.mu.Lock()
		p.exit = exit
		p.mu.Unlock()
		p.server.Stop()
		p.Wire.Close()
		p.cc.Close()
		close(p.done)
	})
	<-p.done
}

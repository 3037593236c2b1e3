package host_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/toolhost/toolhost/internal/host"
	"github.com/toolhost/toolhost/internal/host/hosttest"
	"github.com/toolhost/toolhost/internal/host/pluginconn"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/rpc/pluginclient"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeProcess is a plugin that runs in the test, behind the real wire. Only a test can kill it.
type fakeProcess struct {
	pid    int
	server *grpc.Server
	cc     *grpc.ClientConn
	conn   *pluginwire.Conn
	tools  *settlingConn // over conn; nil: the plugin gets all calls
	done   chan struct{}

	once sync.Once
	mu   sync.Mutex
	exit tool.Exit
}

func (p *fakeProcess) PID() int                      { return p.pid }
func (p *fakeProcess) CPU() time.Duration            { return time.Second }
func (p *fakeProcess) RSS() uint64                   { return 1 << 20 }
func (p *fakeProcess) Memory() uint64                { return 100 << 20 }
func (p *fakeProcess) Limits() []tool.EffectiveLimit { return nil }
func (p *fakeProcess) Withdrawn() string             { return "" }
func (p *fakeProcess) Workspace() string             { return "" }
func (p *fakeProcess) Sandbox() tool.Sandbox         { return tool.Sandbox{Mode: "off"} }
func (p *fakeProcess) Done() <-chan struct{}         { return p.done }
func (p *fakeProcess) Stop(_ context.Context) error  { p.end(tool.Exit{}); return nil }

func (p *fakeProcess) Conn() pluginconn.Conn {
	if p.tools != nil {
		return p.tools
	}
	return pluginclient.New(p.conn)
}

func (p *fakeProcess) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *fakeProcess) Exit() tool.Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// end ends the process with an exit.
func (p *fakeProcess) end(exit tool.Exit) {
	p.once.Do(func() {
		p.mu.Lock()
		p.exit = exit
		p.mu.Unlock()
		p.server.Stop()
		p.conn.Close()
		p.cc.Close()
		close(p.done)
	})
	<-p.done
}

// startFake serves a handler in the test like a process would.
func startFake(ctx context.Context, handler pluginwire.Handler, pid int, wire pluginwire.ConnConfig) (*fakeProcess, error) {
	listener := bufconn.Listen(1 << 20)
	p := &fakeProcess{pid: pid, done: make(chan struct{}), server: grpc.NewServer(pluginwire.ServerOptions()...)}
	pluginwire.Register(p.server, handler, pluginwire.ServerConfig{})
	go p.server.Serve(listener) // ends with Stop
	options := append(pluginwire.DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	cc, err := grpc.NewClient("passthrough:///fake", options...)
	if err != nil {
		return nil, err
	}
	p.cc, p.conn = cc, pluginwire.NewConn(cc, wire)
	if tools, ok := handler.(*fixture); ok {
		p.tools = &settlingConn{pluginclient.New(p.conn), tools}
	}
	if err := p.conn.Open(ctx); err != nil {
		p.end(tool.Exit{})
		return nil, err
	}
	return p, nil
}

// fixture is a pluginwire.Handler of the suite's tools.
type fixture struct{ tools map[string]hosttest.Tool }

func newFixture(tools []hosttest.Tool) *fixture {
	f := &fixture{tools: map[string]hosttest.Tool{}}
	for _, t := range tools {
		f.tools[t.Spec.Name] = t
	}
	return f
}

func (f *fixture) Describe(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
	d := tool.Description{Name: hosttest.PluginName, Version: hosttest.PluginVersion}
	for _, t := range f.tools {
		d.Tools = append(d.Tools, t.Spec)
	}
	return d, nil
}

func (f *fixture) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	start := call.Start()
	t := f.tools[start.Tool]
	// a call that has ended gets no more events
	emit := func(ev tool.Event) { _ = call.Send(ctx, ev) }
	var seen []byte
	for {
		text, complete, err := call.NextArguments(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		if complete {
			return t.Run(hosttest.WithAsker(hosttest.WithArtifacts(ctx, call.ReadArtifact), call.Ask), tool.Call{ID: start.CallID, Tool: start.Tool, Arguments: text, Session: start.Session, Context: start.Values}, emit)
		}
		seen = append(seen, text...)
		if t.Preview != nil {
			t.Preview(seen, emit)
		}
	}
}

// firstPID is the process id of the first fake process. The others have the ids after it.
const firstPID = 1000

// rig is a host with one fake plugin, and the controls of the tests.
type rig struct {
	*host.Host
	wire pluginwire.ConnConfig // of each process

	mu        sync.Mutex
	processes []*fakeProcess
	// not nil: replaces the usual launch
	launch func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error)
}

// newRig returns a host whose one plugin has the tools.
func newRig(t *testing.T, tools []hosttest.Tool, change func(*host.Config)) *rig {
	t.Helper()
	r := &rig{}
	description, err := newFixture(tools).Describe(t.Context(), pluginwire.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := host.Config{Catalog: openCatalog(t, description)}
	cfg.Launch = func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
		if r.launch != nil {
			return r.launch(ctx, p, instance)
		}
		return r.start(ctx, newFixture(tools))
	}
	if change != nil {
		change(&cfg)
	}
	r.Host = host.New(cfg)
	t.Cleanup(func() { r.Close() })
	return r
}

func (r *rig) start(ctx context.Context, handler pluginwire.Handler) (host.Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := startFake(ctx, handler, firstPID+len(r.processes), r.wire)
	if err != nil {
		return nil, err
	}
	r.processes = append(r.processes, p)
	return p, nil
}

// process returns the n-th process that was started, from 0.
func (r *rig) process(n int) *fakeProcess {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.processes[n]
}

func (r *rig) started() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.processes)
}

// openCatalog returns a catalog that knows one plugin.
func openCatalog(t testing.TB, d tool.Description) *catalog.Catalog {
	t.Helper()
	return openCatalogWith(t, d, nil)
}

// openCatalogWith returns a catalog that knows one plugin, with the operator's overrides of its
// tools.
func openCatalogWith(t testing.TB, d tool.Description, overrides catalog.Overrides) *catalog.Catalog {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, d.Name), data, 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(catalog.Config{
		Folders: []string{dir}, StateDir: t.TempDir(), Overrides: overrides,
		Describe: func(context.Context, *catalog.Plugin) (tool.Description, error) { return d, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// echoLog writes the id of its call to the tool's log.
func echoLog(_ context.Context, c tool.Call, emit func(tool.Event)) (tool.Result, error) {
	emit(tool.Event{Log: &tool.LogRecord{Level: tool.LogInfo, Message: "this is " + c.ID}})
	return tool.TextResult("said"), nil
}

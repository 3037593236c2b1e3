package counts_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginclient"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a client, a toolhost and a plugin in this process. A unix socket connects each one to the
// next.
type rig struct {
	client *client.Client
	calls  int
}

// newRig starts a rig. outer counts at toolhost's end of the socket to the client, and inner at the
// plugin's end of the socket to toolhost. A nil meter counts nothing.
func newRig(t *testing.T, outer, inner *meter) *rig {
	t.Helper()
	r := &rig{}
	rules, err := policy.Compile([]policy.Rule{{Name: "no-secrets", When: `tool.name == "echo" && arguments.note.startsWith("secret")`, Then: "deny"}})
	if err != nil {
		t.Fatal(err)
	}
	h := host.New(host.Config{Catalog: openCatalog(t), Settings: host.Settings{Policy: rules},
		Launch: func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
			return launch(ctx, t, inner)
		}})
	t.Cleanup(func() { h.Close() })
	socket := filepath.Join(shortdir.Make(t), "s")
	server := hostserver.NewServer(hostserver.Config{Host: h})
	t.Cleanup(serve(t, outer.listen(t, socket), server.Serve, func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
	}))
	if r.client, err = client.Dial("unix://" + socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.client.Close() })
	return r
}

// serve starts serving l. The function that it returns calls stop and waits until serving has
// ended.
func serve(t *testing.T, l net.Listener, serve func(net.Listener) error, stop func()) func() {
	served := make(chan error, 1)
	go func() { served <- serve(l) }() // ends with stop
	return func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
	}
}

// call makes a call with an id, whose result has size bytes.
func (r *rig) call(t *testing.T, size int) {
	t.Helper()
	r.calls++
	most := 1 << 20
	outcome, err := r.client.Call(context.Background(), tool.Call{ID: "call-" + strconv.Itoa(r.calls), Tool: "echo", MaxShown: &most, Arguments: arguments(size)})
	if err != nil || outcome.Result.IsError || len(outcome.Result.Text()) != size {
		t.Fatalf("the call did not answer with %d bytes: %v, %.100q", size, err, outcome.Result.Text())
	}
}

// request contains the arguments of the tool.
type request struct {
	Size int    `json:"size"`
	Note string `json:"note"`
}

func arguments(size int) json.RawMessage {
	// Marshal cannot fail here
	text, _ := json.Marshal(request{size, strings.Repeat("all work and no play ", 8)})
	return text
}

var description = tool.Description{Name: "echo", Version: "1.0.0", Tools: []tool.Spec{{
	Name: "echo", Description: "Answers with a text of the size asked for.", ReadOnly: true,
	InputSchema: json.RawMessage(`{"type":"object","properties":{"size":{"type":"integer","minimum":0,"maximum":1048576},` +
		`"note":{"type":"string"}},"required":["size","note"],"additionalProperties":false}`),
}}}

var answers = strings.Repeat("0123456789abcdef", 1<<16)

// echo is the plugin. It returns a text of the requested size.
type echo struct{}

func (echo) Describe(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
	return description, nil
}

func (echo) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	text, _, err := call.NextArguments(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	var in request
	if err := json.Unmarshal(text, &in); err != nil {
		return tool.Result{}, err
	}
	return tool.TextResult(answers[:in.Size]), nil
}

func openCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "echo"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(catalog.Config{Folders: []string{dir}, StateDir: t.TempDir(),
		Describe: func(context.Context, *catalog.Plugin) (tool.Description, error) { return description, nil }})
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

// process implements host.Process for the plugin in this process.
type process struct {
	conn *pluginwire.Conn
	done chan struct{}
	end  func()
}

func launch(ctx context.Context, t *testing.T, m *meter) (host.Process, error) {
	socket := filepath.Join(shortdir.Make(t), "s")
	server := grpc.NewServer(pluginwire.ServerOptions()...)
	pluginwire.Register(server, echo{}, pluginwire.ServerConfig{})
	stop := serve(t, m.listen(t, socket), server.Serve, server.Stop)
	cc, err := grpc.NewClient("unix:"+socket, append(pluginwire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return nil, err
	}
	conn := pluginwire.NewConn(cc, pluginwire.ConnConfig{})
	p := &process{conn: conn, done: make(chan struct{}), end: func() { conn.Close(); cc.Close(); stop() }}
	return p, conn.Open(ctx)
}

func (p *process) Conn() pluginconn.Conn         { return pluginclient.New(p.conn) }
func (p *process) PID() int                      { return 1 << 30 }
func (p *process) CPU() time.Duration            { return 0 }
func (p *process) RSS() uint64                   { return 0 }
func (p *process) Memory() uint64                { return 0 }
func (p *process) Limits() []tool.EffectiveLimit { return nil }
func (p *process) Withdrawn() string             { return "" }
func (p *process) Workspace() string             { return "" }
func (p *process) Sandbox() tool.Sandbox         { return tool.Sandbox{Mode: "off"} }
func (p *process) Done() <-chan struct{}         { return p.done }
func (p *process) Exit() tool.Exit               { return tool.Exit{} }

func (p *process) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *process) Stop(context.Context) error {
	p.end()
	close(p.done)
	return nil
}

// Command badplugin is a plugin that implements the contract without an SDK, and breaks it as its
// argument says: a list of violations separated by plus signs. The tests of package conformance
// state which check each violation fails. No product code imports it.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
)

// badplugin is a plugin that breaks the contract in the selected ways.
type badplugin struct {
	pluginv1.UnimplementedToolPluginServiceServer
	violations []string
	exit       chan int
	asked      int

	mu       sync.Mutex
	executed map[string]bool // by call id
}

// commits reports whether the plugin commits a violation.
func (p *badplugin) commits(violation string) bool { return slices.Contains(p.violations, violation) }

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: badplugin VIOLATION+VIOLATION…")
		os.Exit(2)
	}
	os.Exit(serve(os.Args[1]))
}

// serve serves the plugin until it ends, and returns the exit code.
func serve(violations string) int {
	p := &badplugin{violations: strings.Split(violations, "+"), exit: make(chan int, 10), executed: map[string]bool{}}
	if os.Getenv(pluginwire.CookieKey) != pluginwire.CookieValue && !p.commits("silent_by_hand") {
		fmt.Fprintln(os.Stderr, "a plugin of toolhost")
		if p.commits("content_by_hand") {
			return 0
		}
		return 1
	}
	if p.commits("silent_by_hand") && os.Getenv(pluginwire.CookieKey) == "" {
		return 1
	}
	if !pluginwire.Speaks(os.Getenv("PLUGIN_PROTOCOL_VERSIONS")) && !p.commits("any_version") {
		fmt.Fprintln(os.Stderr, "no version is known")
		return 1
	}
	name := "s"
	if p.commits("long_name") {
		name = strings.Repeat("s", 17)
	}
	path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), name)
	listener, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	server := grpc.NewServer(grpc.WaitForHandlers(false))
	pluginv1.RegisterToolPluginServiceServer(server, p)
	answers := health.NewServer()
	answers.SetServingStatus("plugin", grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(server, answers)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "plugin.GRPCController", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Shutdown", Handler: p.shutdown}},
	}, p)
	if p.commits("scribbles") {
		_ = os.WriteFile(filepath.Join(os.Getenv("WORKSPACE"), "mine"), nil, 0o600)
	}
	go func() { _ = server.Serve(&onlyOne{Listener: listener, plugin: p}) }()
	fmt.Printf("1|1|unix|%s|grpc\n", path)
	return <-p.exit
}

func (p *badplugin) shutdown(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	switch {
	case p.commits("clings"):
	case p.commits("angry"):
		p.exit <- 3
	default:
		p.exit <- 0
	}
	return &emptypb.Empty{}, decode(&emptypb.Empty{})
}

// onlyOne makes the plugin exit when its connection ends.
type onlyOne struct {
	net.Listener
	plugin *badplugin
}

func (o *onlyOne) Accept() (net.Conn, error) {
	conn, err := o.Listener.Accept()
	return &lastConn{conn, o.plugin}, err
}

type lastConn struct {
	net.Conn
	plugin *badplugin
}

func (c *lastConn) Close() error {
	if !c.plugin.commits("lonely") {
		c.plugin.exit <- 0
	}
	return c.Conn.Close()
}

func (p *badplugin) Describe(_ context.Context, request *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	if p.commits("mute") {
		return nil, status.Error(codes.Internal, "mute")
	}
	p.asked++
	spec := func(name string) *toolv1.ToolSpec {
		return &toolv1.ToolSpec{
			Name: name, Description: "Says what it is told, at length if that is long.", ReadOnly: true, PartialArguments: true,
			InputSchema:   []byte(`{"type":"object","properties":{"text":{"type":"string","description":"what to say"}},"required":["text"]}`),
			OutputSchema:  []byte(`{"type":"object","properties":{"length":{"type":"integer"}},"required":["length"]}`),
			InputExamples: []*toolv1.InputExample{{Arguments: []byte(`{"text":"grüße 4711"}`)}},
		}
	}
	d := &pluginv1.DescribeResponse{Name: "badplugin", Version: "1", Tools: []*toolv1.ToolSpec{spec("say"), spec("tell")}}
	say, tell := d.Tools[0], d.Tools[1]
	tell.ReadOnly, tell.Idempotent, tell.Settles = false, true, true
	if p.commits("restless") {
		d.Version = fmt.Sprint(p.asked)
	}
	if p.commits("bad_name") {
		d.Name = "no name"
	}
	if p.commits("twice") {
		tell.Name, tell.Settles = "say", false
	}
	if p.commits("stray_filter") {
		d.Filters = append(d.Filters, &pluginv1.FilterSpec{Name: "filter", After: true, Tools: []string{"say", "shout"}})
	}
	if p.commits("bad_schema") {
		say.InputSchema = []byte(`{"type":"nothing"}`)
	}
	if p.commits("no_object") {
		say.OutputSchema, say.InputSchema, say.InputExamples = nil, []byte(`{"type":"string"}`), nil
	}
	if p.commits("bad_example") {
		say.InputExamples[0].Arguments = []byte(`{"txt":1}`)
	}
	if p.commits("bad_metadata") {
		say.Metadata = map[string][]byte{"a": []byte("b")}
	}
	if len(request.GetTools()) > 0 && !p.commits("everything") {
		d.Tools = d.Tools[:1] // the tool that was asked for
	}
	return d, nil
}

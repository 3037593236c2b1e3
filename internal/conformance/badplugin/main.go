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
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
)

// badplugin is a plugin that breaks the contract in the selected ways.
type badplugin struct {
	pluginv1.UnimplementedToolPluginServiceServer
	violations []string
	exit       chan int
	asked      int
}

// commits reports whether the plugin commits a violation.
func (l *badplugin) commits(violation string) bool { return slices.Contains(l.violations, violation) }

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: badplugin LIE+LIE…")
		os.Exit(2)
	}
	os.Exit(play(os.Args[1]))
}

// play serves the plugin until it ends, and returns the exit code.
func play(violations string) int {
	l := &badplugin{violations: strings.Split(violations, "+"), exit: make(chan int, 10)}
	if os.Getenv(pluginwire.CookieKey) != pluginwire.CookieValue && !l.commits("silent_by_hand") {
		fmt.Fprintln(os.Stderr, "a plugin of toolhost")
		if l.commits("content_by_hand") {
			return 0
		}
		return 1
	}
	if l.commits("silent_by_hand") && os.Getenv(pluginwire.CookieKey) == "" {
		return 1
	}
	if !pluginwire.Speaks(os.Getenv("PLUGIN_PROTOCOL_VERSIONS")) && !l.commits("any_version") {
		fmt.Fprintln(os.Stderr, "no version is known")
		return 1
	}
	name := "s"
	if l.commits("long_name") {
		name = strings.Repeat("s", 17)
	}
	path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), name)
	listener, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	server := grpc.NewServer(grpc.WaitForHandlers(false))
	pluginv1.RegisterToolPluginServiceServer(server, l)
	answers := health.NewServer()
	answers.SetServingStatus("plugin", grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(server, answers)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "plugin.GRPCController", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Shutdown", Handler: l.shutdown}},
	}, l)
	if l.commits("scribbles") {
		_ = os.WriteFile(filepath.Join(os.Getenv("WORKSPACE"), "mine"), nil, 0o600)
	}
	go func() { _ = server.Serve(&onlyOne{Listener: listener, l: l}) }()
	fmt.Printf("1|1|unix|%s|grpc\n", path)
	return <-l.exit
}

func (l *badplugin) shutdown(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	switch {
	case l.commits("clings"):
	case l.commits("angry"):
		l.exit <- 3
	default:
		l.exit <- 0
	}
	return &emptypb.Empty{}, decode(&emptypb.Empty{})
}

// onlyOne makes the plugin exit when its connection ends.
type onlyOne struct {
	net.Listener
	l *badplugin
}

func (o *onlyOne) Accept() (net.Conn, error) {
	conn, err := o.Listener.Accept()
	return &lastConn{conn, o.l}, err
}

type lastConn struct {
	net.Conn
	l *badplugin
}

func (c *lastConn) Close() error {
	if !c.l.commits("lonely") {
		c.l.exit <- 0
	}
	return c.Conn.Close()
}

func (l *badplugin) Describe(_ context.Context, request *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	if l.commits("mute") {
		return nil, status.Error(codes.Internal, "mute")
	}
	l.asked++
	spec := func(name string) *toolv1.ToolSpec {
		return &toolv1.ToolSpec{
			Name: name, Description: "Says what it is told, at length if that is long.", ReadOnly: true, PartialArguments: true,
			InputSchema:   []byte(`{"type":"object","properties":{"text":{"type":"string","description":"what to say"}},"required":["text"]}`),
			OutputSchema:  []byte(`{"type":"object","properties":{"length":{"type":"integer"}},"required":["length"]}`),
			InputExamples: []*toolv1.InputExample{{Arguments: []byte(`{"text":"grüße 4711"}`)}},
		}
	}
	d := &pluginv1.DescribeResponse{Name: "badplugin", Version: "1", Tools: []*toolv1.ToolSpec{spec("say"), spec("tell")}}
	say := d.Tools[0]
	if l.commits("restless") {
		d.Version = fmt.Sprint(l.asked)
	}
	if l.commits("bad_name") {
		d.Name = "no name"
	}
	if l.commits("twice") {
		d.Tools[1].Name = "say"
	}
	if l.commits("bad_schema") {
		say.InputSchema = []byte(`{"type":"nothing"}`)
	}
	if l.commits("no_object") {
		say.OutputSchema, say.InputSchema, say.InputExamples = nil, []byte(`{"type":"string"}`), nil
	}
	if l.commits("bad_example") {
		say.InputExamples[0].Arguments = []byte(`{"txt":1}`)
	}
	if l.commits("bad_metadata") {
		say.Metadata = map[string][]byte{"a": []byte("b")}
	}
	if len(request.GetTools()) > 0 && !l.commits("everything") {
		d.Tools = d.Tools[:1] // the tool that was asked for
	}
	return d, nil
}

// talk is one stream.
type talk struct {
	l      *badplugin
	stream pluginv1.ToolPluginService_ConnectServer
	send   sync.Mutex

	mu    sync.Mutex
	more  *sync.Cond
	line  []uint32 // the calls in the order of arrival, for a plugin that serves one at a time
	calls map[uint32]*said
}

// said is what toolhost has sent for a call.
type said struct {
	start    *pluginv1.StartCall
	text     []byte
	complete bool
	stopped  toolv1.ErrorKind
	credit   int
}

func (l *badplugin) Connect(stream pluginv1.ToolPluginService_ConnectServer) error {
	if l.commits("no_stream") {
		return status.Error(codes.Unimplemented, "no stream")
	}
	t := &talk{l: l, stream: stream, calls: map[uint32]*said{}}
	t.more = sync.NewCond(&t.mu)
	for {
		frame, err := stream.Recv()
		if err != nil {
			switch {
			case l.commits("stays") || l.commits("clings"):
			default:
				l.exit <- 0
			}
			return err
		}
		if err := t.hear(frame); err != nil {
			return err
		}
	}
}

func (t *talk) hear(frame *pluginv1.ConnectRequest) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.more.Broadcast()
	if start := frame.GetStart(); start != nil {
		c := &said{start: start, text: start.GetArguments(), complete: start.GetComplete(), credit: int(start.GetCredit())}
		t.calls[frame.GetCall()] = c
		if ships(start.GetTool()) {
			t.line = append(t.line, frame.GetCall())
		}
		if limit := start.GetTimeout(); limit != nil {
			time.AfterFunc(limit.AsDuration(), func() { t.stop(c, toolv1.ErrorKind_ERROR_KIND_TIMEOUT) })
		}
		go t.run(frame.GetCall(), c)
		return nil
	}
	c := t.calls[frame.GetCall()]
	switch f := frame.GetFrame().(type) {
	case nil:
		if t.l.commits("strict") {
			return status.Error(codes.InvalidArgument, "what is this?")
		}
	case *pluginv1.ConnectRequest_Append:
		switch {
		case c == nil && t.l.commits("picky"):
			return status.Error(codes.InvalidArgument, "which call?")
		case c != nil && t.l.commits("chops"): // decodes each piece by itself
			c.text = append(c.text, strings.ToValidUTF8(string(f.Append.GetText()), `"`)...)
		case c != nil:
			c.text = append(c.text, f.Append.GetText()...)
		}
	case *pluginv1.ConnectRequest_Complete:
		if c != nil {
			if len(f.Complete.GetArguments()) > 0 && !t.l.commits("sticks") {
				c.text = f.Complete.GetArguments()
			}
			c.complete = true
		}
	case *pluginv1.ConnectRequest_Cancel:
		if c != nil && (!t.l.commits("deaf_early") || c.complete) {
			c.stopped = toolv1.ErrorKind_ERROR_KIND_CANCELLED
		}
	case *pluginv1.ConnectRequest_Credit:
		if c != nil {
			c.credit += int(f.Credit.GetBytes())
		}
	}
	return nil
}

func (t *talk) stop(c *said, kind toolv1.ErrorKind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.more.Broadcast()
	c.stopped = kind
}

package sdk

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/sdk/internal/transport"
)

// BenchmarkWire measures a call of a plugin over a socket, from the host's request to its response.
func BenchmarkWire(b *testing.B) {
	type request struct {
		Size int    `json:"size"`
		Note string `json:"note,omitempty"`
	}
	text := strings.Repeat("x", 1<<10)
	plugin, err := newServer(Plugin{Name: "echo", Version: "1.0.0", Tools: []Tool{
		Func(Spec{Name: "echo", Description: "Answers with a text."},
			func(_ context.Context, in request) (string, error) { return text[:in.Size], nil }),
	}}, lightly, true)
	if err != nil {
		b.Fatal(err)
	}
	conn := overSocket(b, plugin)
	arguments := []byte(`{"size":1024,"note":"` + strings.Repeat("n", 160) + `"}`)
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			call, err := conn.Start(b.Context(), pluginwire.Start{CallID: "c", Tool: "echo", Arguments: arguments, Complete: true, Timeout: 1 << 40})
			if err != nil {
				b.Error(err)
				return
			}
			if event, err := call.Next(b.Context()); err != nil || event.Ended == nil || len(event.Ended.Result.Content) != 1 {
				b.Errorf("%+v, %v", event, err)
			}
			call.Close()
		}
	})
}

// overSocket serves a plugin and connects to it.
func overSocket(b *testing.B, plugin *server) *pluginwire.Conn {
	b.Helper()
	socket := filepath.Join(shortdir.Make(b), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer(append(pluginwire.ServerOptions(), grpc.WaitForHandlers(true))...)
	pluginwire.Register(server, transport.OverWire(plugin), pluginwire.ServerConfig{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Stop, below
	cc, err := grpc.NewClient("unix:"+socket, append(pluginwire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		b.Fatal(err)
	}
	conn := pluginwire.NewConn(cc, pluginwire.ConnConfig{})
	if err := conn.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = conn.Close()
		_ = cc.Close()
		server.Stop()
		<-served
	})
	return conn
}

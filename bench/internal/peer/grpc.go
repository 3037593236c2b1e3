package peer

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/bench/internal/wire"
)

// Hop is one gRPC call over a unix socket. No design with a separate process can be faster.
func (f *Field) Hop(ctx context.Context) (Contender, error) {
	return f.wire(ctx, "hop", "one gRPC hop", false)
}

// Relay is a call through the smallest possible relay: the cost of two gRPC hops.
func (f *Field) Relay(ctx context.Context) (Contender, error) {
	return f.wire(ctx, "relay", "two gRPC hops, bare", true)
}

func (f *Field) wire(ctx context.Context, key, title string, relayed bool) (Contender, error) {
	dir, err := f.Folder(key)
	if err != nil {
		return Contender{}, err
	}
	socket := filepath.Join(dir, "s")
	pid, _, err := f.start(ctx, dir, socket, "echod", socket)
	if err != nil {
		return Contender{}, err
	}
	pids := load.Processes{pid}
	if relayed {
		front := filepath.Join(dir, "r")
		pid, _, err := f.start(ctx, dir, front, "echod", front, socket)
		if err != nil {
			return Contender{}, err
		}
		socket, pids = front, append(pids, pid)
	}
	conn, err := wire.Dial(socket)
	if err != nil {
		return Contender{}, err
	}
	f.owns(conn.Close)
	return Contender{Key: key, Title: title, Processes: pids, Do: func(ctx context.Context, arguments []byte) (int, error) {
		return wire.Do(ctx, conn, arguments)
	}}, nil
}

// GoPlugin is a direct call of a go-plugin plugin.
func (f *Field) GoPlugin(context.Context) (Contender, error) {
	client, conn, err := launch(f.program("bareplugin"))
	if err != nil {
		return Contender{}, err
	}
	f.owns(func() error { client.Kill(); return nil })
	return Contender{Key: "goplugin", Title: "go-plugin, no host", Processes: load.Processes{client.ReattachConfig().Pid},
		Do: func(ctx context.Context, arguments []byte) (int, error) { return wire.Do(ctx, conn, arguments) }}, nil
}

// ColdGoPlugin starts a plugin with go-plugin, makes its first call and stops it.
func (f *Field) ColdGoPlugin(ctx context.Context, arguments []byte) (stop func(), err error) {
	client, conn, err := launch(f.program("bareplugin"))
	if err != nil {
		return nil, err
	}
	if _, err = wire.Do(ctx, conn, arguments); err != nil {
		client.Kill()
		return nil, err
	}
	return client.Kill, nil
}

// launch starts a plugin with go-plugin and connects to it.
func launch(program string) (*plugin.Client, *grpc.ClientConn, error) {
	client := plugin.NewClient(&plugin.ClientConfig{HandshakeConfig: wire.Handshake, Plugins: wire.Plugins(),
		Cmd: exec.Command(program), AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger: hclog.NewNullLogger()})
	fail := func(err error) (*plugin.Client, *grpc.ClientConn, error) {
		client.Kill()
		return nil, nil, fmt.Errorf("launching by go-plugin: %w", err)
	}
	protocol, err := client.Client()
	if err != nil {
		return fail(err)
	}
	raw, err := protocol.Dispense("echo")
	if err != nil {
		return fail(err)
	}
	return client, raw.(*grpc.ClientConn), nil
}

// PerCall starts one process per call.
func (f *Field) PerCall(context.Context) (Contender, error) {
	program := f.program("percall")
	return Contender{Key: "percall", Title: "a process per call", Do: func(ctx context.Context, arguments []byte) (int, error) {
		cmd := exec.CommandContext(ctx, program)
		cmd.Stdin = bytes.NewReader(arguments)
		out, err := cmd.Output()
		return len(out), err
	}}, nil
}

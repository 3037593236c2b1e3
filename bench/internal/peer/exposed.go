package peer

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"google.golang.org/protobuf/proto"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/bench/internal/work"
	"github.com/toolhost/toolhost/client"
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/tool"
)

// Target is a server and how an attacker reaches it.
type Target struct {
	Address  string      // IP:PORT
	TLS      *client.TLS // without a certificate the attacker is a stranger; nil: no TLS
	Protocol string      // that TLS agrees on: h2 or http/1.1
	Path     string      // of requests: a method of gRPC, or the path of an HTTP server
	Body     []byte      // of a whole request
}

// Config returns the settings of TLS, or nil.
func (t Target) Config() (*tls.Config, error) {
	if t.TLS == nil {
		return nil, nil
	}
	c, err := config(*t.TLS)
	if err == nil {
		c.NextProtos, c.ServerName = []string{t.Protocol}, "127.0.0.1"
	}
	return c, err
}

// Exposed is a server that others on the network can reach, and a calm caller with a name of its
// own.
type Exposed struct {
	Title string // for people
	PIDs  load.Processes
	HTTP1 bool
	// As are the ways of an attacker to reach the server, by who the server takes it for.
	As map[string]Target
	// Call makes a call of the calm caller, over its connection or over a fresh one.
	Call func(ctx context.Context, fresh bool) error
}

// exposed are the settings of toolhost and agentd. The verbs are the port and the folder of the
// certificates.
const exposed = `
listeners:
  - {address: "127.0.0.1:%[1]d", tls: {certificate: %[2]s/server.pem, key: %[2]s/server.key, client_ca: %[2]s/ca.pem, client_certificate: optional}}
auth:
  bindings:
    - {role: admin, principals: ["uid:%[3]d"], tenants: [all]}
    - {role: caller, members_of: [default]}
`

// ofToolhost are further settings of toolhost. The verbs are the ports for MCP and telemetry, and
// the folder of the certificates.
const ofToolhost = `
memory: {in_flight: 64MiB}
mcp:
  listeners:
    - {address: "127.0.0.1:%[1]d", tls: {certificate: %[3]s/server.pem, key: %[3]s/server.key, client_ca: %[3]s/ca.pem, client_certificate: optional}}
telemetry: {listen: "127.0.0.1:%[2]d"}
`

// mcpCall is a call of the tool echo over MCP.
const mcpCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":%s}}`

// Exposed starts a toolhost and an agentd on ports of loopback and returns their servers.
func (f *Field) Exposed(ctx context.Context) ([]Exposed, error) {
	folder, err := f.Folder("certificates")
	if err != nil {
		return nil, err
	}
	ca, err := newAuthority(folder)
	if err != nil {
		return nil, err
	}
	ways := map[string]client.TLS{"a stranger": {CA: ca.path("ca.pem")}}
	err = ca.server()
	for _, name := range []string{"calm", "a principal"} {
		err = errors.Join(err, ca.client(name, &url.URL{Scheme: "spiffe", Host: "bench", Path: "/" + name}))
		ways[name] = client.TLS{CA: ca.path("ca.pem"), Certificate: ca.path(name + ".pem"), Key: ca.path(name + ".key")}
	}
	ports, portsErr := freePorts(4)
	if err := errors.Join(err, portsErr); err != nil {
		return nil, err
	}
	calm := ways["calm"]
	calmConfig, err := config(calm)
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, port := range ports {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	host, err := f.Toolhost(ctx, House{Settings: fmt.Sprintf(exposed, ports[0], folder, os.Getuid()) + fmt.Sprintf(ofToolhost, ports[1], ports[2], folder)})
	if err != nil {
		return nil, err
	}
	agent, err := f.Agentd(ctx, host, Story{}, "", fmt.Sprintf(exposed, ports[3], folder, os.Getuid()))
	if err != nil {
		return nil, err
	}
	for _, address := range addresses { // the servers may listen there later than at their sockets
		if err := await(ctx, "tcp", address, nil); err != nil {
			return nil, err
		}
	}
	as := func(address, path string, body []byte, protocol string) map[string]Target {
		all := map[string]Target{}
		for _, who := range []string{"a stranger", "a principal"} {
			all[who] = Target{Address: address, TLS: new(ways[who]), Protocol: protocol, Path: path, Body: body}
		}
		return all
	}
	call, err := message(&toolhostv1.CallRequest{Tool: "echo", Arguments: work.Arguments(1_000_000), Options: &toolhostv1.CallOptions{MaxShownBytes: proto.Uint64(shown)}})
	if err != nil {
		return nil, err
	}
	list, err := message(&agentdv1.ListRunsRequest{})
	if err != nil {
		return nil, err
	}
	overMCP := fmt.Appendf(nil, mcpCall, work.Arguments(1_000_000))
	return []Exposed{
		{"toolhost", host.pids, false, as(addresses[0], toolhostv1.ToolService_Call_FullMethodName, call, "h2"), echoes(f, addresses[0], calm)},
		{"agentd", agent.pids, false, as(addresses[3], agentdv1.AgentService_ListRuns_FullMethodName, list, "h2"), listRuns(f, addresses[3], calm)},
		{"MCP", host.pids, true, as(addresses[1], "/mcp", overMCP, "http/1.1"), request(calmConfig, "https://"+addresses[1]+"/mcp", fmt.Sprintf(mcpCall, work.Arguments(work.Small)))},
		{"MCP, HTTP/2", host.pids, false, as(addresses[1], "/mcp", overMCP, "h2"), request(calmConfig, "https://"+addresses[1]+"/mcp", fmt.Sprintf(mcpCall, work.Arguments(work.Small)))},
		{"telemetry", host.pids, true, map[string]Target{"a stranger": {Address: addresses[2], Path: "/metrics"}}, echoes(f, addresses[0], calm)},
	}, nil
}

// message returns a message as gRPC sends it.
func message(m proto.Message) ([]byte, error) {
	data, err := proto.Marshal(m)
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(data))), data...), err
}

func echoes(f *Field, address string, with client.TLS) func(context.Context, bool) error {
	return overConnections(f, func() (*client.Client, error) {
		return client.Dial(address, client.IgnoreEnvironment(), client.WithTLS(with))
	},
		func(ctx context.Context, c *client.Client) error {
			_, err := c.Call(ctx, tool.Call{Tool: "echo", Arguments: work.Arguments(work.Small)})
			return err
		})
}

func listRuns(f *Field, address string, with client.TLS) func(context.Context, bool) error {
	return overConnections(f, func() (*client.AgentClient, error) {
		return client.DialAgent(address, client.IgnoreEnvironment(), client.WithTLS(with))
	}, func(ctx context.Context, c *client.AgentClient) error {
		for _, err := range c.ListRuns(ctx, client.RunFilter{}) {
			return err
		}
		return nil
	})
}

// overConnections returns a function that makes a call over one connection or over a fresh one.
func overConnections[C io.Closer](f *Field, dial func() (C, error), call func(context.Context, C) error) func(context.Context, bool) error {
	var kept *C
	return func(ctx context.Context, fresh bool) error {
		if !fresh && kept != nil {
			return call(ctx, *kept)
		}
		c, err := dial()
		if err != nil {
			return err
		}
		if !fresh {
			kept = &c
			f.owns(c.Close)
			return call(ctx, c)
		}
		return errors.Join(call(ctx, c), c.Close())
	}
}

// request returns a function that posts a body.
func request(with *tls.Config, address, body string) func(context.Context, bool) error {
	kept := &http.Client{Transport: &http.Transport{TLSClientConfig: with}}
	return func(ctx context.Context, fresh bool) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewBufferString(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		c := kept
		if fresh {
			c = &http.Client{Transport: &http.Transport{TLSClientConfig: with, DisableKeepAlives: true}}
		}
		response, err := c.Do(r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %.200s", response.Status, answer)
		}
		return err
	}
}

package serve

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/jsonapi"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcphttp"
)

// servers are the servers of one host: that for gRPC, and those for MCP clients, for JSON over
// HTTP and for other toolhosts if listeners are for them.
type servers struct {
	s     servedHost
	grpc  *hostserver.Server
	nodes *hostserver.Server // for other toolhosts; nil: there is none
	mcp   *mcphttp.Front     // nil: there is none
	json  *jsonapi.Server    // nil: there is none
}

// newMCP returns the server for MCP clients.
func newMCP(options *Options, host hostserver.Host, s servedHost, admission *gate.Gate, memory *budget.Budget) *mcphttp.Front {
	issuers := make([]string, 0, len(options.Auth.Issuers))
	for _, issuer := range options.Auth.Issuers {
		issuers = append(issuers, issuer.Issuer)
	}
	return mcphttp.New(mcphttp.Config{
		Host: host, Gate: admission, Refuse: s.refuse, Budget: memory, Limits: options.Network.Limits(), Hosts: options.MCP.Hosts, Origins: options.MCP.Origins,
		Issuers: issuers, Search: options.MCP.Search, Visible: cli.Visible, Logger: s.logger,
	})
}

// serve serves until ctx ends. Then it waits up to shutdownGrace for the calls in progress, and
// ends those that are left. The callers have outcomeGrace to receive the outcomes of those calls.
func (v servers) serve(ctx context.Context, ready func()) error {
	served, wait := v.s.listeners.Serve(v.accept) // ends with shutdown
	ready()
	unwatch := v.s.host.service.Watch(v.grpc.Serve, v.s.host.status)
	select {
	case <-ctx.Done():
		v.s.host.service.Stopping("calls in progress may end")
		v.s.logger.Info("toolhost stops", "calls", callsRunning(v.s.host.Host), "grace", shutdownGrace)
	case <-served:
	}
	unwatch()
	v.s.host.StopHolding() // a person may take longer than calls have to end
	// the owner of the host also closes the host, and waits until it is closed
	overdue := time.AfterFunc(shutdownGrace, func() { _ = v.s.host.Close() })
	defer overdue.Stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace+outcomeGrace)
	defer cancel()
	v.shutdown(grace)
	return wait()
}

// accept serves one listener.
func (v servers) accept(l net.Listener) error {
	of, ok := l.(*listen.Listener)
	switch {
	case ok && of.Nodes():
		return v.nodes.Serve(l)
	case ok && of.JSON():
		return v.json.Serve(l)
	case ok && of.Web():
		return v.mcp.Serve(l)
	}
	return v.grpc.Serve(l)
}

// shutdown stops the servers at the same time. Only callers that do not read lose their outcomes.
func (v servers) shutdown(grace context.Context) {
	var stopping sync.WaitGroup
	defer stopping.Wait()
	if v.mcp != nil {
		stopping.Go(func() { _ = v.mcp.Shutdown(grace) })
	}
	if v.json != nil {
		stopping.Go(func() { _ = v.json.Shutdown(grace) })
	}
	if v.nodes != nil {
		stopping.Go(func() { _ = v.nodes.Shutdown(grace) })
	}
	_ = v.grpc.Shutdown(grace)
}

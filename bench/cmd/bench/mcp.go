package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
	"github.com/toolhost/toolhost/bench/internal/work"
)

// mcpBaseline is the key of the contender that all others of the part mcp are compared with.
const mcpBaseline = "mcp-proxy"

// mcpCallers are the numbers of concurrent callers. They share one session.
var mcpCallers = []int{1, 64}

// mcpWay is a transport of MCP with the contenders that use it.
type mcpWay struct {
	title  string
	starts map[string]func(ctx context.Context, version string) (peer.Contender, error) // by key
}

// mcp measures calls by MCP clients: to an MCP server directly, through the smallest proxy that the
// SDK allows, and through toolhost to an MCP server and to a native plugin. The caller is the SDK's
// client in each case. One hop, which is the direct way, is the floor of all others.
func mcp(ctx context.Context, o options, f *peer.Field, out io.Writer, results *report.Results) error {
	native, err := f.Front(ctx, false)
	if err != nil {
		return err
	}
	behind, err := f.Front(ctx, true)
	if err != nil {
		return err
	}
	type start = func(ctx context.Context, version string) (peer.Contender, error)
	for _, way := range []mcpWay{
		{"HTTP", map[string]start{"mcp-http": f.MCPHTTP, "mcp-proxy": f.MCPProxy, "mcp-behind": behind.HTTP, "mcp-native": native.HTTP}},
		{"stdio", map[string]start{"mcp-stdio": f.MCPStdio, "mcp-proxy": f.MCPStdioProxy, "mcp-behind": behind.Stdio, "mcp-native": native.Stdio}},
	} {
		for _, version := range []string{peer.Sessions, peer.Stateless} {
			title := fmt.Sprintf("MCP %s over %s", version, way.title)
			if !strings.Contains(title, o.mcp) {
				continue
			}
			if err := way.measure(ctx, o, title, version, out, results); err != nil {
				return fmt.Errorf("%s: %w", title, err)
			}
		}
	}
	return nil
}

// measure measures the contenders of a transport with one version of MCP.
func (w mcpWay) measure(ctx context.Context, o options, title, version string, out io.Writer, results *report.Results) error {
	var contenders []peer.Contender
	for _, key := range slices.Sorted(maps.Keys(w.starts)) {
		if o.only != "" && key != mcpBaseline && !slices.Contains(strings.Split(o.only, ","), key) {
			continue
		}
		c, err := w.starts[key](ctx, version)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		contenders = append(contenders, c)
	}
	for _, callers := range mcpCallers {
		fmt.Fprintf(out, "%s, callers at once: %d\n", title, callers)
		table, err := compare(ctx, o, contenders, work.Small, callers)
		if err != nil {
			return err
		}
		table.Title, table.Baseline = title, mcpBaseline
		results.Tables = append(results.Tables, table)
	}
	return nil
}

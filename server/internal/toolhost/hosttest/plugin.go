package hosttest

import (
	"context"
	"slices"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// Plugin is the plugin PluginName, as a handler of the plugin contract. It is safe for concurrent
// use, and several processes may serve it.
type Plugin struct{ tools []Tool }

// NewPlugin returns a plugin with the tools.
func NewPlugin(tools []Tool) *Plugin { return &Plugin{tools} }

func (p *Plugin) tool(name string) Tool {
	return p.tools[slices.IndexFunc(p.tools, func(t Tool) bool { return t.Spec.Name == name })]
}

// Describe implements pluginwire.Handler.
func (p *Plugin) Describe(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
	d := tool.Description{Name: PluginName, Version: PluginVersion, Description: "the suite's tools"}
	for _, t := range p.tools {
		d.Tools = append(d.Tools, t.Spec)
	}
	return d, nil
}

// Call implements pluginwire.Handler.
func (p *Plugin) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	t := p.tool(call.Start().Tool)
	// a call that has ended gets no more events
	emit := func(ev tool.Event) { _ = call.Send(ctx, ev) }
	var seen []byte
	for {
		text, complete, err := call.NextArguments(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		if complete {
			return t.Run(WithAsker(WithArtifacts(ctx, call.ReadArtifact), call.Ask), callOf(call, text), emit)
		}
		seen = append(seen, text...)
		if t.Preview != nil {
			t.Preview(seen, emit)
		}
	}
}

// Settle implements pluginwire.Settler.
func (p *Plugin) Settle(ctx context.Context, call *pluginwire.ServerCall) (tool.Settlement, error) {
	text, _, err := call.NextArguments(ctx)
	if err != nil {
		return tool.Settlement{}, err
	}
	return p.tool(call.Start().Tool).Settle(ctx, callOf(call, text))
}

func callOf(call *pluginwire.ServerCall, arguments []byte) tool.Call {
	start := call.Start()
	return tool.Call{
		ID: start.CallID, Tool: start.Tool, Arguments: arguments, Session: start.Session, Context: start.Values, Timeout: start.Timeout,
	}
}

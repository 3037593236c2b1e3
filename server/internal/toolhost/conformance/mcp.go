package conformance

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// MCPServer is a running MCP server with its session.
type MCPServer interface {
	pluginconn.Conn
	// Printed returns the first lines of standard output that are no messages.
	Printed() []string
	// StderrTail returns the last lines of standard error.
	StderrTail() []string
	// Sandbox returns the sandbox of the process.
	Sandbox() tool.Sandbox
	// End ends the process, and returns when it is gone.
	End(ctx context.Context)
}

// MCPConfig selects how to examine an MCP server.
type MCPConfig struct {
	// Plugin is the name of the plugin.
	Plugin string
	// Isolation is the isolation that the operator chose. It is copied to the report.
	Isolation string
	// Launch starts a process of the server and begins a session. An error means that there is none.
	Launch func(ctx context.Context) (MCPServer, error)
	// Tool is the tool to call, and Arguments are its arguments, a JSON object. Without Tool, no tool
	// is called: what a server says about its tools is not trusted, so each of them may be dangerous.
	Tool      string
	Arguments json.RawMessage
	// Timeout bounds each answer, and StartTimeout each start. 0: 10 s.
	Timeout, StartTimeout time.Duration
}

// mcpDefinitions returns the checks of an MCP server in the order of a report.
func mcpDefinitions() []definition {
	const contract = "the Model Context Protocol, "
	own := []definition{
		{"mcp.session", "begins a session and lists its tools in time", contract + "Lifecycle",
			"answer on standard output, print messages on standard error, and grant with --read, --write, --network or --env what the server needs to start"},
		{"mcp.same", "declares the same tools at each start", contract + "Tools",
			"declare the same tools in the same way: toolhost refuses calls of a tool that differs from its definition that the operator trusts"},
		{"mcp.stdout", "prints nothing but messages on standard output", contract + "Transports, stdio",
			"print messages on standard error"},
		{"mcp.call", "ends the call of the tool that --tool names", contract + "Tools, Calling Tools",
			"answer each request of tools/call; a failure of a tool is a result with isError"},
	}
	return append(own, slices.DeleteFunc(definitions(), func(d definition) bool {
		kept := []string{"describe.tools", "describe.schemas"}
		return !slices.Contains(kept, d.id) && !strings.HasPrefix(d.id, "advice.")
	})...)
}

// VerifyMCP examines an MCP server as Verify examines a native plugin.
func VerifyMCP(ctx context.Context, cfg MCPConfig) (*Report, error) {
	for _, timeout := range []*time.Duration{&cfg.Timeout, &cfg.StartTimeout} {
		if *timeout <= 0 {
			*timeout = defaultTimeout
		}
	}
	x := &mcpExaminer{cfg: cfg, findings: newFindings(), report: &Report{Plugin: cfg.Plugin, Tools: []string{}, Called: []string{}, Isolation: cfg.Isolation}}
	otherwise, err := x.examine(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	x.report.Checks = x.results(mcpDefinitions(), otherwise)
	if x.report.Count(Fail) == 0 {
		x.report.Stderr = nil
	}
	return x.report, nil
}

// mcpExaminer is one examination of an MCP server.
type mcpExaminer struct {
	cfg MCPConfig
	*findings
	report *Report
}

// examine runs all checks. It returns the reason for checks without a result.
func (x *mcpExaminer) examine(ctx context.Context) (otherwise string, err error) {
	first, described := x.start(ctx)
	if first == nil {
		return "it did not come so far: see mcp.session", nil
	}
	defer first.End(context.WithoutCancel(ctx))
	sandbox := first.Sandbox()
	x.report.Version, x.report.Sandbox = described.Version, &sandbox
	for _, spec := range described.Tools {
		x.report.Tools = append(x.report.Tools, spec.Name)
	}
	if x.cfg.Tool != "" && !slices.Contains(x.report.Tools, x.cfg.Tool) {
		return "", tool.Errorf(tool.KindNotFound, "the plugin %q has no tool %q", x.cfg.Plugin, x.cfg.Tool)
	}
	declared := declarations{x.findings, described}
	declared.judgeNames("")
	for i := range described.Tools {
		declared.judgeSpec(&described.Tools[i])
	}
	(&adviser{x.findings, described}).advise()
	x.call(ctx, first)
	if second, again := x.start(ctx); second != nil {
		x.compare(described, again)
		x.judgePrinted(second)
		second.End(context.WithoutCancel(ctx))
	}
	x.judgePrinted(first)
	x.report.Stderr = first.StderrTail()
	return "", nil
}

// start starts the server and asks for its description. It returns nil if the server does not
// describe itself.
func (x *mcpExaminer) start(ctx context.Context) (MCPServer, *tool.Description) {
	starting, cancel := context.WithTimeout(ctx, x.cfg.StartTimeout)
	defer cancel()
	server, err := x.cfg.Launch(starting)
	if err != nil {
		x.fail("mcp.session", "", "%s", words(err))
		return nil, nil
	}
	asking, cancel := context.WithTimeout(ctx, x.cfg.Timeout)
	defer cancel()
	described, err := server.Describe(asking, pluginconn.DescribeRequest{})
	if err != nil {
		x.fail("mcp.session", "", "%s", words(err))
		x.report.Stderr = server.StderrTail()
		server.End(context.WithoutCancel(ctx))
		return nil, nil
	}
	x.pass("mcp.session", "")
	return server, &described
}

// compare judges whether two starts declared the same tools.
func (x *mcpExaminer) compare(first, second *tool.Description) {
	x.pass("mcp.same", "")
	byName := map[string]string{}
	for _, spec := range first.Tools {
		byName[spec.Name] = definitionOf(spec)
	}
	for _, spec := range second.Tools {
		before, known := byName[spec.Name]
		switch {
		case !known:
			x.fail("mcp.same", spec.Name, "the second start declares this tool, and the first one does not")
		case before != definitionOf(spec):
			x.fail("mcp.same", spec.Name, "the second start declares this tool in another way")
		}
		delete(byName, spec.Name)
	}
	for name := range byName {
		x.fail("mcp.same", name, "the first start declares this tool, and the second one does not")
	}
}

// definitionOf returns what a tool declares, in a form that can be compared.
func definitionOf(spec tool.Spec) string {
	text, _ := json.Marshal(spec) // a Spec of a connection has valid JSON
	return string(text)
}

func (x *mcpExaminer) judgePrinted(server MCPServer) {
	x.pass("mcp.stdout", "")
	if lines := server.Printed(); len(lines) > 0 {
		x.fail("mcp.stdout", "", "a line on standard output is %s, which is no message", quote(lines[0]))
	}
}

// call calls the tool that the configuration names.
func (x *mcpExaminer) call(ctx context.Context, server MCPServer) {
	if x.cfg.Tool == "" {
		x.skip("mcp.call", "a tool of an MCP server is called only if --tool names it")
		return
	}
	arguments := x.cfg.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	calling, cancel := context.WithTimeout(ctx, x.cfg.Timeout)
	defer cancel()
	call, err := server.Start(calling, pluginconn.Start{Tool: x.cfg.Tool, CallID: "verify", Arguments: arguments, Complete: true, Timeout: x.cfg.Timeout})
	if err != nil {
		x.fail("mcp.call", x.cfg.Tool, "%s", words(err))
		return
	}
	defer call.Close()
	x.report.Called = []string{x.cfg.Tool}
	for {
		event, err := call.Next(calling)
		switch {
		case err != nil:
			x.fail("mcp.call", x.cfg.Tool, "%s", words(err))
			return
		case event.Ended != nil && event.Ended.Err != nil:
			x.fail("mcp.call", x.cfg.Tool, "%s", words(event.Ended.Err))
			return
		case event.Ended != nil:
			x.pass("mcp.call", "")
			return
		}
	}
}

package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/conformance"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// fakeServer is an MCP server that has one tool.
type fakeServer struct {
	pluginconn.Conn
	description string
	printed     []string
	outcome     tool.Outcome
	ended       *int
}

func (f *fakeServer) Describe(context.Context, pluginconn.DescribeRequest) (tool.Description, error) {
	if f.description == "" {
		return tool.Description{}, errors.New("it is silent")
	}
	return tool.Description{Name: "fake", Version: "1", Tools: []tool.Spec{{
		Name: "act", Description: f.description, InputSchema: json.RawMessage(`{"type":"object"}`),
	}}}, nil
}

func (f *fakeServer) Start(context.Context, pluginconn.Start) (pluginconn.Call, error) {
	return &fakeCall{outcome: f.outcome}, nil
}
func (f *fakeServer) Printed() []string     { return f.printed }
func (f *fakeServer) StderrTail() []string  { return []string{"the last line"} }
func (f *fakeServer) Sandbox() tool.Sandbox { return tool.Sandbox{} }
func (f *fakeServer) End(context.Context)   { *f.ended++ }

type fakeCall struct {
	pluginconn.Call
	outcome tool.Outcome
}

func (c *fakeCall) Next(context.Context) (tool.Event, error) {
	return tool.Event{Ended: &c.outcome}, nil
}
func (c *fakeCall) Close() {}

// TestMCPChecks shows that each check of MCP servers finds something, and ends each process that it
// started.
func TestMCPChecks(t *testing.T) {
	good := fakeServer{description: "Do what the arguments say, and return nothing."}
	changed, printing, failing, silent := good, good, good, fakeServer{}
	changed.description += " Really."
	printing.printed = []string{"hello"}
	failing.outcome.Err = tool.Errorf(tool.KindInternal, "out of order")
	for name, c := range map[string]struct {
		starts []fakeServer // nil: it does not start
		fails  []string
	}{
		"good":     {[]fakeServer{good, good}, nil},
		"absent":   {nil, []string{"mcp.session"}},
		"silent":   {[]fakeServer{silent}, []string{"mcp.session"}},
		"changed":  {[]fakeServer{good, changed}, []string{"mcp.same"}},
		"printing": {[]fakeServer{good, printing}, []string{"mcp.stdout"}},
		"failing":  {[]fakeServer{failing, good}, []string{"mcp.call"}},
	} {
		started, ended := 0, 0
		report, err := conformance.VerifyMCP(t.Context(), conformance.MCPConfig{Plugin: "fake", Tool: "act", Launch: func(context.Context) (conformance.MCPServer, error) {
			if len(c.starts) == 0 {
				return nil, errors.New("no such program")
			}
			server := c.starts[started]
			server.ended = &ended
			started++
			return &server, nil
		}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var fails []string
		for _, check := range report.Checks {
			if check.Status == conformance.Fail {
				fails = append(fails, check.ID)
			}
		}
		if !slices.Equal(fails, c.fails) || started != ended {
			t.Errorf("%s: %q fail, want %q; %d starts, %d ends", name, fails, c.fails, started, ended)
		}
	}
	_, err := conformance.VerifyMCP(t.Context(), conformance.MCPConfig{Tool: "none", Launch: func(context.Context) (conformance.MCPServer, error) {
		server := good
		server.ended = new(int)
		return &server, nil
	}})
	if err == nil || !strings.Contains(err.Error(), "no tool") {
		t.Errorf("a tool that does not exist: %v", err)
	}
}

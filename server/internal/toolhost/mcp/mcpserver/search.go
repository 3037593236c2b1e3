package mcpserver

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// The tools that the server offers instead of all others; see Config.Search.
const (
	findTools = "find_tools"
	callTool  = "call_tool"
)

// The numbers of tools that find_tools returns.
const (
	defaultFound = 10
	mostFound    = 50
)

var (
	findSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"query":{"type":"string","description":"Words that describe what the tool should do"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":50,"default":10,"description":"The most tools to return"}},` +
		`"required":["query"],"additionalProperties":false}`)
	callSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"name":{"type":"string","description":"The name of the tool, from find_tools"},` +
		`"arguments":{"type":"object","description":"The arguments, which have to fit the inputSchema of the tool"}},` +
		`"required":["name"],"additionalProperties":false}`)
)

// offerSearch adds the two tools.
func (s *Server) offerSearch() {
	s.mcp.AddTool(&mcp.Tool{
		Name: findTools, Title: "Find tools", Description: "Find tools by words. Returns their names, descriptions and schemas, the best match first.",
		InputSchema: findSchema, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)},
	}, s.find)
	s.mcp.AddTool(&mcp.Tool{
		Name: callTool, Title: "Call a tool", Description: "Call a tool by the name that " + findTools + " returned.", InputSchema: callSchema,
	}, s.callNamed)
}

// find handles a call of find_tools.
func (s *Server) find(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	in := struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}{Limit: defaultFound}
	if problem := read(req.Params.Arguments, &in); problem != nil {
		return problem, nil
	}
	query := s.choice()
	query.MaxTools = max(1, min(in.Limit, mostFound))
	matches, err := s.config.Tools.SearchTools(ctx, in.Query, query)
	if err != nil {
		e := tool.AsError(err)
		return failure(e, e.Error()), nil
	}
	found := struct {
		Tools []*mcp.Tool `json:"tools"`
	}{[]*mcp.Tool{}}
	for _, m := range matches {
		if m.UnavailableReason != "" {
			continue
		}
		if d, err := definitionOf(m.Info); err == nil {
			found.Tools = append(found.Tools, d)
		}
	}
	text, err := json.Marshal(found)
	if err != nil {
		return nil, requestError(err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text)}, nil
}

// callNamed handles a call of call_tool: a call of the tool that it names.
func (s *Server) callNamed(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if problem := read(req.Params.Arguments, &in); problem != nil {
		return problem, nil
	}
	if err := s.chosen(ctx, in.Name); err != nil {
		return nil, requestError(err)
	}
	inner, params := *req, *req.Params
	params.Name, params.Arguments = in.Name, in.Arguments
	inner.Params = &params
	return s.call(ctx, &inner, false)
}

// chosen returns nil if the server's choice has a tool.
func (s *Server) chosen(ctx context.Context, name string) error {
	if reflect.DeepEqual(s.config.Choice, tool.Query{}) {
		return nil
	}
	query := s.choice()
	if len(query.Names) == 0 || slices.Contains(query.Names, name) {
		query.Names = []string{name}
		infos, err := s.config.Tools.ListTools(ctx, query)
		if err != nil || len(infos) > 0 {
			return err
		}
	}
	return tool.Errorf(tool.KindNotFound, "there is no tool %q here; "+findTools+" finds those that there are", name)
}

// read reads the arguments of find_tools or call_tool. The result is not nil if they do not fit.
func read(arguments json.RawMessage, into any) *mcp.CallToolResult {
	err := json.Unmarshal(arguments, into)
	if err == nil {
		return nil
	}
	e := tool.Errorf(tool.KindInvalidArgument, "the arguments do not fit the schema: %w", err)
	return failure(e, e.Error())
}

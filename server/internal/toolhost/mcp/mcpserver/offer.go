package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

// refresh makes the server offer the tools that the principal may call now. The SDK notifies the
// clients if a tool has changed.
func (s *Server) refresh(ctx context.Context) error {
	if s.config.Search {
		return nil // the two tools do not change
	}
	s.offering.refreshing.Lock()
	defer s.offering.refreshing.Unlock()
	infos, revision, err := s.list(ctx)
	if err != nil || revision != "" && revision == s.offering.revision {
		return err
	}
	listed := make(map[string]bool, len(infos))
	for _, info := range infos {
		if info.UnavailableReason != "" {
			continue
		}
		name := info.Spec.Name
		listed[name] = true
		if known, ok := s.offering.tools[name]; ok && reflect.DeepEqual(known, info) {
			continue
		}
		if err := s.offer(info); err != nil {
			s.config.Logger.Warn("a tool is not offered to MCP clients", "tool", name, "plugin", info.Plugin, "error", err)
			s.mcp.RemoveTools(name) // an earlier definition, if there is one
		}
		s.offering.tools[name] = info
	}
	var gone []string
	for name := range s.offering.tools {
		if !listed[name] {
			gone = append(gone, name)
			delete(s.offering.tools, name)
		}
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		s.mcp.RemoveTools(gone...)
	}
	s.offering.revision = revision
	return nil
}

// list returns the tools of the principal and their revision, or only the revision if it is that of
// the offered tools. The revision is empty if the host has none.
func (s *Server) list(ctx context.Context) (infos []tool.Info, revision string, err error) {
	query := s.choice()
	if s.config.ListChangedTools != nil {
		return s.config.ListChangedTools(ctx, query, s.offering.revision)
	}
	infos, err = s.config.Tools.ListTools(ctx, query)
	return infos, "", err
}

// choice returns the query for the tools of this server.
func (s *Server) choice() tool.Query {
	query := s.config.Choice
	query.Session = s.config.Session
	return query
}

// offers reports whether the server has a tool.
func (s *Server) offers(name string) bool {
	if s.config.Search {
		return true // the SDK knows the two tools
	}
	s.offering.refreshing.Lock()
	defer s.offering.refreshing.Unlock()
	_, ok := s.offering.tools[name]
	return ok
}

// offer adds a tool to those of the SDK, or replaces it. The SDK panics if it refuses a schema, and
// a schema is what an author wrote.
func (s *Server) offer(info tool.Info) (err error) {
	definition, err := definitionOf(info)
	if err != nil {
		return err
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the MCP SDK refuses its definition: %v", v)
		}
	}()
	structured := definition.OutputSchema != nil
	s.mcp.AddTool(definition, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.call(ctx, req, structured)
	})
	return nil
}

// definition is a tool as package render renders it. The schemas stay the text of their author.
type definition struct {
	Name         string               `json:"name"`
	Title        string               `json:"title"`
	Description  string               `json:"description"`
	InputSchema  json.RawMessage      `json:"inputSchema"`
	OutputSchema json.RawMessage      `json:"outputSchema"`
	Annotations  *mcp.ToolAnnotations `json:"annotations"`
	Meta         map[string]any       `json:"_meta"`
}

// definitionOf returns a tool for the SDK. Package render has the form for MCP, so that RenderTools
// and this server describe a tool alike.
func definitionOf(info tool.Info) (*mcp.Tool, error) {
	rendered, err := render.Tools(tool.FormatMCP, []tool.Info{info})
	if err != nil {
		return nil, err
	}
	var list struct {
		Tools []definition `json:"tools"`
	}
	if err := json.Unmarshal(rendered.Content, &list); err != nil {
		return nil, fmt.Errorf("reading its rendered form: %w", err)
	}
	d := list.Tools[0]
	t := &mcp.Tool{Name: d.Name, Title: d.Title, Description: d.Description, Annotations: d.Annotations, Meta: d.Meta}
	t.InputSchema = withExamples(d.InputSchema, info.Spec.InputExamples)
	if len(d.OutputSchema) > 0 {
		t.OutputSchema = d.OutputSchema
	}
	return t, nil
}

// withExamples returns a schema with the examples of a tool in its keyword `examples`, because a
// model gets the schema, but not the metadata of a tool. A schema with the keyword stays as it is.
func withExamples(schema json.RawMessage, examples []tool.InputExample) json.RawMessage {
	var members map[string]json.RawMessage
	if len(examples) == 0 || json.Unmarshal(schema, &members) != nil || members["examples"] != nil {
		return schema
	}
	arguments := make([]json.RawMessage, len(examples))
	for i, e := range examples {
		arguments[i] = e.Arguments
		if len(e.Arguments) == 0 {
			arguments[i] = json.RawMessage("{}")
		}
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return schema
	}
	members["examples"] = text
	if text, err = json.Marshal(members); err != nil {
		return schema
	}
	return text
}

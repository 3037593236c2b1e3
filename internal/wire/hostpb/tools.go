package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromInfo converts a tool.
func FromInfo(i tool.Info) *toolhostv1.Tool {
	return &toolhostv1.Tool{
		Spec:              toolpb.FromSpec(i.Spec),
		Plugin:            valid(i.Plugin),
		PluginVersion:     valid(i.PluginVersion),
		UnavailableReason: valid(i.UnavailableReason),
		Filters:           valids(i.Filters),
	}
}

// ToInfo converts a tool.
func ToInfo(t *toolhostv1.Tool) tool.Info {
	return tool.Info{
		Spec:              toolpb.ToSpec(t.GetSpec()),
		Plugin:            t.GetPlugin(),
		PluginVersion:     t.GetPluginVersion(),
		UnavailableReason: t.GetUnavailableReason(),
		Filters:           t.GetFilters(),
	}
}

// FromViewer returns the request for one tool.
func FromViewer(name string, v tool.Viewer) *toolhostv1.GetToolRequest {
	return &toolhostv1.GetToolRequest{Name: valid(name), Session: valid(v.Session), Context: toolpb.FromValues(v.Context)}
}

// ToViewer converts the viewer of a request, without the principal.
func ToViewer(r *toolhostv1.GetToolRequest) tool.Viewer {
	return tool.Viewer{Session: r.GetSession(), Context: toolpb.ToValues(r.GetContext())}
}

// FromQuery returns the request for the first page of a selection.
func FromQuery(q tool.Query) *toolhostv1.ListToolsRequest {
	return &toolhostv1.ListToolsRequest{Selection: FromSelection(q)}
}

// FromSelection converts a selection of tools.
func FromSelection(q tool.Query) *toolhostv1.ToolSelection {
	return &toolhostv1.ToolSelection{
		Names:         valids(q.Names),
		Categories:    valids(q.Categories),
		Tags:          valids(q.Tags),
		Plugins:       valids(q.Plugins),
		Excluded:      valids(q.Excluded),
		Dangerous:     q.Dangerous,
		MaxCostPerUse: q.MaxCostPerUse,
		MaxTools:      int32Of(q.MaxTools),
		Session:       valid(q.Session),
		Context:       toolpb.FromValues(q.Context),
	}
}

// ToSelection converts a selection of tools. nil selects all.
func ToSelection(s *toolhostv1.ToolSelection) tool.Query {
	if s == nil {
		return tool.Query{}
	}
	return tool.Query{
		Names:         s.GetNames(),
		Categories:    s.GetCategories(),
		Tags:          s.GetTags(),
		Plugins:       s.GetPlugins(),
		Excluded:      s.GetExcluded(),
		Dangerous:     s.Dangerous,
		MaxCostPerUse: s.MaxCostPerUse,
		MaxTools:      int(s.GetMaxTools()),
		Session:       s.GetSession(),
		Context:       toolpb.ToValues(s.GetContext()),
	}
}

// FromMatches converts the matches of a search.
func FromMatches(matches []tool.Match) *toolhostv1.SearchToolsResponse {
	resp := &toolhostv1.SearchToolsResponse{}
	for _, m := range matches {
		resp.Matches = append(resp.Matches, &toolhostv1.ToolMatch{Tool: FromInfo(m.Info), Score: m.Score})
	}
	return resp
}

// ToMatches converts the matches of a search.
func ToMatches(resp *toolhostv1.SearchToolsResponse) []tool.Match {
	matches := []tool.Match{}
	for _, m := range resp.GetMatches() {
		matches = append(matches, tool.Match{Info: ToInfo(m.GetTool()), Score: m.GetScore()})
	}
	return matches
}

var formats = map[tool.Format]toolhostv1.ToolFormat{
	tool.FormatOpenAI:          toolhostv1.ToolFormat_TOOL_FORMAT_OPENAI,
	tool.FormatOpenAIResponses: toolhostv1.ToolFormat_TOOL_FORMAT_OPENAI_RESPONSES,
	tool.FormatAnthropic:       toolhostv1.ToolFormat_TOOL_FORMAT_ANTHROPIC,
	tool.FormatGemini:          toolhostv1.ToolFormat_TOOL_FORMAT_GEMINI,
	tool.FormatMCP:             toolhostv1.ToolFormat_TOOL_FORMAT_MCP,
	tool.FormatMarkdown:        toolhostv1.ToolFormat_TOOL_FORMAT_MARKDOWN,
}

// FromFormat converts a format. An unknown one becomes UNSPECIFIED.
func FromFormat(f tool.Format) toolhostv1.ToolFormat { return formats[f] }

// ToFormat converts a format. An unknown one becomes empty.
func ToFormat(f toolhostv1.ToolFormat) tool.Format {
	for word, number := range formats {
		if number == f {
			return word
		}
	}
	return ""
}

// FromRendered converts rendered tools.
func FromRendered(r tool.Rendered) *toolhostv1.RenderToolsResponse {
	m := &toolhostv1.RenderToolsResponse{Content: r.Content, MediaType: valid(r.MediaType), Tools: valids(r.Tools)}
	for _, o := range r.Omitted {
		m.Omitted = append(m.Omitted, &toolhostv1.OmittedTool{Name: valid(o.Name), Reason: valid(o.Reason)})
	}
	return m
}

// ToRendered converts rendered tools.
func ToRendered(r *toolhostv1.RenderToolsResponse) tool.Rendered {
	rendered := tool.Rendered{Content: r.GetContent(), MediaType: r.GetMediaType(), Tools: r.GetTools()}
	for _, o := range r.GetOmitted() {
		rendered.Omitted = append(rendered.Omitted, tool.OmittedTool{Name: o.GetName(), Reason: o.GetReason()})
	}
	return rendered
}

// Package render converts tools to the forms in which models receive them: the JSON of four model
// APIs and of the Model Context Protocol, and Markdown for a prompt.
//
// It owns the form and the restrictions of each API. An API that refuses one tool refuses the whole
// request, so that the result must always be acceptable. The package does not select tools. All
// functions are pure: equal tools give equal bytes.
//
// Schemas keep the text and order of their authors, without white space. They change only at the
// root, if an API would refuse them, and where a schema is true or false; the tool's description
// then contains what was removed, and the root the properties of removed alternatives. Names need
// no conversion, because every API accepts the names that tool.CheckName accepts.
package render

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolhost/toolhost/tool"
)

const (
	mediaJSON     = "application/json"
	mediaMarkdown = "text/markdown"
)

// form renders tools. It sets Content, Tools and Omitted of the result.
type form func(infos []tool.Info) (tool.Rendered, error)

// Tools renders tools in the order given. Without tools it renders an empty list, and empty text in
// Markdown. It omits a tool that the API refuses in every form; Rendered.Omitted names the tool and
// the reason. Errors: invalid_argument for an unknown format; internal for a schema that is not
// JSON, which a catalog never holds.
func Tools(format tool.Format, infos []tool.Info) (tool.Rendered, error) {
	render, media := form(nil), mediaJSON
	switch format {
	case tool.FormatOpenAI:
		render = chatCompletions
	case tool.FormatOpenAIResponses:
		render = responses
	case tool.FormatAnthropic:
		render = anthropic
	case tool.FormatGemini:
		render = gemini
	case tool.FormatMCP:
		render = mcp
	case tool.FormatMarkdown:
		render, media = markdown, mediaMarkdown
	default:
		return tool.Rendered{}, tool.Errorf(tool.KindInvalidArgument, "there is no tool format %q; use %s, %s, %s, %s, %s or %s", format,
			tool.FormatOpenAI, tool.FormatOpenAIResponses, tool.FormatAnthropic, tool.FormatGemini, tool.FormatMCP, tool.FormatMarkdown)
	}
	rendered, err := render(infos)
	if err != nil {
		return tool.Rendered{}, tool.Errorf(tool.KindInternal, "rendering tools as %s: %w", format, err)
	}
	rendered.MediaType = media
	return rendered, nil
}

// encode returns a value as JSON on one line, without escapes for <, > and &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodeEach renders a JSON array of the definitions that define returns. It omits a tool for which
// define returns an error.
func encodeEach(infos []tool.Info, define func(spec *tool.Spec) (any, error)) (tool.Rendered, error) {
	definitions, rendered := []json.RawMessage{}, tool.Rendered{Tools: []string{}}
	for i := range infos {
		spec := &infos[i].Spec
		definition, err := define(spec)
		if err != nil {
			rendered.Omitted = append(rendered.Omitted, tool.OmittedTool{Name: spec.Name, Reason: err.Error()})
			continue
		}
		text, err := encode(definition)
		if err != nil {
			return tool.Rendered{}, fmt.Errorf("encoding the tool %q: %w", spec.Name, err)
		}
		definitions, rendered.Tools = append(definitions, text), append(rendered.Tools, spec.Name)
	}
	content, err := encode(definitions)
	rendered.Content = content
	return rendered, err
}

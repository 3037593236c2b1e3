// Package render puts tools into the forms in which models are given them: the JSON of three model APIs, of the Model
// Context Protocol, and Markdown for a prompt.
//
// It owns what each form looks like and what each API refuses: an API answers a request with one unfit tool by refusing
// the request, so that what is rendered must always fit. It does not choose tools, and knows no catalogue. All functions
// are pure; equal tools give equal bytes.
//
// Schemas are handed on as their authors wrote them, in their order, without white space. They are changed only at the
// top, where an API would refuse them; what had to go is told to the model in the tool's description.
//
// Names need no translation: what tool.CheckName lets through, every API accepts.
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

// form renders tools. It returns the names of those that it rendered: a tool that the form cannot hold is left out.
type form func(infos []tool.Info) (content []byte, names []string, err error)

// Tools renders tools in the order given. No tools are an empty list, in Markdown nothing. A tool that an API would
// refuse however it is put is left out; Rendered.Tools says which are in. Errors: invalid_argument for a format that
// there is not; internal for a schema that is not JSON, which no catalogue holds.
func Tools(format tool.Format, infos []tool.Info) (tool.Rendered, error) {
	render, media := form(nil), mediaJSON
	switch format {
	case tool.FormatOpenAI:
		render = chatCompletions
	case tool.FormatOpenAIResponses:
		render = responses
	case tool.FormatAnthropic:
		render = anthropic
	case tool.FormatMCP:
		render = mcp
	case tool.FormatMarkdown:
		render, media = markdown, mediaMarkdown
	default:
		return tool.Rendered{}, tool.Errorf(tool.KindInvalidArgument, "there is no tool format %q; use %s, %s, %s, %s or %s", format,
			tool.FormatOpenAI, tool.FormatOpenAIResponses, tool.FormatAnthropic, tool.FormatMCP, tool.FormatMarkdown)
	}
	content, names, err := render(infos)
	if err != nil {
		return tool.Rendered{}, tool.Errorf(tool.KindInternal, "rendering tools as %s: %w", format, err)
	}
	return tool.Rendered{Content: content, MediaType: media, Tools: names}, nil
}

// encode returns a value as JSON on one line, with <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodeEach returns a JSON array of what one makes of each tool; a tool that it refuses is left out.
func encodeEach(infos []tool.Info, one func(spec *tool.Spec) (definition any, fits bool)) (content []byte, names []string, err error) {
	definitions, names := []json.RawMessage{}, []string{}
	for i := range infos {
		spec := &infos[i].Spec
		definition, fits := one(spec)
		if !fits {
			continue
		}
		text, err := encode(definition)
		if err != nil {
			return nil, nil, fmt.Errorf("encoding the tool %q: %w", spec.Name, err)
		}
		definitions, names = append(definitions, text), append(names, spec.Name)
	}
	content, err = encode(definitions)
	return content, names, err
}

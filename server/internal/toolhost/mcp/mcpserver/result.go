package mcpserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// The keys in _meta of the result of tools/call, besides metaCallID.
const (
	metaPlugin   = "toolhost/plugin"
	metaReplayed = "toolhost/replayed" // the result is that of an earlier request with the same call id
	metaSettled  = "toolhost/settled"  // what the tool said about an earlier execution of the call, a tool.Settlement
	metaMetadata = "toolhost/metadata" // what the tool says about its result
	metaError    = "toolhost/error"    // an errorMeta
)

// errorMeta describes an infrastructure error to programs.
type errorMeta struct {
	Kind         tool.Kind `json:"kind"`
	RetryAfterMS int64     `json:"retryAfterMs,omitempty"`
	CallID       string    `json:"callId,omitempty"`
	Plugin       string    `json:"plugin,omitempty"`
	Decision     string    `json:"decision,omitempty"` // the name with which toolhost holds the call
}

func newErrorMeta(e *tool.Error) errorMeta {
	return errorMeta{Kind: e.Kind, RetryAfterMS: e.RetryAfter.Milliseconds(), CallID: e.CallID, Plugin: e.Plugin, Decision: e.Decision}
}

// failure returns the result for an infrastructure error. The text is for the model, which has to
// decide what it does without the tool.
func failure(e *tool.Error, text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Meta: mcp.Meta{metaError: newErrorMeta(e)}, Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: true,
	}
}

// resultOf returns the result of a tool. structured says that the tool promises structured content.
func resultOf(o *tool.Outcome, structured bool, session string) *mcp.CallToolResult {
	r := &mcp.CallToolResult{IsError: o.Result.IsError, Content: []mcp.Content{}, Meta: mcp.Meta{metaCallID: o.CallID}}
	if o.Plugin != "" {
		r.Meta[metaPlugin] = o.Plugin
	}
	if o.Replayed {
		r.Meta[metaReplayed] = true
	}
	if o.Settled != nil {
		r.Meta[metaSettled] = o.Settled
	}
	if len(o.Result.Metadata) > 0 {
		r.Meta[metaMetadata] = o.Result.Metadata
	}
	for i := range o.Result.Content {
		r.Content = append(r.Content, contentOf(&o.Result.Content[i], session)...)
	}
	r.StructuredContent = structuredIn(o.Result.Content, structured && !r.IsError)
	switch {
	case r.StructuredContent != nil:
	case structured && !r.IsError:
		// A client checks the promise, and would discard a result that breaks it.
		r.IsError = true
		r.Content = lead("The tool promises structured content, and its result has none. What it returned follows.", r.Content)
	case valueIn(r.Content) == nil:
	case len(r.Content) == 1:
		r.StructuredContent = map[string]json.RawMessage{"result": valueIn(r.Content)}
	default:
		r.Content = lead("The result has several parts:", r.Content)
	}
	return r
}

// lead returns content behind a text.
func lead(text string, content []mcp.Content) []mcp.Content {
	return append([]mcp.Content{&mcp.TextContent{Text: text}}, content...)
}

// valueIn returns the JSON of a first text that is no object, such as a number or a list, or nil.
// Gemini CLI takes such a text for the structured content if there is none, and then refuses the
// result, because it is no object:
// https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/tools/mcp-compliance-transport.ts
func valueIn(content []mcp.Content) json.RawMessage {
	if len(content) == 0 {
		return nil
	}
	first, ok := content[0].(*mcp.TextContent)
	if !ok {
		return nil
	}
	text := strings.TrimLeft(first.Text, " \t\r\n")
	if text == "" || text[0] == '{' || !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

// structuredIn returns the object that is the structured content of a result, or nil. All versions
// of MCP accept an object. Claude Code and Codex show the model nothing of a result but its
// structured content. So a result that has more than an object has none, unless the tool promises
// it: it is the first JSON then.
func structuredIn(content []tool.Content, promised bool) any {
	i := slices.IndexFunc(content, func(c tool.Content) bool { return c.Kind == tool.ContentJSON })
	if i < 0 || len(content) > 1 && !promised || !bytes.HasPrefix(bytes.TrimSpace(content[i].JSON), []byte("{")) || !json.Valid(content[i].JSON) {
		return nil
	}
	return content[i].JSON
}

// contentOf returns a block of a result as MCP has it. An artifact becomes the text that a model
// reads and a link to the whole.
func contentOf(c *tool.Content, session string) []mcp.Content {
	switch c.Kind {
	case tool.ContentText:
		if c.URI != "" {
			return []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: c.URI, MIMEType: c.MediaType, Text: c.Text}}}
		}
		return []mcp.Content{&mcp.TextContent{Text: c.Text}}
	case tool.ContentJSON:
		return []mcp.Content{&mcp.TextContent{Text: string(c.JSON)}}
	case tool.ContentImage:
		return []mcp.Content{&mcp.ImageContent{Data: c.Data, MIMEType: c.MediaType}}
	case tool.ContentFile:
		if strings.HasPrefix(c.MediaType, "audio/") {
			return []mcp.Content{&mcp.AudioContent{Data: c.Data, MIMEType: c.MediaType}}
		}
		return []mcp.Content{&mcp.EmbeddedResource{Resource: resourceOf(cmp.Or(c.URI, fileURI(c.Name)), c.MediaType, c.Data)}}
	case tool.ContentArtifact:
		if c.Artifact == nil {
			return nil
		}
		shown := tool.Result{Content: []tool.Content{*c}}
		size := int64(c.Artifact.Size)
		name := c.Artifact.Name
		if name == "" {
			name = c.Artifact.Handle
		}
		return []mcp.Content{
			&mcp.TextContent{Text: shown.Text()},
			&mcp.ResourceLink{URI: artifactURI(c.Artifact.Handle, session, 0), Name: name, MIMEType: c.Artifact.MediaType, Size: &size},
		}
	}
	return nil
}

// resourceOf returns content as text if it is text, and as bytes otherwise.
func resourceOf(uri, mediaType string, data []byte) *mcp.ResourceContents {
	r := &mcp.ResourceContents{URI: uri, MIMEType: mediaType}
	if isText(mediaType) && utf8.Valid(data) {
		r.Text = string(data)
	} else {
		r.Blob = data
	}
	return r
}

func isText(mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, ";")
	return kind == "" || strings.HasPrefix(kind, "text/") || kind == "application/json" || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "xml")
}

// fileURI returns the name of a file in a result as a URI. Nothing can be read at it.
func fileURI(name string) string { return "toolhost://file/" + url.PathEscape(name) }

package mcpclient

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

const maxMessage = 2 << 10 // bytes of a server's text in an error or a status

// resultOf returns a result of the server as a result of a tool, and its size in bytes.
func resultOf(res *mcp.CallToolResult) (tool.Result, int, *tool.Error) {
	var structured compactJSON
	if text, ok := res.Meta[metaStructured].(string); ok && res.StructuredContent == nil {
		if json.Unmarshal([]byte(text), &structured) != nil {
			return tool.Result{IsError: res.IsError}, 0, tool.Errorf(tool.KindInternal, "the MCP server broke the protocol: its structured content is no JSON")
		}
	}
	if res.StructuredContent != nil {
		text, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return tool.Result{IsError: res.IsError}, 0, tool.Errorf(tool.KindInternal, "the MCP server broke the protocol: its structured content is no JSON")
		}
		structured = text
	}
	result := assemble(res.IsError, structured, res.Content)
	return result, sizeOf(&result), nil
}

// assemble returns a result of a tool. The structured content, if there is any, comes first. A text
// that only repeats it, for clients that do not know structured content, is left out.
func assemble(failed bool, structured []byte, contents []mcp.Content) tool.Result {
	result := tool.Result{IsError: failed}
	if structured != nil {
		result.Content = append(result.Content, tool.Content{Kind: tool.ContentJSON, JSON: structured})
	}
	for _, content := range contents {
		block, ok := contentOf(content)
		if !ok || block.Kind == tool.ContentText && block.URI == "" && len(result.Content) > 0 && repeats(&result.Content[0], block.Text) {
			continue
		}
		result.Content = append(result.Content, block)
	}
	return result
}

// maxRepeated is the size of a text up to which repeats decodes it. The decoded form of a text can
// take fifty times its size.
const maxRepeated = 256 << 10

// repeats reports whether a text is the JSON of a block. Of a large text it knows only the form in
// which the block was sent, with any white space.
func repeats(structured *tool.Content, text string) bool {
	if structured.Kind != tool.ContentJSON || len(text) < len(structured.JSON)/2 {
		return false
	}
	var compact bytes.Buffer
	compact.Grow(min(len(text), len(structured.JSON)+len(structured.JSON)/8))
	if json.Compact(&compact, []byte(text)) != nil {
		return false
	}
	if bytes.Equal(compact.Bytes(), structured.JSON) {
		return true
	}
	if max(compact.Len(), len(structured.JSON)) > maxRepeated {
		return false
	}
	one, err := canonical(compact.Bytes())
	two, otherErr := canonical(structured.JSON)
	return err == nil && otherErr == nil && bytes.Equal(one, two)
}

// canonical returns a JSON text with its names in order.
func canonical(text []byte) ([]byte, error) {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// contentOf returns a block of the server as a block of a result. ok is false for a block without
// content. A link to a resource becomes text, because only the server can follow it.
func contentOf(content mcp.Content) (block tool.Content, ok bool) {
	switch c := content.(type) {
	case *mcp.TextContent:
		return tool.Text(strings.ToValidUTF8(c.Text, "\uFFFD")), true
	case *mcp.ImageContent:
		return tool.Content{Kind: tool.ContentImage, MediaType: mediaType(c.MIMEType), Data: c.Data}, true
	case *mcp.AudioContent:
		return tool.Content{Kind: tool.ContentFile, MediaType: mediaType(c.MIMEType), Data: c.Data}, true
	case *mcp.ResourceLink:
		text := fmt.Sprintf("[resource link] %s (%s): %s", oneLine(cmp.Or(c.Title, c.Name)), cmp.Or(mediaType(c.MIMEType), "unknown type"), oneLine(c.URI))
		if c.Description != "" {
			text += "\n" + strings.ToValidUTF8(c.Description, "\uFFFD")
		}
		return tool.Text(text), true
	case *mcp.EmbeddedResource:
		return resourceOf(c.Resource)
	default:
		return tool.Content{}, false
	}
}

// resourceOf returns an embedded resource as text, or as a file if it is none.
func resourceOf(r *mcp.ResourceContents) (tool.Content, bool) {
	switch {
	case r == nil:
		return tool.Content{}, false
	case r.Blob != nil:
		return tool.Content{Kind: tool.ContentFile, MediaType: mediaType(r.MIMEType), Name: fileName(r.URI), Data: r.Blob, URI: oneLine(r.URI)}, true
	default:
		return tool.Content{Kind: tool.ContentText, MediaType: mediaType(r.MIMEType), Text: strings.ToValidUTF8(r.Text, "\uFFFD"), URI: oneLine(r.URI)}, true
	}
}

// fileName returns the last part of a URI as a file name without folders; empty if it has none.
func fileName(uri string) string {
	name := path.Base(strings.TrimRight(uri, "/"))
	if name == "." || name == ".." || name == "/" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' || r == ':' }) {
		return ""
	}
	return clip(name, 255)
}

// mediaType returns a media type without what is no part of one.
func mediaType(text string) string {
	if len(text) > 128 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return text
}

// sizeOf returns the size of a result's content in bytes.
func sizeOf(result *tool.Result) int {
	size := 0
	for i := range result.Content {
		c := &result.Content[i]
		size += len(c.Text) + len(c.JSON) + len(c.Data)
	}
	return size
}

// clip returns at most n bytes of a text as valid UTF-8.
func clip(text string, n int) string {
	if len(text) <= n {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// oneLine returns a text as one bounded line.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, clip(text, maxMessage))
}

// logText returns the data of a log message as a line.
func logText(data any) string {
	if text, ok := data.(string); ok {
		return oneLine(text)
	}
	text, err := json.Marshal(data)
	if err != nil {
		return "unreadable data"
	}
	return oneLine(string(text))
}

// readable returns an error of the SDK, or of the transport below it, in words, without the SDK's
// own prefixes.
func readable(err error) error {
	if errors.Is(err, ErrEnded) || errors.Is(err, mcp.ErrConnectionClosed) {
		return ErrEnded
	}
	if typed, ok := errors.AsType[*tool.Error](err); ok { // of a transport over HTTP
		return typed
	}
	if begun, ok := errors.AsType[*begunError](err); ok {
		return begun
	}
	return errors.New(oneLine(err.Error()))
}

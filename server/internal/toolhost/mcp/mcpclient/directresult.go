package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// directResult is the result of a direct request. It is decoded once, from the message itself.
// Structured content stays JSON, and what no result needs is not decoded, because a value can take
// a hundred times the memory of its JSON.
type directResult struct {
	size   int // of the JSON; 0: there is none
	result tool.Result
	err    error
	asks   []byte // the result as JSON for the SDK, if the server asks in it; otherwise nil
}

// UnmarshalJSON implements json.Unmarshaler. It leaves an error in r, so that the rest of the
// message says whose result it is.
func (r *directResult) UnmarshalJSON(text []byte) error {
	*r = directResult{size: len(text)}
	var answer struct {
		ResultType        string         `json:"resultType"`
		IsError           bool           `json:"isError"`
		StructuredContent compactJSON    `json:"structuredContent"`
		Content           []*directBlock `json:"content"`
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil:
		r.err = err
		return nil
	case string(text) == "null":
		r.err = errors.New("the result is null")
		return nil
	case answer.ResultType != "" && answer.ResultType != "complete":
		r.asks = slices.Clone(text)
		return nil
	}
	contents := make([]mcp.Content, 0, len(answer.Content))
	for _, block := range answer.Content {
		content, err := block.content()
		if err != nil {
			r.err = err
			return nil
		}
		contents = append(contents, content)
	}
	r.result = assemble(answer.IsError, answer.StructuredContent, contents)
	return nil
}

// compactJSON is JSON text without white space and of valid UTF-8; nil if it is null.
type compactJSON []byte

// UnmarshalJSON implements json.Unmarshaler.
func (c *compactJSON) UnmarshalJSON(text []byte) error {
	*c = nil
	if string(text) == "null" {
		return nil
	}
	var b bytes.Buffer
	b.Grow(len(text))
	if err := json.Compact(&b, text); err != nil {
		return err
	}
	if *c = b.Bytes(); !utf8.Valid(*c) {
		*c = bytes.ToValidUTF8(*c, []byte("\uFFFD"))
	}
	return nil
}

// directBlock is a block of a result, with what contentOf reads.
type directBlock struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	MIMEType    string `json:"mimeType"`
	Data        []byte `json:"data"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Resource    *struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
		Blob     []byte `json:"blob"`
	} `json:"resource"`
}

// content returns the block as the SDK has it; nil if it is of a kind without content.
func (b *directBlock) content() (mcp.Content, error) {
	if b == nil {
		return nil, errors.New("a block of the content is null")
	}
	switch b.Type {
	case "text":
		return &mcp.TextContent{Text: b.Text}, nil
	case "image":
		return &mcp.ImageContent{MIMEType: b.MIMEType, Data: b.Data}, nil
	case "audio":
		return &mcp.AudioContent{MIMEType: b.MIMEType, Data: b.Data}, nil
	case "resource_link":
		return &mcp.ResourceLink{URI: b.URI, Name: b.Name, Title: b.Title, Description: b.Description, MIMEType: b.MIMEType}, nil
	case "resource":
		e := &mcp.EmbeddedResource{}
		if r := b.Resource; r != nil {
			e.Resource = &mcp.ResourceContents{URI: r.URI, MIMEType: r.MIMEType, Text: r.Text, Blob: r.Blob}
		}
		return e, nil
	case "tool_use", "tool_result": // not of a result
		return nil, nil
	default:
		return nil, fmt.Errorf("a block of the content has the type %q", oneLine(b.Type))
	}
}

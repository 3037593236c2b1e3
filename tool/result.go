package tool

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// Result is the answer of a call to the model. The zero value is an empty success.
type Result struct {
	Content []Content `json:"content"`
	IsError bool      `json:"is_error,omitempty"`
	// changes of the run's context, in the order of calls
	Effects []Effect `json:"effects,omitempty"`
	// the execution time; the host sets it
	Duration time.Duration              `json:"duration,omitempty"`
	Usage    Usage                      `json:"usage,omitzero"`
	Cost     float64                    `json:"cost,omitempty"`
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
}

// Text returns the result as text: its text blocks, JSON blocks as JSON and a line for each other
// block, joined by newlines.
func (r *Result) Text() string {
	parts := make([]string, 0, len(r.Content))
	for i := range r.Content {
		parts = append(parts, r.Content[i].asText())
	}
	return strings.Join(parts, "\n")
}

// TextResult returns a result with one block of text.
func TextResult(text string) Result { return Result{Content: []Content{Text(text)}} }

// ErrorResult returns a result that tells the model why the call failed.
func ErrorResult(text string) Result {
	return Result{Content: []Content{Text(text)}, IsError: true}
}

// Effect is a change of the run's context. A tool returns it, and the agent applies it.
type Effect struct {
	Key       string          `json:"key"`
	Operation EffectOperation `json:"operation,omitempty"` // empty: replace
	Value     json.RawMessage `json:"value"`
}

// EffectOperation says how an effect changes the value of its key.
type EffectOperation string

// The operations of an effect.
const (
	EffectReplace EffectOperation = "replace" // replaces the value
	EffectAppend  EffectOperation = "append"  // adds the value as the last element of the list
	EffectMerge   EffectOperation = "merge"   // applies the value as a JSON merge patch, RFC 7396
)

// Usage counts tokens of a language model.
type Usage struct {
	InputTokens      uint64 `json:"input_tokens,omitempty"`
	OutputTokens     uint64 `json:"output_tokens,omitempty"`
	CacheReadTokens  uint64 `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens uint64 `json:"cache_write_tokens,omitempty"`
}

// Add returns the sum of u and v. A count that exceeds uint64 becomes the largest one: a tool
// reports its usage itself, and must not make the sum smaller.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      plus(u.InputTokens, v.InputTokens),
		OutputTokens:     plus(u.OutputTokens, v.OutputTokens),
		CacheReadTokens:  plus(u.CacheReadTokens, v.CacheReadTokens),
		CacheWriteTokens: plus(u.CacheWriteTokens, v.CacheWriteTokens),
	}
}

// Tokens returns the tokens that a model read and wrote, without those of the cache. A number that
// exceeds uint64 becomes the largest one.
func (u Usage) Tokens() uint64 { return plus(u.InputTokens, u.OutputTokens) }

func plus(a, b uint64) uint64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return math.MaxUint64
}

// ContentKind is the kind of a block of a result.
type ContentKind string

// The kinds of content.
const (
	ContentText     ContentKind = "text"     // Content.Text
	ContentJSON     ContentKind = "json"     // Content.JSON
	ContentImage    ContentKind = "image"    // Content.Data, MediaType, Name
	ContentFile     ContentKind = "file"     // Content.Data, MediaType, Name
	ContentArtifact ContentKind = "artifact" // Content.Artifact
)

// Content is one block of a result. Kind says which of the other fields it uses.
type Content struct {
	Kind      ContentKind     `json:"kind"`
	Text      string          `json:"text,omitempty"`
	JSON      json.RawMessage `json:"json,omitempty"`
	MediaType string          `json:"media_type,omitempty"` // IANA, such as image/png
	Name      string          `json:"name,omitempty"`       // a file name without folders
	Data      []byte          `json:"data,omitempty"`
	Artifact  *Artifact       `json:"artifact,omitempty"`
	// URI names the resource that a text or a file is a copy of, such as one of an MCP server. The
	// server chose it. Empty: none. A text with a URI may have a MediaType.
	URI string `json:"uri,omitempty"`
}

// Artifact is content that a toolhost stores, and of which a model sees only a part.
type Artifact struct {
	Handle    string `json:"handle"`
	MediaType string `json:"media_type,omitempty"`
	Name      string `json:"name,omitempty"` // a file name without folders
	Size      uint64 `json:"size"`           // of the whole, in bytes
	Head      string `json:"head,omitempty"` // the beginning of a text; empty for other media
	Tail      string `json:"tail,omitempty"` // the end of a text
}

// Text returns a block of plain text or Markdown.
func Text(text string) Content { return Content{Kind: ContentText, Text: text} }

// JSON returns a block with one JSON value.
func JSON(value json.RawMessage) Content { return Content{Kind: ContentJSON, JSON: value} }

// Image returns an image. mediaType is its media type, such as image/png.
func Image(mediaType string, data []byte) Content {
	return Content{Kind: ContentImage, MediaType: mediaType, Data: data}
}

// File returns a file. name is a file name without folders.
func File(name, mediaType string, data []byte) Content {
	return Content{Kind: ContentFile, Name: name, MediaType: mediaType, Data: data}
}

func (c *Content) asText() string {
	switch c.Kind {
	case ContentText:
		if c.URI != "" {
			return "[resource] " + c.URI + "\n" + c.Text
		}
		return c.Text
	case ContentJSON:
		return string(c.JSON)
	case ContentArtifact:
		return c.Artifact.asText()
	default:
		name := c.Name
		if name != "" {
			name = " " + name
		}
		return fmt.Sprintf("[%s%s, %s, %d bytes]", c.Kind, name, c.MediaType, len(c.Data))
	}
}

// asText returns the text that a model reads: the shown part, the size of the rest, and what it can
// do with the handle.
func (a *Artifact) asText() string {
	if a == nil {
		return "[artifact]"
	}
	const advice = "A tool that takes the handle of an artifact can be given it, to read the rest or to work with the whole.]"
	shown := uint64(len(a.Head) + len(a.Tail))
	if shown == 0 {
		what := "content"
		for _, word := range []string{a.Name, a.MediaType} {
			if word != "" {
				what += ", " + word
			}
		}
		return fmt.Sprintf("[%s, %d bytes, not shown: it is kept as artifact %s. %s", what, a.Size, a.Handle, advice)
	}
	note := fmt.Sprintf("[Here %d of %d bytes are not shown. The whole is kept as artifact %s. %s", a.Size-min(shown, a.Size), a.Size, a.Handle, advice)
	return line(a.Head) + note + "\n" + a.Tail
}

// line returns s with a newline at its end, unless s is empty.
func line(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

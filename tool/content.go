package tool

import (
	"encoding/json"
	"fmt"
	"strings"
)

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

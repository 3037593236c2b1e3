package tool

import (
	"encoding/json"
	"fmt"
)

// ContentKind is what a block of a result holds.
type ContentKind string

// The kinds of content.
const (
	ContentText     ContentKind = "text"     // Content.Text
	ContentJSON     ContentKind = "json"     // Content.JSON
	ContentImage    ContentKind = "image"    // Content.Data, MediaType, Name
	ContentFile     ContentKind = "file"     // Content.Data, MediaType, Name
	ContentArtifact ContentKind = "artifact" // Content.Artifact
)

// Content is one block of a result. Kind says which fields count.
type Content struct {
	Kind      ContentKind     `json:"kind"`
	Text      string          `json:"text,omitempty"`
	JSON      json.RawMessage `json:"json,omitempty"`
	MediaType string          `json:"media_type,omitempty"` // IANA, such as image/png
	Name      string          `json:"name,omitempty"`       // a file name without folders
	Data      []byte          `json:"data,omitempty"`
	Artifact  *Artifact       `json:"artifact,omitempty"`
}

// Artifact is content that a toolhost keeps and a model sees only in part.
type Artifact struct {
	Handle    string `json:"handle"`
	MediaType string `json:"media_type,omitempty"`
	Size      uint64 `json:"size"` // of the whole, in bytes
	Head      string `json:"head,omitempty"`
	Tail      string `json:"tail,omitempty"`
}

// Text returns a block of plain text or Markdown.
func Text(text string) Content { return Content{Kind: ContentText, Text: text} }

// JSON returns a block that holds one JSON value.
func JSON(value json.RawMessage) Content { return Content{Kind: ContentJSON, JSON: value} }

// Image returns a picture.
func Image(mediaType string, data []byte) Content {
	return Content{Kind: ContentImage, MediaType: mediaType, Data: data}
}

// File returns any other bytes under a file name.
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
		if c.Artifact == nil {
			return "[artifact]"
		}
		return fmt.Sprintf("%s\n[%d bytes in all, artifact %s]\n%s", c.Artifact.Head, c.Artifact.Size, c.Artifact.Handle, c.Artifact.Tail)
	default:
		name := c.Name
		if name != "" {
			name = " " + name
		}
		return fmt.Sprintf("[%s%s, %s, %d bytes]", c.Kind, name, c.MediaType, len(c.Data))
	}
}

package gemini

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// images are the types of images that the API reads. It reads no GIF. texts are the types that
// become parts of text.
var (
	images = []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}
	texts  = []string{"text/*", "application/json", "application/xml", "application/yaml"}
)

// Features implements model.Featured. Models before Gemini 3 refuse a schema together with
// functions.
func (m *Model) Features() model.Features {
	return model.Features{
		Schema: m.generation.signs,
		Attachments: slices.Concat(images, texts, []string{"application/pdf",
			"audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac",
			"video/mp4", "video/mpeg", "video/quicktime", "video/webm"}),
	}
}

// contents translates the conversation. It omits what the API refuses: blank texts and empty
// messages.
func contents(conversation []model.Message, g generation) []*genai.Content {
	var all []*genai.Content
	add := func(role string, parts []*genai.Part) {
		if len(parts) > 0 {
			all = append(all, &genai.Content{Role: role, Parts: parts})
		}
	}
	for _, message := range conversation {
		if message.Role == model.RoleAssistant {
			add(genai.RoleModel, modelParts(message.Blocks, g))
			continue
		}
		results, rest := userParts(message.Blocks, g)
		// The API requires the results directly after the calls that they answer, and counts the
		// parts of that content.
		add(genai.RoleUser, results)
		add(genai.RoleUser, rest)
	}
	return all
}

func modelParts(blocks []model.Block, g generation) []*genai.Part {
	var parts []*genai.Part
	var signature []byte // of the next part
	for _, block := range blocks {
		var part *genai.Part
		switch {
		case block.Opaque != nil:
			kept, next := readKept(block)
			if next {
				signature = kept.ThoughtSignature
				continue
			}
			part = kept
		case block.Text != nil && (strings.TrimSpace(block.Text.Text) != "" || signature != nil):
			part = &genai.Part{Text: block.Text.Text, ThoughtSignature: signature}
		case block.ToolCall != nil:
			part = &genai.Part{FunctionCall: call(block.ToolCall), ThoughtSignature: signature}
		}
		signature = nil
		if part != nil {
			parts = append(parts, part)
		}
	}
	if g.signs {
		signFirstCall(parts)
	}
	return parts
}

func call(from *model.ToolCall) *genai.FunctionCall {
	c := &genai.FunctionCall{ID: from.ID, Name: from.Name}
	_ = json.Unmarshal(from.ArgumentObject(), &c.Args) // it is an object
	return c
}

// userParts returns the results of functions, and everything else that a user message has. Images
// in results are in the results if the model reads them there, and otherwise in the rest.
func userParts(blocks []model.Block, g generation) (results, rest []*genai.Part) {
	for _, block := range blocks {
		switch {
		case block.Text != nil && strings.TrimSpace(block.Text.Text) != "":
			rest = append(rest, &genai.Part{Text: block.Text.Text})
		case block.Attachment != nil:
			rest = append(rest, attachment(block.Attachment)...)
		case block.ToolResult != nil:
			response, pictures := result(block.ToolResult)
			if g.signs {
				for _, p := range pictures {
					response.Parts = append(response.Parts, &genai.FunctionResponsePart{InlineData: &genai.FunctionResponseBlob{MIMEType: p.MIMEType, Data: p.Data}})
				}
			} else {
				rest = append(rest, shown(block.ToolResult, pictures)...)
			}
			results = append(results, &genai.Part{FunctionResponse: response})
		}
	}
	return results, rest
}

// result returns a result without its images, and the images.
func result(from *model.ToolResult) (*genai.FunctionResponse, []*genai.Blob) {
	var pictures []*genai.Blob
	var lines []string
	for _, content := range from.Content {
		if content.Kind == tool.ContentImage && len(content.Data) > 0 && slices.Contains(images, content.MediaType) {
			pictures = append(pictures, &genai.Blob{MIMEType: content.MediaType, Data: content.Data})
			continue
		}
		alone := tool.Result{Content: []tool.Content{content}}
		if text := alone.Text(); strings.TrimSpace(text) != "" {
			lines = append(lines, text)
		}
	}
	key := "output" // the API's name for what a function returned
	if from.IsError {
		key = "error"
	}
	return &genai.FunctionResponse{ID: from.ID, Name: from.Name, Response: map[string]any{key: strings.Join(lines, "\n")}}, pictures
}

// shown returns the images of a result as parts of the user's message.
func shown(from *model.ToolResult, pictures []*genai.Blob) []*genai.Part {
	var parts []*genai.Part
	if len(pictures) > 0 {
		parts = append(parts, &genai.Part{Text: fmt.Sprintf("Images in the result of %s (call %s):", from.Name, from.ID)})
	}
	for _, picture := range pictures {
		parts = append(parts, &genai.Part{InlineData: picture})
	}
	return parts
}

// attachment returns the parts for an attachment: its name if it has one, and its content.
func attachment(from *model.Attachment) []*genai.Part {
	var parts []*genai.Part
	if from.Name != "" {
		parts = append(parts, &genai.Part{Text: fmt.Sprintf("File %s:", from.Name)})
	}
	kind, _, _ := strings.Cut(from.MIMEType, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if strings.HasPrefix(kind, "text/") || slices.Contains(texts, kind) {
		if text := strings.ToValidUTF8(string(from.Data), "\uFFFD"); strings.TrimSpace(text) != "" {
			parts = append(parts, &genai.Part{Text: text})
		}
		return parts
	}
	return append(parts, &genai.Part{InlineData: &genai.Blob{MIMEType: kind, Data: from.Data}})
}

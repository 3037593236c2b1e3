package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

// params translates a request. The error names a setting or an attachment that the API refuses.
func (m *Model) params(req model.Request) (sdk.MessageNewParams, renames, error) {
	if err := m.Features().CheckAttachments(req.Messages); err != nil {
		return sdk.MessageNewParams{}, nil, err
	}
	offered, names := m.tools(req.Tools)
	params := sdk.MessageNewParams{
		Model:     m.name,
		MaxTokens: defaultMaxTokens,
		Messages:  m.conversation(names.told(req.Messages)),
		Tools:     offered,
	}
	if req.MaxTokens > 0 {
		params.MaxTokens = int64(req.MaxTokens)
	}
	if err := m.sample(&params, req.Sampling); err != nil {
		return params, nil, err
	}
	if strings.TrimSpace(req.System) != "" {
		params.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: m.cached()}}
	}
	m.answerIn(&params, req.Schema)
	return params, names, nil
}

// tools omits tools that the API refuses, because one of them would make it refuse the whole
// request. names has the parameters that have other names in the request.
func (m *Model) tools(offered []model.Tool) (params []sdk.ToolUnionParam, names renames) {
	for _, t := range offered {
		d, err := render.ForAnthropic(specOf(t))
		if err != nil {
			continue
		}
		if d.Names != nil {
			if names == nil {
				names = renames{}
			}
			names[t.Name] = d.Names
		}
		// The schema is sent as it is. The SDK's own type would reorder the keys, which would
		// invalidate the prompt cache.
		p := &sdk.ToolParam{Name: d.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](d.Schema)}
		if d.Description != "" {
			p.Description = sdk.String(d.Description)
		}
		// the API refuses a request with any other example
		for _, example := range render.FittingExamples(specOf(t)) {
			if !m.optional.Sends(inputExamples) {
				break
			}
			var arguments map[string]any
			if json.Unmarshal(render.Renamed(example, d.Names), &arguments) == nil {
				p.InputExamples = append(p.InputExamples, arguments)
			}
		}
		params = append(params, sdk.ToolUnionParam{OfTool: p})
	}
	if len(params) > 0 {
		params[len(params)-1].OfTool.CacheControl = m.cached()
	}
	return params, names
}

// conversation omits what the API refuses: blank texts and empty messages.
func (m *Model) conversation(messages []model.Message) []sdk.MessageParam {
	var params []sdk.MessageParam
	for _, message := range messages {
		role := sdk.MessageParamRoleUser
		if message.Role == model.RoleAssistant {
			role = sdk.MessageParamRoleAssistant
		}
		if content := m.blocks(message.Blocks); len(content) > 0 {
			params = append(params, sdk.MessageParam{Role: role, Content: content})
		}
	}
	m.markUsers(params)
	return params
}

// cached returns the mark that requests caching, or none if the server refuses marks.
func (m *Model) cached() (mark sdk.CacheControlEphemeralParam) {
	if m.optional.Sends(cacheControl) {
		mark = sdk.NewCacheControlEphemeralParam()
	}
	return mark
}

// cachedUsers is the number of user messages, counted from the end, that get a cache mark. The mark
// on the last message makes the API write a cache entry that the next request reads. The mark on
// the message before it makes the API read the entry that the previous request wrote. Without the
// second mark, a turn with more than 20 blocks would miss the cache, because the API looks back 20
// blocks. With the tools and the system prompt this makes four marks, which is the API's limit.
const cachedUsers = 2

func (m *Model) markUsers(params []sdk.MessageParam) {
	left := cachedUsers
	for i := len(params) - 1; i >= 0 && left > 0; i-- {
		if params[i].Role == sdk.MessageParamRoleUser {
			m.mark(params[i].Content)
			left--
		}
	}
}

// mark requests caching up to the last block, if blocks of its type can carry the mark.
func (m *Model) mark(content []sdk.ContentBlockParamUnion) {
	last := content[len(content)-1]
	switch {
	case last.OfText != nil:
		last.OfText.CacheControl = m.cached()
	case last.OfToolResult != nil:
		last.OfToolResult.CacheControl = m.cached()
	case last.OfImage != nil:
		last.OfImage.CacheControl = m.cached()
	case last.OfDocument != nil:
		last.OfDocument.CacheControl = m.cached()
	}
}

func (m *Model) blocks(from []model.Block) []sdk.ContentBlockParamUnion {
	var results, content []sdk.ContentBlockParamUnion
	for _, block := range from {
		switch {
		case block.Text != nil && strings.TrimSpace(block.Text.Text) != "":
			content = append(content, sdk.NewTextBlock(block.Text.Text))
		case block.ToolCall != nil:
			call := &sdk.ToolUseBlockParam{ID: block.ToolCall.ID, Name: block.ToolCall.Name, Input: block.ToolCall.ArgumentObject()}
			content = append(content, sdk.ContentBlockParamUnion{OfToolUse: call})
		case block.ToolResult != nil:
			results = append(results, sdk.ContentBlockParamUnion{OfToolResult: result(block.ToolResult)})
		case block.Attachment != nil:
			content = append(content, attachment(block.Attachment))
		case block.Opaque != nil && m.owns(block.Opaque):
			content = append(content, param.Override[sdk.ContentBlockParamUnion](block.Opaque.JSON))
		}
	}
	// The API requires results directly after the calls that they answer, so they come first.
	return slices.Concat(results, content)
}

func result(from *model.ToolResult) *sdk.ToolResultBlockParam {
	p := &sdk.ToolResultBlockParam{ToolUseID: from.ID}
	if from.IsError {
		p.IsError = sdk.Bool(true)
	}
	for _, content := range from.Content {
		if image := imageOf(content); image != nil {
			p.Content = append(p.Content, sdk.ToolResultBlockParamContentUnion{OfImage: image})
			continue
		}
		alone := tool.Result{Content: []tool.Content{content}}
		if text := alone.Text(); strings.TrimSpace(text) != "" {
			p.Content = append(p.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: text}})
		}
	}
	return p
}

// imageOf returns nil for content that the API cannot show to the model. The model receives a line
// of text about it instead.
func imageOf(content tool.Content) *sdk.ImageBlockParam {
	if content.Kind != tool.ContentImage || len(content.Data) == 0 {
		return nil
	}
	mediaType := sdk.Base64ImageSourceMediaType(content.MediaType)
	switch mediaType {
	case sdk.Base64ImageSourceMediaTypeImageJPEG, sdk.Base64ImageSourceMediaTypeImagePNG,
		sdk.Base64ImageSourceMediaTypeImageGIF, sdk.Base64ImageSourceMediaTypeImageWebP:
	default:
		return nil
	}
	return &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{
		Data:      base64.StdEncoding.EncodeToString(content.Data),
		MediaType: mediaType,
	}}}
}

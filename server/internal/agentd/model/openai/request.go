package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/wire"
	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

// longestCallID is OpenAI's limit for the id of a call, in characters.
const longestCallID = 40

func (m *Model) params(req model.Request, as form) sdk.ChatCompletionNewParams {
	params := sdk.ChatCompletionNewParams{
		Model:           m.name,
		Messages:        m.messages(req),
		Tools:           m.tools(req.Tools),
		ReasoningEffort: shared.ReasoningEffort(req.Sampling.Effort),
	}
	if m.optional.Sends(streamOptions) {
		params.StreamOptions = sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)}
	}
	if m.server.Official && m.optional.Sends(cacheKey) {
		params.PromptCacheKey = sdk.String(wire.CacheKey(req))
	}
	if t := req.Sampling.Temperature; t != nil {
		params.Temperature = sdk.Float(*t)
	}
	if p := req.Sampling.TopP; p != nil {
		params.TopP = sdk.Float(*p)
	}
	if len(req.Schema) > 0 && m.server.Official {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Schema: req.Schema, Strict: sdk.Bool(wire.Strict(req.Schema))},
		}
	}
	if req.MaxTokens > 0 {
		if m.limitName(as) == newLimit {
			params.MaxCompletionTokens = sdk.Int(int64(req.MaxTokens))
		} else {
			params.MaxTokens = sdk.Int(int64(req.MaxTokens))
		}
	}
	if as.noReasoning && len(req.Tools) > 0 && req.Sampling.Effort == "" {
		params.ReasoningEffort = shared.ReasoningEffortNone
	}
	return params
}

// tools omits tools that OpenAI refuses, because one of them would make it refuse the whole
// request.
func (m *Model) tools(offered []model.Tool) []sdk.ChatCompletionToolUnionParam {
	longest := 0 // other servers have no such limit
	if m.server.Official {
		longest = render.OpenAIDescription
	}
	var params []sdk.ChatCompletionToolUnionParam
	for _, t := range offered {
		d, err := render.ForOpenAI(specOf(t), longest)
		if err != nil {
			continue
		}
		function := struct {
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			Parameters  json.RawMessage `json:"parameters"`
		}{d.Name, d.Description, d.Schema}
		// The schema is sent as it is. The SDK's own type is a map. A change in the order of keys
		// would invalidate the prompt cache.
		params = append(params, sdk.ChatCompletionFunctionTool(param.Override[shared.FunctionDefinitionParam](function)))
	}
	return params
}

// messages translates a conversation. It omits empty messages and opaque blocks of other providers.
func (m *Model) messages(req model.Request) []sdk.ChatCompletionMessageParamUnion {
	var params []sdk.ChatCompletionMessageParamUnion
	if strings.TrimSpace(req.System) != "" {
		params = append(params, sdk.SystemMessage(req.System))
	}
	all := readAllKept(m.server.Host, req.Messages)
	for i, message := range req.Messages {
		if message.Role == model.RoleAssistant {
			var k kept
			if all != nil {
				k = all[i]
			}
			params = append(params, m.assistant(message.Blocks, k)...)
			continue
		}
		params = append(params, m.user(message.Blocks)...)
	}
	return params
}

// callID returns the id of a call as the server accepts it. Only OpenAI has a limit.
func (m *Model) callID(id string) string {
	if !m.server.Official {
		return id
	}
	return wire.CallID(id, longestCallID)
}

func (m *Model) assistant(blocks []model.Block, k kept) []sdk.ChatCompletionMessageParamUnion {
	message := &sdk.ChatCompletionAssistantMessageParam{}
	var texts []string
	for _, block := range blocks {
		switch {
		case block.Text != nil && block.Text.Text != "":
			texts = append(texts, block.Text.Text)
		case block.ToolCall != nil:
			// Arguments must be an object, because some servers parse them again for their prompt
			// template.
			call := &sdk.ChatCompletionMessageFunctionToolCallParam{ID: m.callID(block.ToolCall.ID)}
			call.Function.Name = block.ToolCall.Name
			call.Function.Arguments = string(block.ToolCall.ArgumentObject())
			message.ToolCalls = append(message.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: call})
		}
	}
	k.giveBack(message)
	if len(texts) > 0 {
		message.Content.OfString = sdk.String(strings.Join(texts, "\n\n"))
	}
	if texts == nil && message.ToolCalls == nil {
		return nil
	}
	return []sdk.ChatCompletionMessageParamUnion{{OfAssistant: message}}
}

// user splits a user message. Each tool result becomes one message, in order. The images in results
// follow in one message, because a tool message cannot have images. The user's text and attachments
// come last.
func (m *Model) user(blocks []model.Block) []sdk.ChatCompletionMessageParamUnion {
	var params []sdk.ChatCompletionMessageParamUnion
	var images, parts []sdk.ChatCompletionContentPartUnionParam
	var texts []string
	for _, block := range blocks {
		switch {
		case block.Text != nil && block.Text.Text != "":
			texts = append(texts, block.Text.Text)
			parts = append(parts, sdk.TextContentPart(block.Text.Text))
		case block.ToolResult != nil:
			params = append(params, sdk.ToolMessage(wire.ResultText(block.ToolResult), m.callID(block.ToolResult.ID)))
			images = append(images, resultImages(block.ToolResult)...)
		case block.Attachment != nil:
			parts = append(parts, attachment(block.Attachment))
		}
	}
	if images != nil {
		params = append(params, sdk.UserMessage(images))
	}
	switch {
	case len(parts) > len(texts):
		params = append(params, sdk.UserMessage(parts))
	case texts != nil:
		params = append(params, sdk.UserMessage(strings.Join(texts, "\n\n")))
	}
	return params
}

// attachment translates an attachment of one of the types in Features.
func attachment(a *model.Attachment) sdk.ChatCompletionContentPartUnionParam {
	switch {
	case wire.IsImage(a.MIMEType):
		return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: wire.DataURL(a.MIMEType, a.Data)})
	case wire.IsPDF(a.MIMEType):
		return sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{
			Filename: sdk.String(wire.FileName(a)), FileData: sdk.String(wire.DataURL(a.MIMEType, a.Data)),
		})
	}
	return sdk.TextContentPart(wire.TextFile(a))
}

func resultImages(from *model.ToolResult) []sdk.ChatCompletionContentPartUnionParam {
	var parts []sdk.ChatCompletionContentPartUnionParam
	for _, content := range from.Content {
		if content.Kind != tool.ContentImage || len(content.Data) == 0 || !wire.IsImage(content.MediaType) {
			continue
		}
		data := wire.DataURL(content.MediaType, content.Data)
		parts = append(parts,
			sdk.TextContentPart(fmt.Sprintf("An image from the result of call %s:", from.ID)),
			sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: data}),
		)
	}
	return parts
}

package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/render"
	"github.com/toolhost/toolhost/tool"
)

func (m *Model) params(req model.Request, noReasoning bool) sdk.ChatCompletionNewParams {
	params := sdk.ChatCompletionNewParams{
		Model:         m.name,
		Messages:      messages(req),
		Tools:         m.tools(req.Tools),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	if req.MaxTokens > 0 {
		if m.newLimit {
			params.MaxCompletionTokens = sdk.Int(int64(req.MaxTokens))
		} else {
			params.MaxTokens = sdk.Int(int64(req.MaxTokens))
		}
	}
	if noReasoning && len(req.Tools) > 0 {
		params.ReasoningEffort = shared.ReasoningEffortNone
	}
	return params
}

// tools omits tools that OpenAI refuses, because one of them would make it refuse the whole
// request.
func (m *Model) tools(offered []model.Tool) []sdk.ChatCompletionToolUnionParam {
	longest := 0 // other servers have no such limit
	if m.newLimit {
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
func messages(req model.Request) []sdk.ChatCompletionMessageParamUnion {
	var params []sdk.ChatCompletionMessageParamUnion
	if strings.TrimSpace(req.System) != "" {
		params = append(params, sdk.SystemMessage(req.System))
	}
	for _, message := range req.Messages {
		if message.Role == model.RoleAssistant {
			params = append(params, assistant(message.Blocks)...)
		} else {
			params = append(params, user(message.Blocks)...)
		}
	}
	return params
}

func assistant(blocks []model.Block) []sdk.ChatCompletionMessageParamUnion {
	message := &sdk.ChatCompletionAssistantMessageParam{}
	var said []string
	for _, block := range blocks {
		switch {
		case block.Text != nil && block.Text.Text != "":
			said = append(said, block.Text.Text)
		case block.ToolCall != nil:
			// Arguments must be an object, because some servers parse them again for their prompt
			// template.
			call := &sdk.ChatCompletionMessageFunctionToolCallParam{ID: block.ToolCall.ID}
			call.Function.Name = block.ToolCall.Name
			call.Function.Arguments = string(block.ToolCall.ArgumentObject())
			message.ToolCalls = append(message.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: call})
		}
	}
	if len(message.ToolCalls) > 0 {
		k := readKept(blocks)
		k.giveBack(message)
	}
	if len(said) > 0 {
		message.Content.OfString = sdk.String(strings.Join(said, "\n\n"))
	}
	if said == nil && message.ToolCalls == nil {
		return nil
	}
	return []sdk.ChatCompletionMessageParamUnion{{OfAssistant: message}}
}

// user splits a user message. Each tool result becomes one message, in order. The images in results
// follow in one message, because a tool message cannot have images. The user's text comes last.
func user(blocks []model.Block) []sdk.ChatCompletionMessageParamUnion {
	var params []sdk.ChatCompletionMessageParamUnion
	var images []sdk.ChatCompletionContentPartUnionParam
	var said []string
	for _, block := range blocks {
		switch {
		case block.Text != nil && block.Text.Text != "":
			said = append(said, block.Text.Text)
		case block.ToolResult != nil:
			params = append(params, sdk.ToolMessage(resultText(block.ToolResult), block.ToolResult.ID))
			images = append(images, resultImages(block.ToolResult)...)
		}
	}
	if images != nil {
		params = append(params, sdk.UserMessage(images))
	}
	if said != nil {
		params = append(params, sdk.UserMessage(strings.Join(said, "\n\n")))
	}
	return params
}

// resultText marks an error in its text, because the API has no field for it.
func resultText(from *model.ToolResult) string {
	result := tool.Result{Content: from.Content}
	text := result.Text()
	if from.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
		return "Error: " + text
	}
	return text
}

func resultImages(from *model.ToolResult) []sdk.ChatCompletionContentPartUnionParam {
	var parts []sdk.ChatCompletionContentPartUnionParam
	for _, content := range from.Content {
		if content.Kind != tool.ContentImage || len(content.Data) == 0 {
			continue
		}
		switch content.MediaType {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
		default:
			continue
		}
		data := "data:" + content.MediaType + ";base64," + base64.StdEncoding.EncodeToString(content.Data)
		parts = append(parts,
			sdk.TextContentPart(fmt.Sprintf("An image from the result of call %s:", from.ID)),
			sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: data}),
		)
	}
	return parts
}

package responses

import (
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	api "github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/wire"
	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

// The limits of the API.
const (
	longestCallID = 64 // characters
	fewestTokens  = 16 // the API refuses a smaller limit of a response
	mostTools     = 128
)

func (m *Model) params(req model.Request) api.ResponseNewParams {
	params := api.ResponseNewParams{
		Model:     m.name,
		Input:     api.ResponseNewParamsInputUnion{OfInputItemList: m.input(req.Messages)},
		Tools:     m.tools(req.Tools),
		Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffort(req.Sampling.Effort)},
	}
	if m.server.Official || m.optional.Sends(store) {
		params.Store = sdk.Bool(false) // the agent keeps the conversation, and the server needs no copy
	}
	if m.optional.Sends(encrypted) {
		params.Include = []api.ResponseIncludable{api.ResponseIncludableReasoningEncryptedContent}
	}
	if m.optional.Sends(summary) {
		params.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
	if strings.TrimSpace(req.System) != "" {
		params.Instructions = sdk.String(req.System)
	}
	if req.MaxTokens > 0 {
		params.MaxOutputTokens = sdk.Int(int64(max(req.MaxTokens, fewestTokens)))
	}
	if t := req.Sampling.Temperature; t != nil {
		params.Temperature = sdk.Float(*t)
	}
	if p := req.Sampling.TopP; p != nil {
		params.TopP = sdk.Float(*p)
	}
	if m.server.Official && m.optional.Sends(cacheKey) {
		params.PromptCacheKey = sdk.String(wire.CacheKey(req))
	}
	if len(req.Schema) > 0 {
		// The SDK's type has a map, which changes the order of keys. The model writes in that order.
		format := param.Override[api.ResponseFormatTextJSONSchemaConfigParam](struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
			Strict bool            `json:"strict"`
		}{"json_schema", "answer", req.Schema, wire.Strict(req.Schema)})
		params.Text.Format.OfJSONSchema = &format
	}
	return params
}

// tools omits tools that the API refuses, because one of them would make it refuse the whole
// request. A function is strict unless it says otherwise, and the schemas of tools are rarely in
// the part of JSON Schema that a strict function may use.
func (m *Model) tools(offered []model.Tool) []api.ToolUnionParam {
	longest := 0 // other servers have no such limit
	if m.server.Official {
		longest = render.OpenAIDescription
	}
	var params []api.ToolUnionParam
	for _, t := range offered {
		d, err := render.ForOpenAI(specOf(t), longest)
		if err != nil {
			continue
		}
		function := param.Override[api.FunctionToolParam](struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			Parameters  json.RawMessage `json:"parameters"`
			Strict      bool            `json:"strict"`
		}{"function", d.Name, d.Description, d.Schema, false})
		params = append(params, api.ToolUnionParam{OfFunction: &function})
	}
	return params
}

// input translates a conversation. It omits empty messages and opaque blocks of other providers.
func (m *Model) input(messages []model.Message) api.ResponseInputParam {
	input := api.ResponseInputParam{} // not nil: the API requires a list
	for _, message := range messages {
		if message.Role == model.RoleAssistant {
			input = append(input, m.assistant(message.Blocks)...)
			continue
		}
		input = append(input, user(message.Blocks)...)
	}
	return input
}

// assistant translates a response. Reasoning must precede the text or the call that it led to, so
// reasoning at the end of a response that was cut is left out. Texts and calls have no ids of the
// server, so that the server does not look for their reasoning.
func (m *Model) assistant(blocks []model.Block) []api.ResponseInputItemUnionParam {
	var items, reasoning []api.ResponseInputItemUnionParam
	var phase string
	for _, block := range blocks {
		switch k := readKept(block); {
		case k.Type == keptMessage:
			phase = k.Phase
		case k.Type == keptReasoning:
			if m.thoughts.sends(k.ID) {
				item := param.Override[api.ResponseReasoningItemParam](block.Opaque.JSON)
				reasoning = append(reasoning, api.ResponseInputItemUnionParam{OfReasoning: &item})
			}
		case block.Text != nil && block.Text.Text != "":
			message := api.EasyInputMessageParam{Role: api.EasyInputMessageRoleAssistant, Phase: api.EasyInputMessagePhase(phase)}
			message.Content.OfString = sdk.String(block.Text.Text)
			items = append(append(items, reasoning...), api.ResponseInputItemUnionParam{OfMessage: &message})
			reasoning, phase = nil, ""
		case block.ToolCall != nil:
			call := &api.ResponseFunctionToolCallParam{
				CallID: wire.CallID(block.ToolCall.ID, longestCallID), Name: block.ToolCall.Name, Arguments: string(block.ToolCall.ArgumentObject()),
			}
			items = append(append(items, reasoning...), api.ResponseInputItemUnionParam{OfFunctionCall: call})
			reasoning = nil
		}
	}
	return items
}

// user splits a user message: first the results of tools, in order, and then the user's text and
// attachments.
func user(blocks []model.Block) []api.ResponseInputItemUnionParam {
	var items []api.ResponseInputItemUnionParam
	var texts []string
	var parts api.ResponseInputMessageContentListParam
	for _, block := range blocks {
		switch {
		case block.Text != nil && block.Text.Text != "":
			texts = append(texts, block.Text.Text)
			parts = append(parts, api.ResponseInputContentParamOfInputText(block.Text.Text))
		case block.ToolResult != nil:
			items = append(items, resultItem(block.ToolResult))
		case block.Attachment != nil:
			parts = append(parts, attachment(block.Attachment))
		}
	}
	switch {
	case len(parts) > len(texts):
		items = append(items, api.ResponseInputItemParamOfMessage(parts, api.EasyInputMessageRoleUser))
	case texts != nil:
		items = append(items, api.ResponseInputItemParamOfMessage(strings.Join(texts, "\n\n"), api.EasyInputMessageRoleUser))
	}
	return items
}

// attachment translates an attachment of one of the types in Features.
func attachment(a *model.Attachment) api.ResponseInputContentUnionParam {
	switch {
	case wire.IsImage(a.MIMEType):
		image := &api.ResponseInputImageParam{Detail: api.ResponseInputImageDetailAuto, ImageURL: sdk.String(wire.DataURL(a.MIMEType, a.Data))}
		return api.ResponseInputContentUnionParam{OfInputImage: image}
	case wire.IsPDF(a.MIMEType):
		file := &api.ResponseInputFileParam{Filename: sdk.String(wire.FileName(a)), FileData: sdk.String(wire.DataURL(a.MIMEType, a.Data))}
		return api.ResponseInputContentUnionParam{OfInputFile: file}
	}
	return api.ResponseInputContentParamOfInputText(wire.TextFile(a))
}

// resultItem translates the result of a tool. Its images follow its text.
func resultItem(from *model.ToolResult) api.ResponseInputItemUnionParam {
	text := wire.ResultText(from)
	output := &api.ResponseInputItemFunctionCallOutputParam{CallID: sdk.String(wire.CallID(from.ID, longestCallID))}
	var images api.ResponseFunctionCallOutputItemListParam
	for _, content := range from.Content {
		if content.Kind == tool.ContentImage && len(content.Data) > 0 && wire.IsImage(content.MediaType) {
			image := &api.ResponseInputImageContentParam{ImageURL: sdk.String(wire.DataURL(content.MediaType, content.Data))}
			images = append(images, api.ResponseFunctionCallOutputItemUnionParam{OfInputImage: image})
		}
	}
	if images == nil {
		output.Output.OfString = sdk.String(text)
	} else {
		first := api.ResponseFunctionCallOutputItemUnionParam{OfInputText: &api.ResponseInputTextContentParam{Text: text}}
		output.Output.OfResponseFunctionCallOutputItemArray = append(api.ResponseFunctionCallOutputItemListParam{first}, images...)
	}
	return api.ResponseInputItemUnionParam{OfFunctionCallOutput: output}
}

var _ model.ToolLimiter = (*Model)(nil)

// Refuses implements model.ToolLimiter.
func (m *Model) Refuses(t model.Tool) string {
	if _, err := render.ForOpenAI(specOf(t), 0); err != nil {
		return err.Error()
	}
	return ""
}

// MaxTools implements model.ToolLimiter.
func (m *Model) MaxTools() int {
	if m.server.Official {
		return mostTools
	}
	return 0
}

func specOf(t model.Tool) *tool.Spec {
	return &tool.Spec{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, InputExamples: t.Examples}
}

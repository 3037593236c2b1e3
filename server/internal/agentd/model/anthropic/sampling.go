package anthropic

import (
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// budgets are the thinking tokens of each effort. The API's limit of a response covers its
// thinking, so they are added to it. Models that are not adaptive think at most as much.
var budgets = map[model.Effort]int64{model.EffortNone: 0, model.EffortLow: 2048, model.EffortMedium: 8192, model.EffortHigh: 24576}

var efforts = map[model.Effort]sdk.OutputConfigEffort{
	model.EffortLow: sdk.OutputConfigEffortLow, model.EffortMedium: sdk.OutputConfigEffortMedium, model.EffortHigh: sdk.OutputConfigEffortHigh,
}

// leastTopP is the API's minimum of top_p while a model thinks.
const leastTopP = 0.95

// sample translates the sampling of a request. The error names the setting that the API refuses.
func (m *Model) sample(params *sdk.MessageNewParams, s model.Sampling) error {
	budget := m.thinking
	if s.Effort != "" {
		tokens, ok := budgets[s.Effort]
		if !ok {
			return refusedSetting("effort", fmt.Sprintf("is %.40q, and Anthropic accepts none, low, medium and high", s.Effort))
		}
		budget = tokens
	}
	if budget > 0 && m.generation.unthinking {
		return m.cannotThink(s.Effort)
	}
	m.think(params, s.Effort, budget)
	if s.Temperature != nil {
		switch {
		case !(*s.Temperature >= 0 && *s.Temperature <= 1):
			return refusedSetting("temperature", fmt.Sprintf("is %v, and Anthropic accepts 0 to 1", *s.Temperature))
		case budget > 0 && *s.Temperature != 1:
			return refusedSetting("temperature", fmt.Sprintf("is %v, and Anthropic accepts only 1 while the model thinks", *s.Temperature))
		}
		params.Temperature = sdk.Float(*s.Temperature)
	}
	if s.TopP != nil {
		switch {
		case !(*s.TopP >= 0 && *s.TopP <= 1):
			return refusedSetting("top_p", fmt.Sprintf("is %v, and Anthropic accepts 0 to 1", *s.TopP))
		case budget > 0 && *s.TopP < leastTopP:
			return refusedSetting("top_p", fmt.Sprintf("is %v, and Anthropic accepts %v to 1 while the model thinks", *s.TopP, leastTopP))
		}
		params.TopP = sdk.Float(*s.TopP)
	}
	return nil
}

// cannotThink is the error for a request for thinking to a model that cannot think. The API would
// refuse the request. Without the thinking, the answer would be another one than the operator
// expects.
func (m *Model) cannotThink(effort model.Effort) error {
	if effort != "" {
		return refusedSetting("effort", fmt.Sprintf("is %s, and the model %s cannot think: remove the setting, or use none", effort, m.name))
	}
	return refusedSetting("thinking", fmt.Sprintf("is %d, and the model %s cannot think: remove the setting", m.thinking, m.name))
}

// think asks for thinking, and for its text. Some models would return only its signature.
func (m *Model) think(params *sdk.MessageNewParams, effort model.Effort, budget int64) {
	params.MaxTokens += budget
	switch {
	case budget > 0 && m.generation.adaptive:
		params.Thinking = sdk.ThinkingConfigParamUnion{OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{}}
		if m.optional.Sends(display) {
			params.Thinking.OfAdaptive.Display = sdk.ThinkingConfigAdaptiveDisplaySummarized
		}
		params.OutputConfig.Effort = efforts[effort]
	case budget > 0:
		params.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
	case effort == model.EffortNone && m.generation.thinks:
		params.Thinking = sdk.ThinkingConfigParamUnion{OfDisabled: &sdk.ThinkingConfigDisabledParam{}}
	}
}

// refusedSetting is the error for a setting of model.Sampling that the API does not accept.
func refusedSetting(name, reason string) error {
	return &model.Error{Message: "the setting " + name + " " + reason}
}

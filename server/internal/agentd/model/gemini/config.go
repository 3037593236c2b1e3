package gemini

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"google.golang.org/genai"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/text/render"
)

// config returns everything of a request but the conversation. The error names the setting or the
// attachment that the API refuses.
func (m *Model) config(req model.Request) (*genai.GenerateContentConfig, error) {
	if err := m.Features().CheckAttachments(req.Messages); err != nil {
		return nil, err
	}
	config := &genai.GenerateContentConfig{}
	if req.MaxTokens > 0 {
		config.MaxOutputTokens = int32(min(req.MaxTokens, math.MaxInt32))
	}
	if strings.TrimSpace(req.System) != "" {
		config.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: req.System}}}
	}
	if err := m.sample(config, req.Sampling); err != nil {
		return nil, err
	}
	functions, schemas := functions(req.Tools)
	if len(functions) > 0 {
		config.Tools = []*genai.Tool{{FunctionDeclarations: functions}}
	}
	if len(req.Schema) > 0 && m.generation.signs {
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", req.Schema
	}
	config.HTTPOptions = &genai.HTTPOptions{ExtrasRequestProvider: func(body map[string]any) map[string]any {
		restore(body, schemas, config.ResponseJsonSchema)
		return body
	}}
	return config, nil
}

// functions omits tools that the API refuses, because one of them would make it refuse the whole
// request. schemas has the schema of each function.
func functions(offered []model.Tool) (functions []*genai.FunctionDeclaration, schemas []json.RawMessage) {
	for _, t := range offered[:min(len(offered), mostTools)] {
		d, err := render.ForGemini(specOf(t))
		if err != nil {
			continue
		}
		functions = append(functions, &genai.FunctionDeclaration{Name: d.Name, Description: d.Description, ParametersJsonSchema: d.Schema})
		schemas = append(schemas, d.Schema)
	}
	return functions, schemas
}

// restore puts into the body of a request what the SDK has lost on the way: the order of the keys
// and the digits of the numbers of schemas, and the empty text of a part that has only a signature.
func restore(body map[string]any, schemas []json.RawMessage, response any) {
	for i, function := range list(object(first(list(body["tools"])))["functionDeclarations"]) {
		if i < len(schemas) {
			object(function)["parametersJsonSchema"] = schemas[i]
		}
	}
	if response != nil {
		object(body["generationConfig"])["responseJsonSchema"] = response
	}
	for _, content := range list(body["contents"]) {
		for _, part := range list(object(content)["parts"]) {
			if fields := object(part); len(fields) == 1 && fields["thoughtSignature"] != nil {
				fields["text"] = ""
			}
		}
	}
}

func object(value any) map[string]any {
	o, _ := value.(map[string]any)
	if o == nil {
		return map[string]any{}
	}
	return o
}

// list returns a list in either of the two forms that the SDK uses.
func list(value any) []any {
	if objects, ok := value.([]map[string]any); ok {
		l := make([]any, len(objects))
		for i := range objects {
			l[i] = objects[i]
		}
		return l
	}
	l, _ := value.([]any)
	return l
}

func first(values []any) any {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

// budgets are the thinking tokens of each effort, for models that count them. They are those of
// Google's own OpenAI-compatible endpoint.
var budgets = map[model.Effort]int32{model.EffortNone: 0, model.EffortLow: 1024, model.EffortMedium: 8192, model.EffortHigh: 24576}

var levels = map[model.Effort]genai.ThinkingLevel{
	model.EffortNone: genai.ThinkingLevelMinimal, model.EffortLow: genai.ThinkingLevelLow,
	model.EffortMedium: genai.ThinkingLevelMedium, model.EffortHigh: genai.ThinkingLevelHigh,
}

// highestTemperature is the API's limit.
const highestTemperature = 2

// sample translates the sampling of a request.
func (m *Model) sample(config *genai.GenerateContentConfig, s model.Sampling) error {
	if s.Temperature != nil {
		if !(*s.Temperature >= 0 && *s.Temperature <= highestTemperature) {
			return refusedSetting("temperature", fmt.Sprintf("is %v, and Gemini accepts 0 to %d", *s.Temperature, highestTemperature))
		}
		config.Temperature = genai.Ptr(float32(*s.Temperature))
	}
	if s.TopP != nil {
		if !(*s.TopP >= 0 && *s.TopP <= 1) {
			return refusedSetting("top_p", fmt.Sprintf("is %v, and Gemini accepts 0 to 1", *s.TopP))
		}
		config.TopP = genai.Ptr(float32(*s.TopP))
	}
	level, ok := levels[s.Effort]
	switch {
	case s.Effort == "" && (!m.generation.thinks || !m.optional.Sends(thoughts)):
		return nil
	case s.Effort == "":
		config.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true}
	case !ok:
		return refusedSetting("effort", fmt.Sprintf("is %.40q, and Gemini accepts none, low, medium and high", s.Effort))
	case !m.generation.thinks && s.Effort != model.EffortNone:
		return refusedSetting("effort", fmt.Sprintf("is %s, and the model %s does not think", s.Effort, m.name))
	case !m.generation.thinks:
		return nil
	case s.Effort == model.EffortNone && m.generation.pro:
		return refusedSetting("effort", fmt.Sprintf("is none, and the model %s always thinks: use low", m.name))
	case m.generation.levels:
		config.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: s.Effort != model.EffortNone && m.optional.Sends(thoughts), ThinkingLevel: level}
	default:
		config.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: s.Effort != model.EffortNone && m.optional.Sends(thoughts), ThinkingBudget: genai.Ptr(budgets[s.Effort])}
		if config.MaxOutputTokens > 0 {
			config.MaxOutputTokens += budgets[s.Effort] // the API's limit covers both
		}
	}
	return nil
}

// refusedSetting is the error for a setting of model.Sampling that the API does not accept.
func refusedSetting(name, reason string) error {
	return &model.Error{Message: "the setting " + name + " " + reason}
}

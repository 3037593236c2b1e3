package anthropic

import (
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/render"
	"github.com/toolhost/toolhost/tool"
)

var _ model.Choosy = (*Model)(nil)

// Refuses implements model.Choosy.
func (m *Model) Refuses(t model.Tool) string {
	switch _, fits := render.ForAnthropic(specOf(t)); {
	case fits:
		return ""
	case tool.CheckName(t.Name) != nil:
		return "its name is none that Anthropic's API takes"
	}
	return "its schema is no JSON, or has arguments of names that Anthropic's API does not take"
}

// MostTools implements model.Choosy: the API says nothing of a bound.
func (m *Model) MostTools() int { return 0 }

func specOf(t model.Tool) *tool.Spec {
	return &tool.Spec{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, InputExamples: t.Examples}
}

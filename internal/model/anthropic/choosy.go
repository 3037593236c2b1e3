package anthropic

import (
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/render"
	"github.com/toolhost/toolhost/tool"
)

var _ model.Choosy = (*Model)(nil)

// Refuses implements model.Choosy.
func (m *Model) Refuses(t model.Tool) string {
	if _, err := render.ForAnthropic(specOf(t)); err != nil {
		return err.Error()
	}
	return ""
}

// MostTools implements model.Choosy. The API documents no limit.
func (m *Model) MostTools() int { return 0 }

func specOf(t model.Tool) *tool.Spec {
	return &tool.Spec{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, InputExamples: t.Examples}
}

package anthropic

import (
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

var _ model.ToolLimiter = (*Model)(nil)

// Refuses implements model.ToolLimiter.
func (m *Model) Refuses(t model.Tool) string {
	if _, err := render.ForAnthropic(specOf(t)); err != nil {
		return err.Error()
	}
	return ""
}

// MaxTools implements model.ToolLimiter. The API documents no limit.
func (m *Model) MaxTools() int { return 0 }

func specOf(t model.Tool) *tool.Spec {
	return &tool.Spec{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, InputExamples: t.Examples}
}

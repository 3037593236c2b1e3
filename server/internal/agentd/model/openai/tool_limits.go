package openai

import (
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

var _ model.ToolLimiter = (*Model)(nil)

// mostTools is the limit of OpenAI's own servers per request. Other servers have no such limit.
const mostTools = 128

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

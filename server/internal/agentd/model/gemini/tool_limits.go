package gemini

import (
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

var (
	_ model.ToolLimiter = (*Model)(nil)
	_ model.Featured    = (*Model)(nil)
)

// mostTools is the API's limit of functions per request.
const mostTools = 512

// Refuses implements model.ToolLimiter.
func (m *Model) Refuses(t model.Tool) string {
	if _, err := render.ForGemini(specOf(t)); err != nil {
		return err.Error()
	}
	return ""
}

// MaxTools implements model.ToolLimiter.
func (m *Model) MaxTools() int { return mostTools }

func specOf(t model.Tool) *tool.Spec {
	return &tool.Spec{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, InputExamples: t.Examples}
}

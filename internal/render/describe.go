package render

import (
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// describe returns a tool's description with what an API has no other place for.
func describe(spec *tool.Spec, refused object, examples []tool.InputExample) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(spec.Description))
	if len(refused) > 0 {
		b.WriteString("\n\nThe arguments must also fit this JSON Schema: ")
		b.Write(compact(refused.text()))
	}
	if len(examples) > 0 {
		b.WriteString("\n\nExamples of arguments:")
	}
	for _, e := range examples {
		b.WriteString("\n- ")
		if e.Description != "" {
			b.WriteString(e.Description + ": ")
		}
		b.Write(compact(orEmpty(e.Arguments)))
	}
	return b.String()
}

package catalog

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// Described returns the tool as its plugin describes it for one session. Of the spec, only display
// name, description, schemas and examples apply, and the operator's overrides replace them.
// Everything else stays as declared. The error says that a schema cannot be used.
func (t *Tool) Described(spec tool.Spec) (*Tool, error) {
	own := *t
	own.Spec.DisplayName = spec.DisplayName
	own.Spec.InputSchema, own.Spec.OutputSchema, own.Spec.InputExamples = spec.InputSchema, spec.OutputSchema, spec.InputExamples
	if strings.TrimSpace(spec.Description) != "" {
		own.Spec.Description = cmp.Or(t.override.Description, spec.Description)
	}
	if err := checkSchema(&own.Spec); err != nil {
		return nil, err
	}
	if !bytes.Equal(own.Spec.InputSchema, t.Spec.InputSchema) {
		own.Schema = &Schema{text: own.Spec.InputSchema}
	}
	if !bytes.Equal(own.Spec.OutputSchema, t.Spec.OutputSchema) {
		own.Output = outputOf(&own.Spec)
	}
	return &own, nil
}

package result

import (
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// CheckOutput returns an error if a result does not fit the output schema of its tool, or nil.
// formats says that only formats of texts do not fit. It checks the first block of JSON, or null if
// there is none. An error, a result with IsError and a result without content always fit. Every
// result fits if schema is nil.
func CheckOutput(schema *catalog.Schema, outcome *tool.Outcome) (formats bool, err error) {
	if schema == nil || outcome.Err != nil || outcome.Result.IsError || len(outcome.Result.Content) == 0 {
		return false, nil
	}
	value := json.RawMessage("null")
	if i := slices.IndexFunc(outcome.Result.Content, func(c tool.Content) bool { return c.Kind == tool.ContentJSON }); i >= 0 {
		value = outcome.Result.Content[i].JSON
	}
	err = schema.ValidateResult(value)
	return err != nil && schema.OnlyFormats(value), err
}

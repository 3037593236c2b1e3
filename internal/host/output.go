package host

import (
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// outputKey is where a result's metadata says that it does not fit the tool's output schema, where the operator lets it through.
const outputKey = "toolhost.output_schema"

// checkOutput holds a result against the output schema of its tool: the first block of JSON, or null if there is none. A result
// that does not fit is the tool's fault, and its caller does not get it, because who relies on the schema would read it wrongly.
// The operator may choose to be warned only. A result with IsError, or without content, promises nothing.
func (r *run) checkOutput(outcome *tool.Outcome) {
	r.mu.Lock()
	schema := r.output
	r.mu.Unlock()
	if schema == nil || outcome.Err != nil || outcome.Result.IsError || len(outcome.Result.Content) == 0 {
		return
	}
	value := json.RawMessage("null")
	if i := slices.IndexFunc(outcome.Result.Content, func(c tool.Content) bool { return c.Kind == tool.ContentJSON }); i >= 0 {
		value = outcome.Result.Content[i].JSON
	}
	err := schema.ValidateResult(value)
	if err == nil {
		return
	}
	r.host.cfg.Logger.Warn("a result does not fit the output schema of its tool", "tool", r.call.Tool,
		"plugin", r.tool.Plugin.Info.Name, "call_id", r.call.ID, "refused", !r.host.cfg.KeepBadOutput, "error", err)
	if r.host.cfg.KeepBadOutput {
		words, _ := json.Marshal(clip(err.Error(), maxReason)) // a text never fails
		r.mu.Lock()
		r.badOutput = words
		r.mu.Unlock()
		return
	}
	aftermath := "it can be called again"
	if r.tool.Spec.HasSideEffects() {
		aftermath = "its side effects have happened"
	}
	outcome.Result.Content, outcome.Result.Effects = nil, nil
	outcome.Err = tool.Errorf(tool.KindInternal, "the tool %q broke its contract: its structured result does not fit its output schema:\n%s\n%s",
		r.call.Tool, clip(err.Error(), maxReason), aftermath)
}

// tellOutput adds to a call's outcome that its result does not fit.
func (r *run) tellOutput(outcome *tool.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.badOutput == nil || outcome.Err != nil {
		return
	}
	if outcome.Result.Metadata == nil {
		outcome.Result.Metadata = map[string]json.RawMessage{}
	}
	outcome.Result.Metadata[outputKey] = r.badOutput
}

package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// handler implements the plugin's tools.
type handler struct{ stdout, stderr *os.File } // the process's own

// Describe implements pluginwire.Handler.
func (h *handler) Describe(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
	schema, err := json.Marshal(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"do":     map[string]any{"type": "string", "enum": Actions()},
			"text":   map[string]any{"type": "string"},
			"number": map[string]any{"type": "integer"},
		},
		"required":             []string{"do"},
		"additionalProperties": false,
	})
	if err != nil {
		return tool.Description{}, err
	}
	return tool.Description{
		Name:    name(),
		Version: "1",
		Tools: []tool.Spec{{
			Name:        name(),
			Description: "Misbehaves on request.",
			InputSchema: schema,
		}},
	}, nil
}

// name returns the name of the plugin and of its tool: "fault", or the executable's name if that
// begins with "chaos", so that several copies can run together.
func name() string {
	if base := filepath.Base(os.Args[0]); strings.HasPrefix(base, "chaos") {
		return base
	}
	return "fault"
}

// request is the argument of a call.
type request struct {
	Do     string `json:"do"`
	Text   string `json:"text"`   // the text to echo or print, the way to spawn, the kind of a result, the file to wait for
	Number int    `json:"number"` // an exit code, a signal, a number of bytes, processes or files
}

// Call implements pluginwire.Handler.
func (h *handler) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	var text []byte
	for complete := false; !complete; {
		var err error
		if text, complete, err = call.NextArguments(ctx); err != nil {
			return tool.Result{}, err
		}
	}
	var r request
	if err := json.Unmarshal(text, &r); err != nil {
		return tool.Result{}, tool.Errorf(tool.KindInvalidArgument, "reading the arguments: %w", err)
	}
	all := h.actions()
	i := slices.IndexFunc(all, func(a action) bool { return a.name == r.Do })
	if i < 0 {
		return tool.ErrorResult(fmt.Sprintf("no idea how to do %q", r.Do)), nil
	}
	return all[i].do(ctx, call, r)
}

// Command consoleplugin is a plugin for tests of the pages of agentd. It has a tool that pays, and
// tools whose display names are the lines of payloads.txt, and whose diffs are their arguments.
//
// The tests give the same lines to everything else that a page shows. No shipped program imports
// it.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/sdk"
)

// payloads has one text a line, with the escapes of Go.
//
//go:embed payloads.txt
var payloads string

type payment struct {
	Amount   float64 `json:"amount" jsonschema:"how much"`
	Currency string  `json:"currency" jsonschema:"of which money"`
	Payee    string  `json:"payee" jsonschema:"who gets it"`
	Note     string  `json:"note,omitempty" jsonschema:"what for"`
}

func pay(_ context.Context, in payment) (string, error) {
	return fmt.Sprint("paid ", in.Amount, " to ", in.Payee), nil
}

// shower is a tool that shows its arguments as what it would change.
type shower struct{}

// Partial implements sdk.Previewer.
func (shower) Partial(ctx context.Context, soFar map[string]any) {
	if !sdk.ArgumentsWhole(ctx) {
		return
	}
	diff := "--- a\n+++ a\n"
	for name, value := range soFar {
		diff += fmt.Sprintf("-%s\n+%v\n", name, value)
	}
	if result, err := json.Marshal(map[string]string{"diff": diff}); err == nil {
		sdk.ReportStatus(ctx, sdk.Status{Result: result})
	}
}

// Call implements sdk.Caller.
func (shower) Call(context.Context, map[string]any) (string, error) { return "done", nil }

// perTool is the number of texts in a display name. More tools would only make the tests slower.
const perTool = 8

// hostile returns the lines of payloads.
func hostile() (texts []string) {
	for line := range strings.Lines(payloads) {
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `"`, `\"`) + `"`)
		if err != nil {
			fmt.Fprintln(os.Stderr, err, line)
			os.Exit(1)
		}
		texts = append(texts, text)
	}
	return texts
}

func main() {
	tools := []sdk.Tool{sdk.Func(sdk.Spec{Name: "pay", Description: "Pays.", Dangerous: true}, pay)}
	for texts := range slices.Chunk(hostile(), perTool) {
		spec := sdk.Spec{
			Name: fmt.Sprintf("show_%d", len(tools)-1), DisplayName: strings.Join(texts, " "), Description: "Shows.", Dangerous: true, PartialArguments: true,
			InputSchema: json.RawMessage(`{"type":"object"}`), Metadata: map[string]json.RawMessage{"preview": json.RawMessage(`"diff"`)},
		}
		tools = append(tools, sdk.Object(spec, func(context.Context) (shower, error) { return shower{}, nil }))
	}
	sdk.Serve(sdk.Plugin{Name: "consoleplugin", Version: "1.0.0", Description: "Shows, for tests.", Tools: tools})
}

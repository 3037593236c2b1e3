package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Transcript formats a stream of chunks, one per line, without chunks that only have Alive set. It
// formats the response as indented JSON and an error in full. It checks the stream like Check.
func Transcript(t *testing.T, chunks iter.Seq2[model.Chunk, error]) string {
	t.Helper()
	var out strings.Builder
	for chunk, err := range Check(t, chunks) {
		switch {
		case err != nil:
			writeError(t, &out, err)
		case chunk.TextDelta != nil:
			fmt.Fprintf(&out, "text %q\n", chunk.TextDelta.Text)
		case chunk.ReasoningDelta != nil:
			fmt.Fprintf(&out, "reasoning %q\n", chunk.ReasoningDelta.Text)
		case chunk.CallBegun != nil:
			fmt.Fprintf(&out, "call %d %s %s\n", chunk.CallBegun.Index, chunk.CallBegun.ID, chunk.CallBegun.Name)
		case chunk.ArgumentDelta != nil:
			fmt.Fprintf(&out, "arguments %d %q\n", chunk.ArgumentDelta.Index, chunk.ArgumentDelta.Text)
		case chunk.Response != nil:
			fmt.Fprintf(&out, "%s\n", Indent(t, chunk.Response))
		}
	}
	return out.String()
}

func writeError(t *testing.T, out *strings.Builder, err error) {
	t.Helper()
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		t.Fatalf("the stream ended with %T, not a *model.Error: %v", err, err)
	}
	fmt.Fprintf(out, "error %s\n  status %d, code %q, retry after %s, retryable %t, context overflow %t\n",
		e.Message, e.Status, e.Code, e.RetryAfter, e.Retryable, e.ContextOverflow)
	if e.Usage != (tool.Usage{}) {
		fmt.Fprintf(out, "  used %d tokens read, %d written\n", e.Usage.InputTokens, e.Usage.OutputTokens)
	}
}

// Indent returns a value, or JSON text, as indented JSON. It keeps the order of keys.
func Indent(t *testing.T, value any) string {
	t.Helper()
	data, ok := value.([]byte)
	if !ok {
		var buffer bytes.Buffer
		encoder := json.NewEncoder(&buffer)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(value); err != nil {
			t.Fatalf("writing %T as JSON: %v", value, err)
		}
		data = buffer.Bytes()
	}
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(data), "", "  "); err != nil {
		t.Fatalf("indenting %s: %v", data, err)
	}
	return out.String()
}

package scripted_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/scripted"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

var _ = flag.Bool("update", false, "write what the tests got into testdata")

// Each archive has script.yaml, a file result/ID for each call whose result differs from "ok", and
// want: the error of loading, or all chunks of all turns.
func TestGolden(t *testing.T) {
	wiretest.Golden(t, "testdata", transcript)
}

// transcript runs a loop like an agent. It answers all calls and retries after an error. It ends
// with the first response without calls, or with an error that is not retryable.
func transcript(t *testing.T, files map[string]string) string {
	t.Helper()
	m, err := scripted.Parse("script.yaml", []byte(files["script.yaml"]))
	if err != nil {
		return err.Error() + "\n"
	}
	var out strings.Builder
	req := asked("What does it say?")
	for {
		response, err := turn(t, m, req, &out)
		if err != nil {
			fmt.Fprintf(&out, "error %v\n", err)
			if e, ok := err.(*model.Error); ok && e.Retryable {
				continue
			}
			return out.String()
		}
		req.Messages = append(req.Messages, response.Message)
		answers := model.Message{Role: model.RoleUser}
		for _, block := range response.Message.Blocks {
			if call := block.ToolCall; call != nil {
				text := "ok"
				if data, ok := files["result/"+call.ID]; ok {
					text = strings.TrimSuffix(data, "\n")
				}
				answers.Blocks = append(answers.Blocks, answered(call.ID, text).Blocks...)
			}
		}
		if answers.Blocks == nil {
			return out.String()
		}
		req.Messages = append(req.Messages, answers)
	}
}

func turn(t *testing.T, m model.Model, req model.Request, out *strings.Builder) (*model.Response, error) {
	t.Helper()
	fmt.Fprintln(out, "--")
	for chunk, err := range wiretest.Check(t, m.Generate(t.Context(), req)) {
		switch {
		case err != nil:
			return nil, err
		case chunk.TextDelta != nil:
			fmt.Fprintf(out, "text %q\n", chunk.TextDelta.Text)
		case chunk.CallBegun != nil:
			fmt.Fprintf(out, "call %d %s %s\n", chunk.CallBegun.Index, chunk.CallBegun.ID, chunk.CallBegun.Name)
		case chunk.ArgumentDelta != nil:
			fmt.Fprintf(out, "arguments %d %q\n", chunk.ArgumentDelta.Index, chunk.ArgumentDelta.Text)
		case chunk.Response != nil:
			fmt.Fprintf(out, "stop %s\n", chunk.Response.StopReason)
			return chunk.Response, nil
		}
	}
	t.Fatal("the stream ended without a response")
	return nil, nil
}

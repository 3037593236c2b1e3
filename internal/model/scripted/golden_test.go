package scripted_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/model/scripted"
)

var update = flag.Bool("update", false, "write what the tests got into testdata")

// TestGolden plays whole scripts. Each archive holds script.yaml, a file result/ID for each call that is to be answered
// with something else than "ok", and want: the error of loading, or all chunks of all turns.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := transcript(t, archive)
			want := file(archive, "want")
			if *update {
				write(t, path, archive, got)
			} else if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the transcript differs (-want +got); -update accepts it:\n%s", diff)
			}
		})
	}
}

// file returns the data of a file of the archive, or nil.
func file(archive *txtar.Archive, name string) []byte {
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func write(t *testing.T, path string, archive *txtar.Archive, got string) {
	t.Helper()
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// transcript runs a loop as an agent would: it answers all calls, tries again after an error, and ends with the first
// response without calls, or with an error that no retry helps.
func transcript(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	m, err := scripted.Parse("script.yaml", file(archive, "script.yaml"))
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
				if data := file(archive, "result/"+call.ID); data != nil {
					text = string(bytes.TrimSuffix(data, []byte("\n")))
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
	for chunk, err := range m.Generate(t.Context(), req) {
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

package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/scripted"
	"github.com/toolhost/toolhost/tool"
)

func parse(t *testing.T, script string) *scripted.Model {
	t.Helper()
	m, err := scripted.Parse("test.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func message(role model.Role, text string) model.Message {
	return model.Message{Role: role, Blocks: []model.Block{{Text: &model.Text{Text: text}}}}
}

func asked(prompt string) model.Request {
	return model.Request{Messages: []model.Message{message(model.RoleUser, prompt)}}
}

// generate returns the response to one request: the text of the deltas, and the response or the
// error.
func generate(ctx context.Context, m model.Model, req model.Request) (string, *model.Response, error) {
	var shown strings.Builder
	for chunk, err := range m.Generate(ctx, req) {
		switch {
		case err != nil:
			return shown.String(), nil, err
		case chunk.TextDelta != nil:
			shown.WriteString(chunk.TextDelta.Text)
		case chunk.Response != nil:
			return shown.String(), chunk.Response, nil
		}
	}
	return shown.String(), nil, errors.New("the stream ended without a response")
}

const failsTwice = `
turns:
  - text: first
  - error: {status: 529, retry_after: 1500ms}
  - text: half an ans
    error: {}
  - text: second
`

func TestErrorsComeBeforeTheirTurnAndAgainForTheNextRun(t *testing.T) {
	m := parse(t, failsTwice)
	req := asked("go")
	req.Messages = append(req.Messages, message(model.RoleAssistant, "first"), message(model.RoleUser, "and?"))
	for run := range 2 {
		_, _, err := generate(t.Context(), m, req)
		got, ok := errors.AsType[*model.Error](err)
		if !ok || got.Status != 529 || got.RetryAfter != 1500*time.Millisecond || !got.Retryable {
			t.Fatalf("run %d: the first error is %#v", run, err)
		}
		shown, _, err := generate(t.Context(), m, req)
		got, ok = errors.AsType[*model.Error](err)
		if !ok || got.Status != 0 || !got.Retryable || shown != "half an ans" {
			t.Fatalf("run %d: the second error is %#v after %q", run, err, shown)
		}
		_, response, err := generate(t.Context(), m, req)
		if err != nil || response.Message.Blocks[0].Text.Text != "second" {
			t.Fatalf("run %d: the answer is %v, %v", run, response, err)
		}
	}
}

func TestStatusSaysWhetherARetryHelps(t *testing.T) {
	for status, want := range map[int]bool{400: false, 401: false, 404: false, 408: true, 409: true, 429: true, 500: true, 529: true} {
		m := parse(t, fmt.Sprintf("turns:\n  - error: {status: %d}\n", status))
		_, _, err := generate(t.Context(), m, asked("go"))
		if got, ok := errors.AsType[*model.Error](err); !ok || got.Retryable != want {
			t.Errorf("status %d gives %#v, want retryable to be %v", status, err, want)
		}
	}
}

func TestConversationsDoNotDisturbEachOther(t *testing.T) {
	m := parse(t, "turns:\n  - error: {status: 500}\n  - text: 'hello {{prompt}}'\n  - text: bye\n")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			req := asked(fmt.Sprintf("run %d", i))
			if _, _, err := generate(t.Context(), m, req); err == nil {
				t.Errorf("run %d did not see its error", i)
			}
			for _, want := range []string{fmt.Sprintf("hello run %d", i), "bye"} {
				shown, response, err := generate(t.Context(), m, req)
				if err != nil || shown != want {
					t.Errorf("run %d got %q, %v, want %q", i, shown, err, want)
					return
				}
				req.Messages = append(req.Messages, response.Message)
			}
		})
	}
	wg.Wait()
}

func TestAnotherProcessGoesOnWhereTheConversationIs(t *testing.T) {
	script := "turns:\n  - calls: [{id: a, tool: echo}]\n  - text: 'it said {{result \"a\"}}'\n"
	req := asked("go")
	_, response, err := generate(t.Context(), parse(t, script), req)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, response.Message, answered("a", "hi"))
	shown, _, err := generate(t.Context(), parse(t, script), req)
	if err != nil || shown != "it said hi" {
		t.Fatalf("got %q, %v", shown, err)
	}
}

func answered(id, text string) model.Message {
	return model.Message{Role: model.RoleUser, Blocks: []model.Block{
		{ToolResult: &model.ToolResult{ID: id, Content: []tool.Content{tool.Text(text)}}},
	}}
}

func TestFailuresOfTheScriptSayWhatToDo(t *testing.T) {
	tests := map[string]struct {
		script string
		req    model.Request
		want   string
	}{
		"too short": {
			"turns:\n  - text: a\n",
			model.Request{Messages: []model.Message{message(model.RoleUser, "go"), message(model.RoleAssistant, "a")}},
			"the script test.yaml ends before turn 2: add that turn",
		},
		"nothing answered": {
			"turns:\n  - text: '{{result \"x\"}}'\n", asked("go"),
			`there is no result "x": no call has been answered yet`,
		},
		"unknown id": {
			"turns:\n  - text: '{{result \"x\"}}'\n",
			model.Request{Messages: []model.Message{message(model.RoleUser, "go"), answered("a", "1"), answered("b", "2")}},
			`there is no result "x"; there are "a", "b"`,
		},
		"no JSON": {
			"turns:\n  - calls:\n    - id: c\n      tool: t\n      arguments: '{\"a\": {{prompt}}}'\n", asked("x y"),
			`line 2 of the script test.yaml: call "c": the template did not yield JSON; use arguments_raw`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			shown, _, err := generate(t.Context(), parse(t, test.script), test.req)
			got, ok := errors.AsType[*model.Error](err)
			if !ok || got.Retryable || !strings.Contains(got.Message, test.want) || shown != "" {
				t.Fatalf("got %#v after %q, want a final error with %q", err, shown, test.want)
			}
		})
	}
}

func TestDelayIsWaitedBeforeTheFirstChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		for range parse(t, "turns:\n  - {text: late, delay: 90s}\n").Generate(t.Context(), asked("go")) {
			break
		}
		if waited := time.Since(begun); waited != 90*time.Second {
			t.Fatalf("the first chunk came after %s", waited)
		}
	})
}

func TestCancelEndsADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		_, _, err := generate(ctx, parse(t, "turns:\n  - {text: late, delay: 1h}\n"), asked("go"))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Fatalf("got %v after %s", err, time.Since(begun))
		}
		if got, ok := errors.AsType[*model.Error](err); !ok || got.Retryable {
			t.Fatalf("got %#v, want a *model.Error that no retry helps", err)
		}
	})
}

func TestCancelEndsAStreamBetweenItsPieces(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var shown []string
	var last error
	for chunk, err := range parse(t, "turns:\n  - {text: abc, chunks: 3}\n").Generate(ctx, asked("go")) {
		if err != nil {
			last = err
			continue
		}
		shown = append(shown, chunk.TextDelta.Text)
		cancel()
	}
	if diff := cmp.Diff([]string{"a"}, shown); diff != "" || !errors.Is(last, context.Canceled) {
		t.Fatalf("ended with %v; pieces (-want +got):\n%s", last, diff)
	}
}

func TestAReaderThatLeavesBeforeTheErrorMeetsItAgain(t *testing.T) {
	m := parse(t, "turns:\n  - {text: half, error: {status: 500}}\n  - text: whole\n")
	for range m.Generate(t.Context(), asked("go")) {
		break
	}
	if _, _, err := generate(t.Context(), m, asked("go")); err == nil {
		t.Fatal("the error was not played")
	}
	if shown, _, err := generate(t.Context(), m, asked("go")); err != nil || shown != "whole" {
		t.Fatalf("got %q, %v", shown, err)
	}
}

// The first pieces arrive at once. The last one waits for the file.
func TestAPauseEndsWhenItsFileIsThere(t *testing.T) {
	folder := t.TempDir()
	script := "turns:\n  - chunks: 2\n    calls: [{tool: t, arguments_raw: abcd, pause_until: '" + folder + "/{{prompt}}'}]\n"
	var pieces []string
	for chunk, err := range parse(t, script).Generate(t.Context(), asked("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if chunk.ArgumentDelta == nil {
			continue
		}
		pieces = append(pieces, chunk.ArgumentDelta.Text)
		_, err := os.Stat(filepath.Join(folder, "go"))
		if (err == nil) != (len(pieces) == 2) {
			t.Errorf("after %q, the file: %v", pieces, err)
		}
		if err := os.WriteFile(filepath.Join(folder, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"ab", "cd"}, pieces); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
}

func TestCancelEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		script := "turns:\n  - calls: [{tool: t, arguments_raw: a, pause_until: '" + t.TempDir() + "/never'}]\n"
		_, _, err := generate(ctx, parse(t, script), asked("go"))
		if got, ok := errors.AsType[*model.Error](err); !ok || got.Retryable || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %#v, want a *model.Error that no retry helps", err)
		}
	})
}

// A conversation that begins with the prompt of a task gets the turns of the first such task,
// whatever is said later. All others get the turns of the script.
func TestATaskHasTurnsOfItsOwn(t *testing.T) {
	m := parse(t, `
turns: [{text: mine 1}, {text: mine 2}]
tasks:
  - prompt: the note
    turns: [{text: note 1}, {error: {status: 529}}, {text: note 2}]
  - prompt: note
    turns: [{text: never of the note}]
`)
	for prompt, want := range map[string]string{"Go on.": "mine", "Read the note, please.": "note"} {
		req := asked(prompt)
		for turn := 1; turn <= 2; turn++ {
			text, _, err := generate(t.Context(), m, req)
			if err != nil { // the error of the task's second turn
				text, _, err = generate(t.Context(), m, req)
			}
			if wants := fmt.Sprint(want, " ", turn); err != nil || text != wants {
				t.Errorf("%q, turn %d: %q, %v; want %q", prompt, turn, text, err, wants)
			}
			req.Messages = append(req.Messages, message(model.RoleAssistant, text), message(model.RoleUser, "And the note?"))
		}
		if _, _, err := generate(t.Context(), m, req); err == nil || !strings.Contains(err.Error(), "ends before turn 3") {
			t.Errorf("%q, turn 3: %v", prompt, err)
		}
	}
}

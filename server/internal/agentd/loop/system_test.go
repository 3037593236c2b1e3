package loop_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// attempt_completion ends the run only if all other calls of the response succeeded.
func TestCompletionComesLast(t *testing.T) {
	for _, fails := range []bool{false, true} {
		f := newFolderOf(t, attended())
		f.respond(model.StopToolUse, completion(`{"result":"done"}`), call("a", "echo"))
		if len(kept[*loop.CallResult](f)) > 0 {
			t.Fatal("completed before the other call has ended")
		}
		f.add(&loop.CallResult{CallID: "r.t1.c1", Result: tool.Result{Content: []tool.Content{tool.Text("x")}, IsError: fails}})
		end := f.state.Finished()
		if fails != (end == nil) || end != nil && (end.StopReason != loop.StopCompleted || end.Text != "done" || end.Calls != 1) {
			t.Errorf("with a failure: %v, ended with %+v", fails, end)
		}
		if got := f.read(); fails != strings.HasPrefix(got[0], "[not completed]") {
			t.Errorf("the model reads %q", got)
		}
	}
}

func TestSystemToolsWithBadArguments(t *testing.T) {
	for _, arguments := range []string{``, `{`, `[]`, `{}`, `{"result":"","question":" "}`, `{"result":1,"question":1}`} {
		f := newFolderOf(t, attended())
		ask := call("q", loop.SystemAskUser)
		ask.ToolCall.Arguments = arguments
		f.respond(model.StopToolUse, completion(arguments), ask)
		got := f.read()
		if !strings.HasPrefix(got[1], "[invalid_argument]") || !strings.HasPrefix(got[0], "[not completed]") || f.state.Finished() != nil {
			t.Errorf("with %q the model reads %q", arguments, got)
		}
	}
}

// A plugin's tool with the name of a system tool is called instead, if the agent admits it.
func TestPluginsReplaceSystemTools(t *testing.T) {
	f := newFolderOf(t, attended())
	theirs := slices.Concat(offered, []tool.Info{{Spec: tool.Spec{Name: loop.SystemAskUser}}})
	resp := &model.Response{Message: model.Message{Blocks: []model.Block{call("q", loop.SystemAskUser)}}}
	f.add(f.state.Respond(resp, theirs, f.state.Seq()))
	c, ok := loop.Next(&f.state)[0].(loop.CallTool)
	if !ok || c.Call.System != "" || c.Call.Tool != loop.SystemAskUser {
		t.Errorf("next is %+v", loop.Next(&f.state))
	}
}

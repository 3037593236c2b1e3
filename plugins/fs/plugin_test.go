package main

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk/sdktest"
)

// toolhost accepts the names that models know from other tools that edit files.
func TestOtherNamesOfEditFile(t *testing.T) {
	for _, spec := range plugin().Describe().Tools {
		if spec.Name != "edit_file" {
			continue
		}
		for _, want := range []string{`["file_path","filename"]`, `["old_string","old_str"]`, `["new_string","new_str"]`, `["*"]`} {
			if !strings.Contains(string(spec.InputSchema), `"x-toolhost-aliases":`+want) {
				t.Errorf("the schema does not have the names %s: %s", want, spec.InputSchema)
			}
		}
	}
}

// The tools run as in toolhost: arguments are text, defaults are filled in, and the workspace comes
// from the call.
func TestPlugin(t *testing.T) {
	w, _ := newWorkspace(t)
	h := sdktest.NewOverWire(t, plugin())
	tests := []struct {
		tool, arguments, want string
		isError               bool
	}{
		{"write_file", `{"path":"notes/a.txt","content":"one\ntwo\n"}`, `wrote 8 bytes to "notes/a.txt", a new file`, false},
		{"read_file", `{"path":"notes/a.txt"}`, "one\ntwo\n", false},
		{"read_file", `{"path":"notes/a.txt","offset":2,"limit":1}`, "two\n\n[lines 2 to 2, the end of the file]", false},
		{"list_dir", `{"path":"notes"}`, "file             8  a.txt\n", false},
		{"list_dir", `{}`, "hello.txt\nfolder           -  notes", false},
		{"edit_file", `{"path":"notes/a.txt","edits":[{"old_text":"two","new_text":"2"},{"old_text":"o","new_text":"0","replace_all":true}]}`, "edit 2: 1 replacement, from line 1 on", false},
		{"grep", `{"pattern":"^2$"}`, "notes/a.txt\n2:2\n", false},
		{"grep", `{"pattern":"0N","ignore_case":true,"output":"counts"}`, "notes/a.txt: 1\n", false},
		{"glob", `{"pattern":"**/*.txt","sort":"name"}`, "hello.txt\nnotes/a.txt\nsub/inner.txt\n", false},
		{"edit_file", `{"path":"notes/a.txt","edits":[]}`, "edits", true},
		{"edit_file", `{"path":"notes/a.txt","edits":[{"old_text":"nowhere","new_text":""}]}`, "occurs 0 times", true},
		{"grep", `{"pattern":"x","output":"all"}`, "output", true},
		{"grep", `{"pattern":"x","before":51}`, "before", true},
		{"glob", `{"pattern":"["}`, "is no glob", true},
		{"read_file", `{"path":"../secret.txt"}`, "leads out of the workspace", true},
		{"read_file", `{"path":"missing.txt"}`, `there is no "missing.txt"`, true},
		{"read_file", `{"path":"hello.txt","encoding":"latin1"}`, "encoding", true},
		{"read_file", `{"path":"hello.txt","offset":0}`, "offset", true},
		{"read_file", `{}`, "path", true},
		{"write_file", `{"path":"x.txt"}`, "content", true},
		{"list_dir", `{"recursive":true}`, "recursive", true},
	}
	for _, test := range tests {
		result := h.Call(test.tool, test.arguments, sdktest.WithWorkspace(w.dir))
		if result.Err != nil {
			t.Fatalf("%s %s: %v", test.tool, test.arguments, result.Err)
		}
		if result.IsError != test.isError || !strings.Contains(result.Text(), test.want) {
			t.Errorf("%s %s: got %q, is_error %v; want %q", test.tool, test.arguments, result.Text(), result.IsError, test.want)
		}
	}
}

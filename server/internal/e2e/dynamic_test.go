package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// Calls of a session are validated against the schema that the session sees. The operator has
// renamed the tool.
func TestSessionsSeeDifferentSchemas(t *testing.T) {
	h := prepare(t)
	if err := os.Symlink(filepath.Join(bin, "dynamicplugin"), filepath.Join(h.plugins, "dynamicplugin")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.home, "toolhost.yaml"), "tools: {choose: {rename: pick}}\n", 0o600)
	h.serve(t)
	c := h.dial(t)
	options := map[string]json.RawMessage{"options": json.RawMessage(`["red","blue"]`)}
	for _, test := range []struct {
		session        string
		context        map[string]json.RawMessage
		valid, invalid string
	}{
		{"s1", nil, "s1", "s2"}, {"s2", nil, "s2", "s1"}, {"s3", options, "blue", "s3"},
	} {
		infos, err := c.ListTools(t.Context(), tool.Query{Names: []string{"pick"}, Session: test.session, Context: test.context})
		if err != nil || len(infos) != 1 || infos[0].Spec.Description != "Chooses for "+test.session+"." ||
			!strings.Contains(string(infos[0].Spec.InputSchema), `"`+test.valid+`"`) {
			t.Fatalf("%s is shown %+v, %v", test.session, infos, err)
		}
		for option, valid := range map[string]bool{test.valid: true, test.invalid: false} {
			got, err := c.Call(t.Context(), tool.Call{
				Tool: "pick", Session: test.session, Context: test.context, Arguments: json.RawMessage(`{"option":"` + option + `"}`),
			})
			if err != nil || got.Result.IsError == valid || valid && got.Result.Text() != "chosen: "+option {
				t.Errorf("%s: %s: %+v, %v", test.session, option, got, err)
			}
		}
	}
	h.do(t, "tools", "pick", "--session", "s1").says(t, "Chooses for s1.", `"s1"`)
	h.do(t, "tools", "pick").says(t, "Chooses.", `"string"`)
	h.do(t, "tools", "search", "chooses", "--session", "s2").says(t, "Chooses for s2.")
}

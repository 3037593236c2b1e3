package host_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// A tool that declares the keys gets the principal and the working directory from toolhost.
// toolhost refuses a call whose context has a reserved key.
func TestToolLearnsThePrincipal(t *testing.T) {
	var got map[string]json.RawMessage
	who := hosttest.Tool{
		Spec: tool.Spec{Name: "who", Description: "Tells.", ReadOnly: true, ContextKeys: []string{"team", tool.KeyPrincipal, tool.KeyWorkingDirectory}},
		Run: func(_ context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
			got = c.Context
			return tool.Result{}, nil
		},
	}
	r := newRig(t, []hosttest.Tool{who}, func(c *host.Config) { c.Workspace = "/work" })
	call := tool.Call{
		Tool: "who", Principal: "red/ada", Groups: []string{"dev"}, Via: "agentd",
		Context: map[string]json.RawMessage{"team": json.RawMessage(`"a"`), "other": json.RawMessage(`1`)},
	}
	if o := outcome(t, r, call); o.Err != nil {
		t.Fatal(o.Err)
	}
	want := map[string]json.RawMessage{
		"team":                   json.RawMessage(`"a"`),
		tool.KeyWorkingDirectory: json.RawMessage(`"/work"`),
		tool.KeyPrincipal:        json.RawMessage(`{"key":"red/ada","tenant":"red","name":"ada","groups":["dev"],"via":"agentd"}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, key := range []string{tool.KeyPrincipal, tool.KeyWorkingDirectory} {
		got = nil
		call.Context = map[string]json.RawMessage{key: json.RawMessage(`"root"`)}
		if _, err := r.Open(t.Context(), call, true); tool.KindOf(err) != tool.KindInvalidArgument || got != nil {
			t.Errorf("a forged value of %s: %v, and the tool got %v", key, err, got)
		}
	}
}

package sdk

import (
	"context"
	"encoding/json"
	"testing"
)

// TestServeLeavesSchemasToToolhost checks that a served plugin starts even if one schema has a
// pattern that Go cannot match. It also checks that no schema is compiled at the start.
func TestServeLeavesSchemasToToolhost(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"code":{"pattern":"^(?=.*[0-9]).+$"}}}`)
	echo := Func(Spec{Name: "echo", Description: "Returns its arguments.", InputSchema: schema, OutputSchema: schema},
		func(_ context.Context, in map[string]any) (map[string]any, error) { return in, nil })
	plugin := Plugin{Name: "p", Tools: []Tool{echo}}
	if plugin.Validate() == nil {
		t.Error("Validate accepts a pattern with a look-ahead")
	}
	if _, err := newServer(plugin, nil, true); err != nil {
		t.Errorf("the plugin does not start: %v", err)
	}
	plugin.Tools[0] = echo.Dynamic(func(context.Context) (Variant, error) { return Variant{}, nil })
	server, err := newServer(plugin, lightly, true)
	if err != nil {
		t.Fatalf("the plugin with a dynamic tool does not start: %v", err)
	}
	arguments, err := server.tools["echo"].dynamic.static.read([]byte(`{"code":"1"}`))
	if err != nil || string(arguments) != `{"code":"1"}` {
		t.Errorf("the dynamic tool reads %s, %v", arguments, err)
	}
}

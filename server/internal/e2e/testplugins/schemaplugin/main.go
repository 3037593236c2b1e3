// Command schemaplugin is a plugin for tests. Two of its tools have an input schema with a
// look-ahead, which ECMA 262 allows in a pattern and toolhost does not support. Anthropic's API
// refuses a parameter name of another tool. The last tool has a schema that toolhost and each API
// can use.
package main

import (
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	lookAhead := json.RawMessage(`{"type":"object","properties":{"code":{"type":"string","pattern":"^(?=.*[0-9]).+$"}}}`)
	umlaut := json.RawMessage(`{"type":"object","properties":{"größe":{"type":"integer"}}}`)
	echo := func(_ context.Context, in map[string]any) (any, error) { return in, nil }
	asDeclared := func(context.Context) (sdk.Variant, error) { return sdk.Variant{}, nil }
	sdk.Serve(sdk.Plugin{Name: "schemaplugin", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "schema_usable", Description: "Returns its arguments."}, echo),
		sdk.Func(sdk.Spec{Name: "schema_umlaut", Description: "Returns its arguments.", InputSchema: umlaut}, echo),
		sdk.Func(sdk.Spec{Name: "schema_lookahead", Description: "Returns its arguments.", InputSchema: lookAhead}, echo),
		sdk.Func(sdk.Spec{Name: "schema_dynamic", Description: "Returns its arguments.", InputSchema: lookAhead}, echo).Dynamic(asDeclared),
	}})
}

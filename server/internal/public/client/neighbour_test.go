package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// All calls of a client share one stream, which would end with a message that is too large or
// cannot be encoded. So a call with such a message fails before it is sent, and affects no other
// call.
func TestAnUnsendableCallAffectsNoOther(t *testing.T) {
	cancelFor := func(reason string) func(*testing.T, *client.Client) tool.Kind {
		return func(t *testing.T, c *client.Client) tool.Kind {
			e := running(t, c, "cancelled")
			e.Cancel(reason)
			return end(t, e).Err.Kind
		}
	}
	opening := func(call tool.Call) func(*testing.T, *client.Client) tool.Kind {
		return func(t *testing.T, c *client.Client) tool.Kind {
			_, err := c.Call(bounded(t), call)
			return tool.KindOf(err)
		}
	}
	for name, tc := range map[string]struct {
		act  func(*testing.T, *client.Client) tool.Kind
		want tool.Kind
	}{
		"a long reason":        {cancelFor(strings.Repeat("x", 5<<20)), tool.KindCancelled},
		"a reason in no UTF-8": {cancelFor("\xff"), tool.KindCancelled},
		"a name in no UTF-8":   {opening(tool.Call{Tool: "\xff"}), tool.KindNotFound},
		"a long name":          {opening(tool.Call{Tool: strings.Repeat("x", 5<<20)}), tool.KindInvalidArgument},
		"a long id":            {opening(tool.Call{Tool: "echo", ID: strings.Repeat("x", 3<<20), Arguments: json.RawMessage(`{"text":"x"}`)}), tool.KindInvalidArgument},
		"a large context": {opening(tool.Call{Tool: "echo", Arguments: json.RawMessage(`{"text":"x"}`), Context: map[string]json.RawMessage{
			"k": json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`),
		}}), tool.KindInvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			a := socket(t)
			serve(t, a, newHost(t))
			c := dial(t, a)
			other := running(t, c, "other")
			if got := tc.act(t, c); got != tc.want {
				t.Errorf("it ended with %q, want %q", got, tc.want)
			}
			other.Cancel("enough")
			if got := end(t, other); got.Err == nil || got.Err.Kind != tool.KindCancelled {
				t.Errorf("the other call ended with %+v", got.Err)
			}
		})
	}
}

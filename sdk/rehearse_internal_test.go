package sdk

import (
	"context"
	"testing"
)

// shy decodes itself, with the author's code.
type shy struct{}

func (*shy) UnmarshalJSON([]byte) error { panic("decoded") }

// A rehearsed call passes through the session, the frames and the decoder of the tool. It does not
// run the tool's function or a type's own decoding.
func TestARehearsalRunsNothingOfTheAuthor(t *testing.T) {
	type in struct {
		N int `json:"n"`
	}
	ran := func(context.Context, in) (string, error) { t.Error("a tool ran"); return "", nil }
	object := func(context.Context) (noted, error) { t.Error("an object was opened"); return noted{}, nil }
	server, err := newServer(Plugin{Name: "p", Tools: []Tool{
		Func(Spec{Name: "a", Description: "x"}, ran),
		Object(Spec{Name: "b", Description: "x"}, object),
		Func(Spec{Name: "c", Description: "x", InputSchema: []byte(`{"type":"object"}`)}, func(context.Context, shy) (string, error) {
			t.Error("a tool ran")
			return "", nil
		}),
		Func(Spec{Name: "d", Description: "x"}, ran).Dynamic(func(context.Context) (Variant, error) {
			t.Error("a tool was described for a session")
			return Variant{}, nil
		}),
	}}, lightly, true)
	if err != nil {
		t.Fatal(err)
	}
	decoded := map[string]int{}
	for name, served := range server.tools {
		if (served.decode == nil) != (name == "c") {
			t.Errorf("tool %q can be rehearsed: %t", name, served.decode != nil)
		}
		if decode := served.decode; decode != nil {
			served.decode = func() { decoded[name]++; decode() }
			server.tools[name] = served
		}
	}
	rehearse(t.Context(), server)
	for _, name := range []string{"a", "b", "d"} {
		if decoded[name] != 1 {
			t.Errorf("tool %q was rehearsed %d times", name, decoded[name])
		}
	}
	if server.calls != 0 {
		t.Errorf("%d calls are at work", server.calls)
	}
}

type noted struct{}

func (noted) Call(context.Context, struct{}) (string, error) { return "", nil }

// The end of the process does not wait for the rehearsal.
func TestARehearsalEndsWithThePlugin(t *testing.T) {
	server, err := newServer(Plugin{Name: "p", Tools: []Tool{
		Func(Spec{Name: "a", Description: "x"}, func(context.Context, struct{}) (string, error) { return "", nil }),
	}}, lightly, true)
	if err != nil {
		t.Fatal(err)
	}
	served := server.tools["a"]
	ctx, cancel := context.WithCancel(t.Context())
	served.decode = cancel
	server.tools["a"] = served
	rehearse(ctx, server)
}

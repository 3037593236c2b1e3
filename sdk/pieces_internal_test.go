package sdk

import (
	"context"
	"testing"

	"github.com/toolhost/toolhost/sdk/internal/transport"
)

// TestACallOfATypedToolIsMadeOfFewPieces: the call, its input, what encoding/json takes for that, and the result.
func TestACallOfATypedToolIsMadeOfFewPieces(t *testing.T) {
	type request struct {
		Size int    `json:"size"`
		Note string `json:"note"`
	}
	server, err := newServer(Plugin{Name: "p", Tools: []Tool{
		Func(Spec{Name: "echo", Description: "x"}, func(_ context.Context, in request) (string, error) { return in.Note, nil }),
	}}, lightly, true)
	if err != nil {
		t.Fatal(err)
	}
	call := &givenBytes{text: []byte(`{"size":1,"note":"n"}`)}
	if n := testing.AllocsPerRun(100, func() {
		if result, err := server.Call(t.Context(), transport.Info{Tool: "echo"}, call); err != nil || result.Text() != "n" {
			t.Errorf("%q, %v", result.Text(), err)
		}
	}); n > 8 {
		t.Errorf("a call makes %v allocations, want at most 8", n)
	}
}

// givenBytes is given with no allocation of its own.
type givenBytes struct {
	given
	text []byte
}

func (b *givenBytes) NextArguments(context.Context) ([]byte, bool, error) { return b.text, true, nil }

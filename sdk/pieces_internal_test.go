package sdk

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// A call makes few allocations: the call, its input, what encoding/json needs, and the result.
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

// givenBytes is given without an allocation.
type givenBytes struct {
	given
	text []byte
}

func (b *givenBytes) NextArguments(context.Context) ([]byte, bool, error) { return b.text, true, nil }

// wait blocks while calls run, and returns at once without calls.
func TestAServerWaitsForItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		if err := s.wait(t.Context()); err != nil {
			t.Error(err)
		}
		s.begin()
		s.begin()
		gone, leave := context.WithCancel(t.Context())
		leave()
		if err := s.wait(gone); err == nil {
			t.Error("it did not wait")
		}
		waited := make(chan error, 2)
		for range cap(waited) {
			go func() { waited <- s.wait(t.Context()) }()
		}
		synctest.Wait()
		s.end()
		synctest.Wait()
		if len(waited) > 0 {
			t.Error("it did not wait for the last call")
		}
		s.end()
		for range cap(waited) {
			if err := <-waited; err != nil {
				t.Error(err)
			}
		}
	})
}

// The SDK replaces invalid UTF-8 in a copy, so the tool's own result does not change.
func TestATextIsCorrectedInACopy(t *testing.T) {
	content := []tool.Content{tool.Text("good"), tool.Text("a\xffb"), {Kind: tool.ContentFile, Name: "\xff"}}
	result, err := resultOf(tool.Result{Content: content}, nil)
	if err != nil || result.Content[1].Text != "a\uFFFDb" || result.Content[2].Name != "\uFFFD" {
		t.Errorf("%+v, %v", result, err)
	}
	if content[1].Text != "a\xffb" || content[2].Name != "\xff" {
		t.Errorf("the tool's own is %+v", content)
	}
}

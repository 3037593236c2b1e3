package client

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// TestWhoHearsThatNobodyAnswersIsOnAnotherConnection: at the moment of the news, the next call would get a new one.
func TestWhoHearsThatNobodyAnswersIsOnAnotherConnection(t *testing.T) {
	c, err := Dial("unix://" + filepath.Join(t.TempDir(), "none.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 1000 { // each may be the one that is noticed too early
		if _, err := c.Open(t.Context(), tool.Call{Tool: "any"}, false); !errors.Is(err, ErrNoServer) {
			t.Fatalf("got %v", err)
		}
		if c.link.Connected() {
			t.Fatal("the connection on which nobody answered is the one for the next call")
		}
	}
}

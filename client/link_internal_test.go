package client

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/tool"
)

// The next call after a failed connection must not use that connection.
func TestAFailedConnectionIsNotReused(t *testing.T) {
	c, err := Dial("unix://" + filepath.Join(shortdir.Make(t), "none.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 1000 { // the race that the test looks for is rare
		if _, err := c.Open(t.Context(), tool.Call{Tool: "any"}, false); !errors.Is(err, ErrNoServer) {
			t.Fatalf("got %v", err)
		}
		links, err := c.fleet.Order(t.Context(), "")
		if err != nil || links[0].Connected() {
			t.Fatal("the connection on which nobody answered is the one for the next call")
		}
	}
}

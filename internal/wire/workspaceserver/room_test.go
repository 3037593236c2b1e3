package workspaceserver

import (
	"errors"
	"testing"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// The clients of one server take at most its room, and those of all at most that of the parent.
func TestRoom(t *testing.T) {
	total := NewRoom(3, nil)
	one, other := NewRoom(2, total), NewRoom(2, total)
	release, err := one.take(2)
	if err != nil {
		t.Fatal(err)
	}
	for name, full := range map[string]*Room{"one": one, "the parent": NewRoom(10, total)} {
		if _, err := full.take(2); !errors.Is(err, workspace.ErrUnavailable) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	rest, err := other.take(1)
	if err != nil {
		t.Errorf("another server has no room: %v", err)
	}
	rest()
	release()
	for range 2 { // nothing of what was refused is still reserved
		again, err := other.take(2)
		if err != nil {
			t.Fatal(err)
		}
		again()
	}
}

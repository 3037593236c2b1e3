package budget

import "testing"

// The bytes of a call count for the principal that the call is for, whichever connection it came
// over. So one principal of a delegate cannot take the memory of the others.
func TestHoldsCountForTheirPrincipal(t *testing.T) {
	b := New(64*mib, 20*mib)
	delegate, own := open(t, b, "agentd"), open(t, b, "red/ada")
	var red, more, blue, direct Hold
	for _, h := range []*Hold{&red, &more} {
		h.On(delegate)
		h.For("red/ada", true)
	}
	blue.On(delegate)
	blue.For("blue/bob", true)
	direct.On(own)
	if err := red.TryReserve(20 * mib); err != nil {
		t.Fatal(err)
	}
	for _, h := range []*Hold{&more, &direct} { // over the same connection, and over an own one
		exhausted(t, h.TryReserve(mib))
	}
	if delegate.Pause() > 0 {
		t.Error("the connection of the delegate is slowed because one of its principals has no room")
	}
	if own.Pause() == 0 {
		t.Error("the connection of a caller that has no room is not slowed")
	}
	if err := blue.TryReserve(20 * mib); err != nil {
		t.Errorf("another principal of the delegate has no room: %v", err)
	}
	red.Release()
	if err := direct.TryReserve(mib); err != nil {
		t.Error(err)
	}
	for _, h := range []*Hold{&blue, &direct} {
		h.Release()
	}
	delegate.Close()
	own.Close()
	if b.used != 0 || b.opened != 0 || len(b.principals) != 0 {
		t.Errorf("left are %d and %d bytes of %d principals", b.used, b.opened, len(b.principals))
	}
}

// What a delegate has reserved for a call moves to the principal of the call, if that has room.
func TestHoldsMove(t *testing.T) {
	b := New(64*mib, 20*mib)
	delegate := open(t, b, "agentd")
	reserve := func(n int) *Hold {
		h := &Hold{}
		h.On(delegate)
		if err := h.TryReserve(n); err != nil {
			t.Fatal(err)
		}
		return h
	}
	var moved []*Hold
	for _, principal := range []string{"red/ada", "red/ada", "blue/bob"} {
		h := reserve(9 * mib)
		if err := h.Move(principal); err != nil {
			t.Fatal(err)
		}
		moved = append(moved, h)
	}
	last := reserve(9 * mib)
	exhausted(t, last.Move("red/ada"))
	if used := b.principals["red/ada"].used; used > 20*mib {
		t.Errorf("red/ada has %d MiB", used/mib)
	}
	for _, h := range append(moved, last) {
		h.Release()
	}
	delegate.Close()
	if b.used != 0 || b.opened != 0 || len(b.principals) != 0 {
		t.Errorf("left are %d and %d bytes of %d principals", b.used, b.opened, len(b.principals))
	}
}

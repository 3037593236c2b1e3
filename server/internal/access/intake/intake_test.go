package intake

import (
	"log/slog"
	"net"
	"testing"

	"github.com/toolhost/toolhost/server/internal/fairness/budget"
)

// A connection yields after each 64 KiB of large messages or argument text, and not for small
// messages.
func TestLargeTextTakesTurns(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		text  []int // of pieces of arguments
		due   bool
	}{
		{"large messages", []int{40, 71_000}, nil, true},
		{"small messages", []int{900, 900, 30_000, 900, 31_000, 900, 20_000, 900}, nil, false},
		{"pieces of arguments", nil, []int{31_000, 31_000, 31_000}, true},
		{"few pieces of arguments", nil, []int{31_000, 31_000}, false},
		{"pieces that come in large messages", nil, []int{70_000, 70_000}, false}, // the messages were counted
	} {
		t.Run(c.name, func(t *testing.T) {
			account, err := budget.New(64<<20, 0).Open("uid:4711")
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := net.Pipe()
			intake := New(ours, account, slog.New(slog.DiscardHandler))
			defer intake.Close()
			wire := wireOf(t, c.sizes, false)
			go func() { _, _ = theirs.Write(wire) }() // ends when all of it is read
			buf := make([]byte, len(wire))
			for got := 0; got < len(wire); {
				n, err := intake.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				got += n
			}
			for _, n := range c.text {
				Carry(account, n)
			}
			if due := account.Due(); due != c.due {
				t.Errorf("others are due: %v, want %v", due, c.due)
			}
			if account.Due() {
				t.Error("others are due again, although nothing came")
			}
		})
	}
}

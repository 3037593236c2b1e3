package budget_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/fairness/budget"
)

// TestLend checks that a hold takes over bytes of another one, also if there is no room.
func TestLend(t *testing.T) {
	b := budget.New(64<<20, 0)
	var from, to budget.Hold
	from.On(b.Inner())
	from.For("server", false)
	to.On(b.Inner())
	to.For("caller", false)
	if err := from.TryReserve(100 << 20); err != nil {
		t.Fatal(err)
	}
	ctx := budget.Lend(t.Context(), &from)
	used := func(what string, want int64) {
		t.Helper()
		if got := b.Used(); got != want<<20 {
			t.Errorf("%s, %d MiB are used, want %d", what, got>>20, want)
		}
	}
	if err := to.Reserve(ctx, 60<<20); err != nil {
		t.Fatal(err)
	}
	used("after the loan", 100)
	to.Release()
	used("after its release", 40)
	if err := to.Reserve(ctx, 45<<20); err != nil {
		t.Fatal(err)
	}
	used("after a larger loan", 45)
	from.Release()
	used("without the lender", 45)
	to.Release()
	used("in the end", 0)
}

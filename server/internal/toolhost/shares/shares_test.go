package shares_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/shares"
)

// Largest is always the owner that a search through all amounts finds.
func TestLargest(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var s shares.Shares
	amounts := map[string]int64{}
	for step := range 10_000 {
		owner := fmt.Sprint(random.IntN(20))
		by := int64(random.IntN(100)) - min(amounts[owner], 50)
		if random.IntN(10) == 0 {
			by = -amounts[owner]
		}
		s.Add(owner, by)
		amounts[owner] += by
		want := ""
		for name, amount := range amounts {
			if amount > 0 && (want == "" || amount > amounts[want] || amount == amounts[want] && name < want) {
				want = name
			}
		}
		if got := s.Largest(); got != want || s.Of(owner) != amounts[owner] {
			t.Fatalf("seed %d, step %d: the largest is %q, want %q of %v", seed, step, got, want, amounts)
		}
	}
}

package storetest

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// Claimer is a store with claims.
type Claimer interface {
	runstore.Store
	runstore.Claims
	Close() error
}

// RunClaims runs the suite of runstore.Claims. open opens two stores of one journal without runs,
// which end with the test at the latest.
func RunClaims(t *testing.T, open func(t *testing.T) (one, other Claimer)) {
	one, other := open(t)
	for _, id := range []string{"r", "s"} {
		Must(t, one, id, 0, 1)
		one.Release(id, 0) // a store may claim a run for whoever creates it
	}
	if Claimed(t, one, "r") {
		t.Error("a run is claimed before any store claims it")
	}
	_, err := one.Claim("none")
	wantError(t, err, runstore.ErrNotFound)
	epoch := MustClaim(t, one, "r")
	_, err = other.Claim("r")
	wantError(t, err, runstore.ErrClaimed)
	other.Release("r", epoch) // other does not have the claim
	for name, store := range map[string]Claimer{"the owner": one, "another": other} {
		if !Claimed(t, store, "r") || Claimed(t, store, "s") {
			t.Errorf("%s sees the claim of r as %t, and one of s as %t", name, Claimed(t, store, "r"), Claimed(t, store, "s"))
		}
	}
	MustUnder(t, one, "r", epoch, 1, 1)
	again := MustClaim(t, one, "r")
	if again != epoch { // a store with epochs
		wantError(t, one.Append(t.Context(), under("r", epoch, 2, 1)), runstore.ErrConflict)
		one.Release("r", epoch) // it has ended
	}
	MustUnder(t, one, "r", again, 2, 1)
	one.Release("r", again)
	next := MustClaim(t, other, "r")
	if next < again || again > 0 && next == again {
		t.Errorf("the epochs of claims are %d and then %d", again, next)
	}
	MustClaim(t, one, "s")
	MustUnder(t, other, "r", next, 3, 1)
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if Claimed(t, other, "s") || !Claimed(t, other, "r") {
		t.Error("Close gives up its own claims, and no others")
	}
	for range 2 {
		got, err := other.ClaimAll([]string{"s", "r"})
		_, r := got["r"]
		_, s := got["s"]
		if err != nil || len(got) != 2 || !r || !s {
			t.Errorf("after Close: %v, %v", got, err)
		}
	}
}

// MustClaim claims a run, fails the test if that fails, and returns the epoch.
func MustClaim(t *testing.T, store runstore.Claims, runID string) uint64 {
	t.Helper()
	epoch, err := store.Claim(runID)
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}

// MustUnder is Must under a claim.
func MustUnder(t *testing.T, store runstore.Store, runID string, epoch, after uint64, n int) {
	t.Helper()
	if err := store.Append(t.Context(), under(runID, epoch, after, n)); err != nil {
		t.Fatalf("appending %d after %d: %v", n, after, err)
	}
}

func under(runID string, epoch, after uint64, n int) runstore.Batch {
	return runstore.Batch{RunID: runID, After: after, Epoch: epoch, Records: Records(int(after)+1, n), Head: runstore.Head{Unfinished: true}}
}

// Claimed reports whether a run is claimed, and fails the test if the store cannot say it.
func Claimed(t *testing.T, store runstore.Claims, runID string) bool {
	t.Helper()
	claimed, err := store.Claimed([]string{"none", runID})
	if err != nil || len(claimed) > 1 || claimed["none"] {
		t.Fatal(claimed, err)
	}
	return claimed[runID]
}

package storetest

import (
	"maps"
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
	}
	if Claimed(t, one, "r") {
		t.Error("a run is claimed before any store claims it")
	}
	wantError(t, one.Claim("none"), runstore.ErrNotFound)
	for range 2 { // the second claim changes nothing
		if err := one.Claim("r"); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, other.Claim("r"), runstore.ErrClaimed)
	other.Release("r") // other does not have the claim
	for name, store := range map[string]Claimer{"the owner": one, "another": other} {
		if !Claimed(t, store, "r") || Claimed(t, store, "s") {
			t.Errorf("%s sees the claim of r as %t, and one of s as %t", name, Claimed(t, store, "r"), Claimed(t, store, "s"))
		}
	}
	Must(t, one, "r", 1, 1)
	one.Release("r")
	for _, err := range []error{other.Claim("r"), one.Claim("s")} {
		if err != nil {
			t.Errorf("after the release: %v", err)
		}
	}
	Must(t, other, "r", 2, 1)
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if Claimed(t, other, "s") || !Claimed(t, other, "r") {
		t.Error("Close gives up its own claims, and no others")
	}
	for range 2 {
		if got, err := other.ClaimAll([]string{"s", "r"}); err != nil || !maps.Equal(got, map[string]bool{"r": true, "s": true}) {
			t.Errorf("after Close: %v, %v", got, err)
		}
	}
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

package sqlite_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/internal/agent/runstore/sqlite"
)

func claimed(t *testing.T, store *sqlite.Store, runID string) bool {
	t.Helper()
	claimed, err := store.Claimed(runID)
	if err != nil {
		t.Fatal(err)
	}
	return claimed
}

func TestClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	one, other := open(t, path), open(t, path)
	if claimed(t, one, "r") {
		t.Error("a run is claimed before any store claims it")
	}
	if _, err := os.Stat(path + sqlite.ClaimsSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a question makes a file: %v", err)
	}
	for range 2 { // the second claim changes nothing
		if err := one.Claim("r"); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Claim("r"); !errors.Is(err, runstore.ErrClaimed) {
		t.Errorf("a second claim: %v", err)
	}
	other.Release("r") // other does not have the claim
	for name, store := range map[string]*sqlite.Store{"the owner": one, "another": other} {
		if !claimed(t, store, "r") || claimed(t, store, "s") {
			t.Errorf("%s sees the claim of r as %t, and one of s", name, claimed(t, store, "r"))
		}
	}
	one.Release("r")
	if err := errors.Join(other.Claim("r"), one.Claim("s")); err != nil {
		t.Errorf("after the release: %v", err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if claimed(t, other, "s") || !claimed(t, other, "r") {
		t.Error("Close gives up its own claims, and no others")
	}
}

// A claim ends with its process.
func TestClaimOfAKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), claimerEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if n, err := out.Read(make([]byte, 1)); n != 1 {
		t.Fatal(err)
	}
	if !claimed(t, store, "r") {
		t.Error("the claim of another process is not seen")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if claimed(t, store, "r") {
		t.Error("the claim outlives its process")
	}
	if err := store.Claim("r"); err != nil {
		t.Error(err)
	}
}

package sqlite_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
)

func TestClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	one, other := open(t, path), open(t, path)
	if storetest.Claimed(t, one, "r") || storetest.Claimed(t, other, "r") {
		t.Error("a run is claimed before any store claims it")
	}
	if _, err := os.Stat(path + sqlite.ClaimsSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a question makes a file: %v", err)
	}
	storetest.RunClaims(t, func(*testing.T) (_, _ storetest.Claimer) { return one, other })
}

// If something else has the name of the file with the locks, the error names it and says what to
// do.
func TestClaimsNeedAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := os.Mkdir(path+sqlite.ClaimsSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	store := open(t, path)
	_, asked := store.Claimed([]string{"r"})
	for _, err := range []error{asked, store.Claim("r")} {
		if err == nil || !strings.Contains(err.Error(), path+sqlite.ClaimsSuffix+" is not a regular file") || !strings.Contains(err.Error(), "remove") {
			t.Errorf("the error is %v", err)
		}
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
	if _, err := cmd.StdinPipe(); err != nil { // it stays open, so that the process waits
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if n, err := out.Read(make([]byte, 1)); n != 1 {
		t.Fatal(err)
	}
	if !storetest.Claimed(t, store, "r") {
		t.Error("the claim of another process is not seen")
	}
	_ = cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the process ended before it was killed: %v", err)
	}
	if storetest.Claimed(t, store, "r") {
		t.Error("the claim outlives its process")
	}
	if err := store.Claim("r"); err != nil {
		t.Error(err)
	}
}

package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
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

// A claim that waits for the journal holds up no other run.
func TestClaimsWaitForTheJournalAlone(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "runs.db"))
	for _, run := range []string{"a", "b"} {
		storetest.Must(t, store, run, 0, 1)
	}
	if _, err := store.Claim("a"); err != nil {
		t.Fatal(err)
	}
	waiting, give, err := store.Occupy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := waiting()
	claimed, released := make(chan error, 1), make(chan struct{})
	go func() { _, err := store.Claim("b"); claimed <- err }() // ends after give
	eventually.Holds(t, "the claim waits", func() bool { return waiting() > before })
	go func() { // ends at once
		defer close(released)
		store.Release("a", 0)
	}()
	eventually.Holds(t, "another run is released", func() bool {
		select {
		case <-released:
			return true
		default:
			return false
		}
	})
	give()
	if err := <-claimed; err != nil {
		t.Error(err)
	}
}

// If something else has the name of the file with the locks, the error names it and says what to
// do.
func TestClaimsNeedAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := os.Mkdir(path+sqlite.ClaimsSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	store := open(t, path)
	storetest.Must(t, store, "r", 0, 1)
	_, asked := store.Claimed([]string{"r"})
	_, claimed := store.Claim("r")
	for _, err := range []error{asked, claimed} {
		if err == nil || !strings.Contains(err.Error(), path+sqlite.ClaimsSuffix+" is not a regular file") || !strings.Contains(err.Error(), "remove") {
			t.Errorf("the error is %v", err)
		}
	}
}

// A claim ends with its process.
func TestClaimOfAKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	storetest.Must(t, store, "r", 0, 1)
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
	if _, err := store.Claim("r"); err != nil {
		t.Error(err)
	}
}

// The kernel needs no more locks for many claims than for one, so that the cost of a claim does not
// grow with their number.
func TestAdjacentClaimsAreOneLock(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc/locks")
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	var runs []string
	for n := range 100 {
		runs = append(runs, fmt.Sprint("run-", n))
		storetest.Must(t, store, runs[n], 0, 1)
	}
	// The kernel shows its list in pieces, and other processes change it meanwhile: a lock may be
	// missing, or be there twice.
	locks := func(want int) {
		t.Helper()
		info, err := os.Stat(path + sqlite.ClaimsSuffix)
		if err != nil {
			t.Fatal(err)
		}
		inode := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
		eventually.Shows(t, "the number of locks", func() (bool, any) {
			text, err := os.ReadFile("/proc/locks")
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]bool{}
			for line := range strings.Lines(string(text)) {
				if _, lock, _ := strings.Cut(line, ": "); strings.Contains(lock, inode) {
					found[lock] = true
				}
			}
			return len(found) == want, found
		})
	}
	if claimed, err := store.ClaimAll(runs); err != nil || len(claimed) != len(runs) {
		t.Fatalf("claimed %d runs, %v", len(claimed), err)
	}
	locks(1)
	store.Release(runs[50], 0)
	locks(2)
	other := open(t, path)
	if _, err := other.Claim(runs[50]); err != nil {
		t.Error(err)
	}
	if claimed, err := other.ClaimAll(runs); err != nil || len(claimed) != 1 {
		t.Errorf("another store has claimed %v, %v, want one", claimed, err)
	}
}

// A process that locks digests of ids, as agentds of before did, works on the journal. No run is
// claimed beside it.
func TestClaimsBesideAnOlderAgentd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	storetest.Must(t, store, "r", 0, 1)
	older, err := os.OpenFile(path+sqlite.ClaimsSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: 0x3fedcba987654321, Len: 1}
	if err := sqlite.SetLock(older, &lock); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Claim("r"); err == nil || !strings.Contains(err.Error(), "an older agentd works on runs of this journal") {
		t.Errorf("beside an older agentd: %v", err)
	}
	lock.Type = unix.F_UNLCK
	if err := sqlite.SetLock(older, &lock); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Claim("r"); err != nil {
		t.Errorf("after its end: %v", err)
	}
}

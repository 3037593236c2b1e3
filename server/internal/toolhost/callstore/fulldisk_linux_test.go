package callstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

func childrenHere() map[string]func([]string) error {
	return map[string]func([]string) error{"fullDisk": fillDisk}
}

// TestFullDisk runs fillDisk in another process, because the limit that it sets applies to the
// whole process.
func TestFullDisk(t *testing.T) {
	cmd := exec.Command(os.Args[0], config(t).Path)
	cmd.Env = append(os.Environ(), childEnv+"=fullDisk")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// fillDisk makes a store whose file cannot be written for a while.
func fillDisk(args []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	ctx := context.Background()
	cfg := callstore.Config{Path: args[0]}
	store, err := callstore.Open(ctx, cfg)
	if err != nil {
		return err
	}
	for _, id := range []string{"a", "b", "c", "large"} {
		if err := store.Begin(ctx, entry(id)); err != nil {
			return err
		}
	}
	if err := errors.Join(nearlyFull(ctx, store, cfg.Path), quiteFull(ctx, store), limitFiles(1<<62)); err != nil {
		return err
	}
	if err := store.Begin(ctx, entry("new")); err != nil {
		return fmt.Errorf("beginning when there is room again: %w", err)
	}
	if err := errors.Join(wantStates(ctx, store, callstore.StateBegun), store.Close()); err != nil {
		return err
	}
	if store, err = callstore.Open(ctx, cfg); err != nil {
		return err
	}
	return errors.Join(wantStates(ctx, store, callstore.StateUnknown), store.Close())
}

// nearlyFull leaves room for the way a call ended, but not for its result.
func nearlyFull(ctx context.Context, store *callstore.Store, path string) error {
	log, err := os.Stat(path + "-wal")
	if err != nil {
		return err
	}
	if err := limitFiles(uint64(log.Size()) + 64<<10); err != nil {
		return err
	}
	if err := store.End(ctx, key("large"), answer(strings.Repeat("x", 1<<20))); err != nil {
		return fmt.Errorf("ending with a large result on a nearly full disk: %w", err)
	}
	e, _, err := store.Find(ctx, key("large"))
	if err != nil || e.How != tool.CallSucceeded || e.Outcome != nil {
		return fmt.Errorf("a large result on a nearly full disk: %+v, %v", e, err)
	}
	return nil
}

func quiteFull(ctx context.Context, store *callstore.Store) error {
	if err := limitFiles(1); err != nil {
		return err
	}
	for range 3 {
		if err := store.Begin(ctx, entry("new")); err == nil || errors.Is(err, callstore.ErrTaken) {
			return fmt.Errorf("beginning on a full disk: %v", err)
		}
	}
	if err := store.End(ctx, key("a"), answer("done")); err == nil {
		return errors.New("ended on a full disk")
	}
	if err := store.Forget(ctx, key("b")); err == nil {
		return errors.New("forgot on a full disk")
	}
	if e, _, err := store.Find(ctx, key("a")); err != nil || e.State != callstore.StateBegun {
		return fmt.Errorf("reading on a full disk: %q, %v", e.State, err)
	}
	return nil
}

func limitFiles(bytes uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = min(bytes, limit.Max)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

func wantStates(ctx context.Context, store *callstore.Store, open callstore.State) error {
	var errs []error
	for id, want := range map[string]callstore.State{"large": callstore.StateEnded, "a": callstore.StateEnded, "b": "", "c": open, "new": open} {
		e, found, err := store.Find(ctx, key(id))
		if err != nil || e.State != want || found != (want != "") {
			errs = append(errs, fmt.Errorf("%s is %q, %v; want %q", id, e.State, err, want))
		}
	}
	return errors.Join(errs...)
}

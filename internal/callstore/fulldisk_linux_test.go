package callstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/callstore"
)

func childrenHere() map[string]func([]string) error {
	return map[string]func([]string) error{"fullDisk": fillDisk}
}

// TestFullDisk runs fillDisk in a process of its own, because its limit is one of the whole process.
func TestFullDisk(t *testing.T) {
	cmd := exec.Command(os.Args[0], config(t).Path)
	cmd.Env = append(os.Environ(), childEnv+"=fullDisk")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// fillDisk makes a store whose file cannot be written for a while.
func fillDisk(args []string) error {
	ctx := context.Background()
	cfg := callstore.Config{Path: args[0]}
	store, err := callstore.Open(ctx, cfg)
	if err != nil {
		return err
	}
	for _, id := range []string{"a", "b", "c"} {
		if err := store.Begin(ctx, entry(id)); err != nil {
			return err
		}
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := func(bytes uint64) error {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
			return err
		}
		now.Cur = min(bytes, now.Max)
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now)
	}
	if err := limit(1); err != nil {
		return err
	}
	for range 3 {
		if err := store.Begin(ctx, entry("new")); err == nil || errors.Is(err, callstore.ErrTaken) {
			return fmt.Errorf("beginning on a full disk: %w", err)
		}
	}
	if err := store.End(ctx, key("a"), answer("done")); err == nil {
		return errors.New("ended on a full disk")
	}
	if err := store.Forget(ctx, key("b")); err == nil {
		return errors.New("forgot on a full disk")
	}
	if e, _, err := store.Find(ctx, key("a")); err != nil || e.State != callstore.StateBegun {
		return fmt.Errorf("reading on a full disk: %q, %w", e.State, err)
	}
	if err := limit(1 << 62); err != nil {
		return err
	}
	if err := store.Begin(ctx, entry("new")); err != nil {
		return fmt.Errorf("beginning when there is room again: %w", err)
	}
	want := func(when string) error {
		for id, want := range map[string]callstore.State{"a": callstore.StateEnded, "b": "", "c": callstore.StateBegun, "new": callstore.StateBegun} {
			e, found, err := store.Find(ctx, key(id))
			if when != "" && want == callstore.StateBegun {
				want = callstore.StateUnknown
			}
			if err != nil || e.State != want || found != (want != "") {
				return fmt.Errorf("%s%s: %q, %w; want %q", id, when, e.State, err, want)
			}
		}
		return nil
	}
	if err := errors.Join(want(""), store.Close()); err != nil {
		return err
	}
	if store, err = callstore.Open(ctx, cfg); err != nil {
		return err
	}
	return errors.Join(want(" after opening again"), store.Close())
}

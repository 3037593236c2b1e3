package supervisor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// Only one takeover at a time changes a file. Takeovers of other files do not wait for it.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		first, err := turns.take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		other, err := turns.take(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		taken := false
		go func() { // ends with the release of the first
			second, err := turns.take(t.Context(), "a")
			if err != nil {
				t.Error(err)
				return
			}
			taken = true
			second()
		}()
		synctest.Wait()
		if taken {
			t.Error("two takeovers change one file")
		}
		first()
		synctest.Wait()
		if !taken {
			t.Error("the second takeover still waits")
		}
		other()
		if len(turns.bySource) != 0 {
			t.Errorf("%d files are remembered", len(turns.bySource))
		}
	})
}

// A takeover whose context ends leaves the turn to the others.
func TestTurnGivenUp(t *testing.T) {
	var turns turns
	release, err := turns.take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrStopping)
	if _, err := turns.take(ctx, "a"); !errors.Is(err, ErrStopping) {
		t.Errorf("the turn failed with %v", err)
	}
	if len(turns.bySource) != 1 {
		t.Error("the file that is changed was forgotten")
	}
	release()
	if again, err := turns.take(t.Context(), "a"); err != nil {
		t.Error(err)
	} else {
		again()
	}
	if len(turns.bySource) != 0 {
		t.Errorf("%d files are remembered", len(turns.bySource))
	}
}

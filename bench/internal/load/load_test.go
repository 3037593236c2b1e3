package load_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/bench/internal/load"
)

func sleep(context.Context) error {
	time.Sleep(10 * time.Millisecond)
	return nil
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := load.Run(t.Context(), 4, time.Second, sleep)
		if err != nil {
			t.Fatal(err)
		}
		if s.P50 != 10*time.Millisecond || s.P99 != 10*time.Millisecond || s.Calls < 396 || s.Calls > 404 || s.Rate < 396 || s.Rate > 404 {
			t.Errorf("four callers of what takes 10 ms saw %+v in a second", s)
		}
	})
}

func TestPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := load.Paced(t.Context(), 5, 40*time.Millisecond, sleep)
		if err != nil {
			t.Fatal(err)
		}
		if s.Calls != 5 || s.P50 != 10*time.Millisecond || s.Rate != 20 {
			t.Errorf("five calls of 10 ms, 40 ms apart, are %+v", s)
		}
	})
}

func TestTheFirstErrorEndsALoad(t *testing.T) {
	broken := errors.New("broken")
	fail := func(context.Context) error { return broken }
	if _, err := load.Run(t.Context(), 8, time.Hour, fail); !errors.Is(err, broken) {
		t.Errorf("Run: %v", err)
	}
	if _, err := load.Paced(t.Context(), 8, 0, fail); !errors.Is(err, broken) {
		t.Errorf("Paced: %v", err)
	}
}

func TestProcesses(t *testing.T) {
	own := load.Processes{os.Getpid()}
	memory, err := own.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if len(memory) == 0 {
		t.Error("no memory of this process")
	}
	for name, bytes := range memory {
		if bytes < 1<<20 {
			t.Errorf("%s is resident with %d bytes", name, bytes)
		}
	}
	if _, err := own.CPU(); err != nil {
		t.Error(err)
	}
}

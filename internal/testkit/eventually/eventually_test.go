package eventually_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// failure records what a test says when it fails.
type failure struct {
	testing.TB
	message string
}

func (f *failure) Helper() {}

func (f *failure) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		eventually.Holds(t, "a second has passed", func() bool { return time.Since(start) >= time.Second })
		if waited := time.Since(start); waited > time.Second+10*time.Millisecond {
			t.Errorf("returned after %v, want one second", waited)
		}
	})
}

func TestAConditionThatNeverHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, tries := &failure{}, 0
		go eventually.Shows(f, "the door is open", func() (bool, any) { tries++; return false, "closed" })
		time.Sleep(eventually.Patience + time.Second)
		synctest.Wait()
		if !strings.Contains(f.message, "the door is open: closed") || tries < 1000 {
			t.Errorf("after %d tries the test says %q", tries, f.message)
		}
	})
}

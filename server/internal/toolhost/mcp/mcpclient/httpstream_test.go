package mcpclient

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// A server that waits for an answer may be silent, and no longer when it has the answer.
func TestSilenceDuringAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		defer to.Close()
		began := time.Now()
		ctx, cancel := context.WithCancelCause(t.Context())
		answered := func() bool { return time.Since(began) > 59*time.Minute }
		r := watch(from, time.Minute, func() bool { return !answered() }, cancel)
		go func() { _, _ = r.Read(make([]byte, 1)) }() // ends with the pipe
		<-ctx.Done()
		if took := time.Since(began); took != time.Hour || !errors.Is(context.Cause(ctx), errSilent) {
			t.Errorf("the request is canceled after %v: %v", took, context.Cause(ctx))
		}
		_ = to.Close()
	})
}

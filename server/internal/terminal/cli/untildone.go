package cli

import (
	"bytes"
	"context"
	"io"
	"time"
)

// lastWords is how long a write to a stream that is not read may go on after the program was told
// to end. It is long enough for a reader that is only slow.
const lastWords = time.Second

// UntilDone returns a writer to a standard stream of a program that runs until it is told to end.
// It must end then, also if no process reads the stream: a terminal may be stopped with Ctrl-S, and
// a pipe may be full. So a Write gives up soon after ctx has ended, and it and all later ones
// return the cause of that end. Before, a Write waits like w. What was given up ends with the
// process.
//
// One goroutine at a time may write. Nothing else may write to w after a Write was given up.
func UntilDone(ctx context.Context, w io.Writer) io.Writer { return &untilDone{ctx: ctx, to: w} }

type untilDone struct {
	ctx     context.Context
	to      io.Writer
	givenUp bool
}

// Write implements io.Writer.
func (u *untilDone) Write(text []byte) (int, error) {
	if u.givenUp {
		return 0, context.Cause(u.ctx)
	}
	type outcome struct {
		n   int
		err error
	}
	written := make(chan outcome, 1)
	data := bytes.Clone(text) // the caller may change its text after a write was given up
	go func() {               // ends with the write, or with the process
		n, err := u.to.Write(data)
		written <- outcome{n, err}
	}()
	select {
	case o := <-written:
		return o.n, o.err
	case <-u.ctx.Done():
	}
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case o := <-written:
		return o.n, o.err
	case <-timer.C:
		u.givenUp = true
		return 0, context.Cause(u.ctx)
	}
}

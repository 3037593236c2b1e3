package commands

import (
	"context"
	"io"
	"os"
)

// readFile reads at most the first bytes of a file that the user named; see readInput.
func readFile(ctx context.Context, path string, most int64) ([]byte, error) {
	return readInput(ctx, func() (io.ReadCloser, error) { return os.Open(path) }, most)
}

// readInput reads at most the first bytes of what the user named. It may be a pipe or a terminal,
// which may never be opened by another process, send nothing, or never end. If ctx ends first,
// readInput returns its error.
func readInput(ctx context.Context, open func() (io.ReadCloser, error), most int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() { // ends with the read; the process that is interrupted here ends without it
		from, err := open()
		if err != nil {
			read <- result{nil, err}
			return
		}
		data, err := io.ReadAll(io.LimitReader(from, most))
		_ = from.Close() // it was only read
		read <- result{data, err}
	}()
	select {
	case r := <-read:
		return r.data, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

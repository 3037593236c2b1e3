package main

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// lanes serializes changes of the same file. Two edits of one turn run concurrently, and the second
// must see the result of the first. Different files may share a lane, which only costs time.
type lanes struct {
	seed maphash.Seed
	lane [64]chan struct{} // each has a token while it is free
}

func newLanes() *lanes {
	l := &lanes{seed: maphash.MakeSeed()}
	for i := range l.lane {
		l.lane[i] = make(chan struct{}, 1)
		l.lane[i] <- struct{}{}
	}
	return l
}

// enterFile waits for the lane of a file of a workspace. The caller must call leave.
func (l *lanes) enterFile(ctx context.Context, w workspace.Workspace, path string) (leave func(), err error) {
	name, err := w.Rel(path)
	if err != nil {
		return nil, err
	}
	return l.enter(ctx, sdk.Workspace(ctx), name)
}

// enter waits for the lane of a file. The caller must call leave.
func (l *lanes) enter(ctx context.Context, dir, name string) (leave func(), err error) {
	lane := l.lane[maphash.String(l.seed, dir+"\x00"+name)%uint64(len(l.lane))]
	select {
	case <-lane:
		return func() { lane <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for another change of %q: %w", name, ctx.Err())
	}
}

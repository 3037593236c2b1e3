package main

import (
	"context"
	"fmt"
	"hash/maphash"
)

// lanes let those who change the same file do so one after the other: two edits of one turn run at the same time, and the
// second must see what the first did. Files share a lane by chance, which costs time alone.
type lanes struct {
	seed maphash.Seed
	lane [64]chan struct{} // each holds a token while it is free
}

func newLanes() *lanes {
	l := &lanes{seed: maphash.MakeSeed()}
	for i := range l.lane {
		l.lane[i] = make(chan struct{}, 1)
		l.lane[i] <- struct{}{}
	}
	return l
}

// enter waits until nobody else changes the file. The caller calls leave when it is done.
func (l *lanes) enter(ctx context.Context, dir, name string) (leave func(), err error) {
	lane := l.lane[maphash.String(l.seed, dir+"\x00"+name)%uint64(len(l.lane))]
	select {
	case <-lane:
		return func() { lane <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for another change of %q: %w", name, ctx.Err())
	}
}

package agent

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/toolhost/toolhost/tool"
)

// room bounds the bytes of the contents of attachments that are in memory at the same time. A
// caller sends a content once, and each request of the run loads it again: without a bound, a
// thousand runs would hold a thousand times what one run may have.
//
// What finds no room waits in order of arrival, so that small requests never overtake a large one
// for ever. A holder must not wait for more room. All methods are safe for concurrent use.
type room struct {
	size int64
	left *semaphore.Weighted
}

func newRoom(size int64) *room { return &room{size, semaphore.NewWeighted(size)} }

// take waits for room for n bytes. The caller must call free once. The error is a *tool.Error: ctx
// ended, or n bytes never find room.
func (r *room) take(ctx context.Context, n int64) (free func(), err error) {
	if n > r.size {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the attachments have %d bytes, and this agentd holds at most %d in memory; start another run, or raise attachment_memory in agentd.yaml", n, r.size)
	}
	if err := r.left.Acquire(ctx, n); err != nil {
		return nil, tool.AsError(context.Cause(ctx))
	}
	return func() { r.left.Release(n) }, nil
}

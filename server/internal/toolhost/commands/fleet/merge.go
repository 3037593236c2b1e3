package fleet

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
)

// Merge reads a stream of each node, all at the same time, and calls found for each value, in the
// order of compare if each stream is in that order. It holds two values of each node, however many
// there are. A node that takes longer than wait for its next value, or that fails, is left out from
// then on, and the others go on. Merge ends if found returns an error, and returns it. The answers
// have the number of values of each node, also if its state is not Answered: then some are missing.
func Merge[T any](ctx context.Context, nodes []target.Node, wait time.Duration, open func(context.Context, *client.Client) iter.Seq2[T, error],
	compare func(a, b T) int, found func(target.Node, T) error,
) ([]Answer[int], error) {
	var reading sync.WaitGroup
	defer reading.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	streams := make([]*stream[T], len(nodes))
	for i, node := range nodes {
		s := &stream[T]{values: make(chan T)}
		s.ctx, s.stop = context.WithCancel(ctx)
		streams[i] = s
		reading.Go(func() { s.read(node, open) }) // ends with stop
	}
	answers := make([]Answer[int], len(nodes))
	for {
		least, err := next(ctx, streams, wait, compare)
		if err != nil {
			return nil, err
		}
		if least < 0 {
			break
		}
		if err := found(nodes[least], *streams[least].head); err != nil {
			return nil, err
		}
		answers[least].Value++
		streams[least].head = nil
	}
	for i, s := range streams {
		read := answers[i].Value
		answers[i] = answerOf[int](ctx, s.ctx, nodes[i], s.err, wait)
		answers[i].Value = read
	}
	return answers, nil
}

// stream is what one node says.
type stream[T any] struct {
	values chan T // closed when the node says nothing more; err is then set
	err    error
	head   *T   // received and not yet passed on
	over   bool // nothing more is received
	ctx    context.Context
	stop   context.CancelFunc
}

func (s *stream[T]) read(node target.Node, open func(context.Context, *client.Client) iter.Seq2[T, error]) {
	defer close(s.values)
	toolhost, err := client.Dial(node.Address.String(), node.DialOptions()...)
	if err != nil {
		s.err = err
		return
	}
	defer toolhost.Close()
	for value, err := range open(s.ctx, toolhost) {
		if err == nil {
			err = Check(value)
		}
		if err != nil {
			s.err = err
			return
		}
		select {
		case s.values <- value:
		case <-s.ctx.Done():
			s.err = s.ctx.Err()
			return
		}
	}
}

// next waits until each stream has a value or is over, and returns the number of the one with the
// least value; -1: all are over.
func next[T any](ctx context.Context, streams []*stream[T], wait time.Duration, compare func(a, b T) int) (least int, err error) {
	least = -1
	late, stop := context.WithTimeout(ctx, wait)
	defer stop()
	for i, s := range streams {
		if s.head == nil && !s.over {
			s.receive(late)
		}
		if s.head != nil && (least < 0 || compare(*s.head, *streams[least].head) < 0) {
			least = i
		}
	}
	return least, ctx.Err()
}

// receive waits for the next value. A stream that is late is over. One whose value is there is not
// late, also if another one has used the time up.
func (s *stream[T]) receive(late context.Context) {
	var value T
	more := false
	select {
	case value, more = <-s.values:
	case <-late.Done():
		select {
		case value, more = <-s.values:
		default:
			s.stop()
			for range s.values { // until the reader has seen it
			}
		}
	}
	if s.over = !more; more {
		s.head = &value
	}
}

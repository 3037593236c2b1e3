package main

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/toolhost/toolhost/plugins/fs/search"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	maxSearchers = 8 // concurrently searched files; each has a buffer for lines of up to 8 MiB
	// files that may be searched ahead of the reported one; the folder of each is open
	maxAhead = 64
)

// treeSearch searches files concurrently and reports them in the order of their paths.
type treeSearch struct {
	matcher *search.Matcher
	want    search.Want
	wants   func(visited) bool
	report  func(path string, found search.Found, err error) (more bool) // never called concurrently
}

// job is one file. done is closed when found and err are set.
type job struct {
	at    visited
	found search.Found
	err   error
	done  chan struct{}
}

// run searches the files of a walk whose paths match the glob, or the one file that the walk starts
// at.
func (s *treeSearch) run(ctx context.Context, ws workspace.Workspace, w *walk, glob pattern) error {
	s.wants = func(at visited) bool {
		return at.entry.Type().IsRegular() && (glob.glob == "" || glob.fits(at.below))
	}
	err := s.tree(ctx, ws, w)
	if !errors.Is(err, workspace.ErrNotFolder) {
		return err
	}
	if info, statErr := ws.Stat(ctx, w.start); statErr != nil || info.Mode.IsDir() {
		return err
	}
	return s.file(ctx, ws, w.start)
}

// tree walks in one goroutine, searches in several, and reports in the caller's. All goroutines
// have ended when it returns.
func (s *treeSearch) tree(ctx context.Context, ws workspace.Workspace, w *walk) error {
	searchers := min(runtime.NumCPU(), maxSearchers)
	ctx, cancel := context.WithCancelCause(ctx)
	jobs := make(chan *job)
	inOrder := make(chan *job, maxAhead)
	var walking, searching sync.WaitGroup
	var walkErr error
	walking.Go(func() {
		defer close(jobs)
		defer close(inOrder)
		w.visit = func(at visited) error { return s.hand(ctx, at, jobs, inOrder) }
		walkErr = w.run(ctx, ws)
	})
	for range searchers {
		searching.Go(func() {
			searcher := search.NewSearcher(s.matcher, s.want)
			for j := range jobs {
				j.search(ctx, searcher)
			}
		})
	}
	err := s.collect(ctx, inOrder)
	cancel(err)
	walking.Wait()
	searching.Wait()
	if errors.Is(err, errEnough) {
		return nil
	}
	// An error of a search cancels the walk, whose error then says only that it was canceled.
	return cmp.Or(err, walkErr)
}

// hand queues a file for the next free searcher and records its place in the order.
func (s *treeSearch) hand(ctx context.Context, at visited, jobs, inOrder chan<- *job) error {
	if !s.wants(at) {
		return nil
	}
	j := &job{at: at, done: make(chan struct{})}
	select {
	case inOrder <- j:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	at.folder.hold()
	select {
	case jobs <- j:
		return nil
	case <-ctx.Done():
		at.folder.release()
		close(j.done)
		return context.Cause(ctx)
	}
}

// search searches the file of a job with the goroutine's searcher.
func (j *job) search(ctx context.Context, searcher *search.Searcher) {
	defer close(j.done)
	defer j.at.folder.release()
	file, err := j.at.folder.Open(ctx, j.at.entry.Name())
	if err != nil {
		j.err = err
		return
	}
	defer file.Close()
	j.found, j.err = searcher.Search(ctx, file)
}

// collect reports files in order until the end or until the result is full.
func (s *treeSearch) collect(ctx context.Context, inOrder <-chan *job) error {
	for j := range inOrder {
		<-j.done // a searcher ends soon after its context
		if err := ctx.Err(); err != nil {
			return err
		}
		if errors.Is(j.err, workspace.ErrUnavailable) {
			return j.err // what is reported so far looks complete
		}
		if !s.report(j.at.path, j.found, j.err) {
			return errEnough
		}
	}
	return nil
}

// file searches one file.
func (s *treeSearch) file(ctx context.Context, ws workspace.Workspace, name string) error {
	file, err := ws.Open(ctx, name)
	if err != nil {
		return err
	}
	defer file.Close()
	found, err := search.NewSearcher(s.matcher, s.want).Search(ctx, file)
	if err != nil {
		return err
	}
	s.report(name, found, nil)
	return nil
}

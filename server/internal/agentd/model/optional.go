package model

import (
	"errors"
	"slices"
	"sync"
)

// Optional are the parts of requests that a model can do without, and that some servers, models and
// accounts refuse: parameters that a provider sends on its own account, and images. No API says in
// advance what it refuses, so a model sends all of them until its server refuses one. The request
// is then sent once more without it, and so are all later requests of the model. A note takes the
// place of an image.
//
// What else the caller asked for is not optional: an error about it reaches the caller. Optional is
// safe for concurrent use.
type Optional struct {
	paths   []string
	images  images
	mu      sync.Mutex
	refused map[string]bool
}

// NewOptional returns parameters by their paths, with points between names, such as
// "reasoning.summary". A refusal may name only the last part of a longer path.
func NewOptional(paths ...string) *Optional {
	return &Optional{paths: paths, refused: make(map[string]bool)}
}

// Sends reports whether requests have a parameter. An unknown path is never sent.
func (o *Optional) Sends(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.paths, path) && !o.refused[path]
}

// Stream sends a request, and once more for each optional part that the server refuses before the
// response has begun. This is not a retry after a failure, which is the agent's task. send passes
// chunks to yield until the response ends or yield returns false; its results are those of Stream.
func (o *Optional) Stream(req Request, yield func(Chunk) bool, send func(req Request, yield func(Chunk) bool) (left bool, err error)) (left bool, err error) {
	for {
		begun := false
		req.Messages = o.images.without(req.Messages)
		left, err = send(req, func(c Chunk) bool {
			begun = begun || !c.Alive
			return yield(c)
		})
		if err == nil || left || begun || !o.Refused(err) && !o.images.refuse(err, req.Messages) {
			return left, err
		}
	}
}

// Refused reports whether an error is the refusal of an optional parameter that was sent until now.
// It is not sent any more.
func (o *Optional) Refused(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	found := false
	for _, path := range o.paths {
		if failed.RefusesParameter(path) {
			found = o.Drop(path) || found
		}
	}
	return found
}

// Drop leaves a parameter out of later requests. It reports whether it was sent until now.
func (o *Optional) Drop(path string) bool {
	if !o.Sends(path) {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := !o.refused[path]
	o.refused[path] = true
	return sent
}

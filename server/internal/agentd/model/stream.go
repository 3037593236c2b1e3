package model

import (
	"fmt"
	"iter"
	"net/url"
)

// Stream returns the sequence of Model.Generate for a provider. stream passes the chunks of one
// response to yield. If yield returns false, stream must return left = true, and its error is
// ignored. Otherwise its error, if any, ends the sequence.
func Stream(stream func(yield func(Chunk) bool) (left bool, err error)) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		left, err := stream(func(chunk Chunk) bool { return yield(chunk, nil) })
		if err != nil && !left {
			yield(Chunk{}, err)
		}
	}
}

// ParseBaseURL reads the base URL of a provider's API: an http or https URL with a host.
func ParseBaseURL(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("the base URL %q is no http or https URL", text)
	}
	return base, nil
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// event is one line of `go test -json`, as `go doc test2json` and `go help buildjson` describe it.
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string // in place of Package, for the output of the compiler
	Test       string
	Output     string
}

// line is an event or the error that ended the stream.
type line struct {
	event event
	err   error
}

// scan sends the events of r until it ends, and an error as the last line if it did not end well. A line that is no
// event, such as what a test binary writes when it dies early, is passed on as output.
func scan(r io.Reader, out chan<- line) {
	reader := bufio.NewReader(r)
	for {
		text, err := reader.ReadBytes('\n')
		if len(text) > 0 {
			var e event
			if json.Unmarshal(text, &e) != nil {
				e = event{Action: "output", Output: string(text)}
			}
			out <- line{event: e}
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			out <- line{err: err}
			return
		}
	}
}

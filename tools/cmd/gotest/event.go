package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// event is one line of `go test -json`; see `go doc test2json` and `go help buildjson`.
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string // instead of Package, for the output of the compiler
	Test       string
	Output     string
}

// line is an event or the error that ended the stream.
type line struct {
	event event
	err   error
}

// scan sends the events in r until r ends, and the error of a read as the last line. A line that is
// no event becomes output: a test binary that dies early writes such lines.
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

package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/toolhost/toolhost/sdk"
)

const (
	// tellInterval is the least time between two statuses, and the longest delay of new output.
	tellInterval = 250 * time.Millisecond
	maxMessage   = 120 // in characters
	maxLine      = 512 // bytes of a line that are examined
)

// teller reports the last line of a command's output as a status. It never blocks the command.
type teller struct {
	mu      sync.Mutex
	line    string
	bytes   int64
	changed chan struct{} // has one value if there is new output
}

func newTeller() *teller { return &teller{changed: make(chan struct{}, 1)} }

// stream returns a function that receives one of the command's outputs, from one goroutine.
func (t *teller) stream() func(chunk []byte) {
	var line []byte // the received part of the last line
	return func(chunk []byte) {
		line = append(line, chunk[max(0, len(chunk)-maxLine):]...)
		last := lastLine(line)
		line = line[bytes.LastIndexAny(line, "\r\n")+1:]
		line = append([]byte(nil), line[max(0, len(line)-maxLine):]...)
		t.mu.Lock()
		t.bytes += int64(len(chunk))
		if last != "" {
			t.line = last
		}
		t.mu.Unlock()
		select {
		case t.changed <- struct{}{}:
		default:
		}
	}
}

// tell reports new output until ctx ends.
func (t *teller) tell(ctx context.Context, report func(context.Context, sdk.Status)) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		select {
		case <-t.changed:
		case <-ctx.Done():
			return
		}
		t.mu.Lock()
		status := sdk.Status{Message: t.line, Progress: &sdk.Progress{Done: float64(t.bytes), Message: "bytes of output"}}
		t.mu.Unlock()
		report(ctx, status)
		pause.Reset(tellInterval)
	}
}

// escape matches terminal control sequences.
var escape = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\^_])`)

// lastLine returns the last line with visible text, in a form for display in one line.
func lastLine(text []byte) string {
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := statusMessage(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// statusMessage returns a line without invisible characters, truncated to maxMessage.
func statusMessage(line string) string {
	line = escape.ReplaceAllString(strings.ToValidUTF8(line, "\uFFFD"), "")
	line = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, line))
	if runes := []rune(line); len(runes) > maxMessage {
		return string(runes[:maxMessage-1]) + "…"
	}
	return line
}

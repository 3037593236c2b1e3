package operate

import (
	"fmt"
	"io"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// progressLine shows the last status of a call in one line of a terminal, until the call ends. It
// is for one goroutine at a time. A nil progressLine shows nothing.
type progressLine struct {
	w       io.Writer
	columns int
	shown   bool
}

// newProgressLine returns a line on standard error, or nil if standard error is not a terminal that
// can erase a line.
func newProgressLine(p cli.Process) *progressLine {
	columns, _ := cli.TerminalSize(p.Stderr)
	if columns == 0 || p.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progressLine{w: p.Stderr, columns: columns}
}

// eraseLine moves the cursor to the beginning of the line and erases the line.
const eraseLine = "\r\x1b[K"

// show replaces the line, if the event has a status.
func (l *progressLine) show(e tool.Event) {
	if e.Status == nil {
		return
	}
	if text := EventLine(tool.Event{Status: e.Status}); text != "" {
		// The terminal must not wrap the line, because eraseLine erases one line.
		fmt.Fprint(l.w, eraseLine, cli.ClipColumns(text, l.columns-1))
		l.shown = true
	}
}

// clear erases the line.
func (l *progressLine) clear() {
	if l != nil && l.shown {
		fmt.Fprint(l.w, eraseLine)
		l.shown = false
	}
}

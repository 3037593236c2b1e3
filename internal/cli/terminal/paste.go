package terminal

import (
	"bytes"
	"io"
	"strings"
)

// lineMark replaces a line feed of a paste while a person edits the message. Terminals show it, and
// people rarely type it.
const lineMark = "␤"

// unmarked replaces the marks of an edited line by line feeds.
func unmarked(line string) string { return strings.ReplaceAll(line, lineMark, "\n") }

// pasteReader reads the keys of a terminal in bracketed paste mode, and replaces line ends inside a
// paste by lineMark. Otherwise the line editor would take each line end as the return key, because
// it recognizes only a paste of a whole line. It is for one goroutine.
type PasteReader struct {
	In      io.Reader
	recent  []byte // the last bytes, to find the marks of a paste
	pasting bool
	ready   []byte // bytes that Read has not returned
}

const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// Read implements io.Reader.
func (r *PasteReader) Read(p []byte) (int, error) {
	for len(r.ready) == 0 {
		keys := make([]byte, 256)
		n, err := r.In.Read(keys)
		for _, key := range keys[:n] {
			r.take(key)
		}
		if len(r.ready) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

func (r *PasteReader) take(key byte) {
	afterReturn := bytes.HasSuffix(r.recent, []byte("\r"))
	r.recent = append(r.recent, key)
	r.recent = r.recent[max(0, len(r.recent)-len(pasteBegins)):]
	switch {
	case string(r.recent) == pasteBegins:
		r.pasting = true
	case string(r.recent) == pasteEnds:
		r.pasting = false
	case r.pasting && key == '\n' && afterReturn:
		return // a carriage return and a line feed are one line end
	case r.pasting && (key == '\r' || key == '\n'):
		r.ready = append(r.ready, lineMark...)
		return
	}
	r.ready = append(r.ready, key)
}

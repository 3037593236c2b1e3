package secrets

import (
	"bytes"
	"io"
)

// Writer returns a writer for a log. Each Write is one record, which goes to w without secrets. If
// isJSON is set, records are JSON and stay JSON.
func (r *Redactor) Writer(w io.Writer, isJSON bool) io.Writer {
	if r == nil {
		return w
	}
	return &writer{redactor: r, to: w, isJSON: isJSON}
}

type writer struct {
	redactor *Redactor
	to       io.Writer
	isJSON   bool
}

// Write implements io.Writer.
func (w *writer) Write(record []byte) (int, error) {
	redacted := w.redactor.Bytes(record)
	if w.isJSON && !bytes.Equal(redacted, record) {
		redacted = w.redactor.JSON(record)
	}
	if _, err := w.to.Write(redacted); err != nil {
		return 0, err
	}
	return len(record), nil
}

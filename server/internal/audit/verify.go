package audit

import (
	"encoding/json"
	"fmt"
)

// Report is what Verify found.
type Report struct {
	Lines     int       // lines of the chain
	Unchained int       // lines before the chain, of a version without one; only the last of them is protected
	Broken    int       // incomplete lines: toolhost was killed, or the disk was full
	First     uint64    // the number of the first line; above 1: earlier files are not among the files
	Last      uint64    // the number of the last line
	Head      Head      // of the last line
	Problems  []Problem // at most 100; empty: nothing was changed
}

// Head identifies a line and all lines before it. A later Verify with it finds out whether lines
// were removed at the end of the log.
type Head struct {
	Seq    uint64
	SHA256 string // of the line
}

func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Seq, h.SHA256) }

// Problem is a place at which the chain is broken.
type Problem struct {
	File string
	Line int // from 1
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// maxProblems bounds the problems of a report.
const maxProblems = 100

// Verify reads the files of a log, the oldest first, and checks the chain. expected are heads that
// were noted before, which the chain must contain. An error means that a file cannot be read.
func Verify(files []string, expected ...Head) (Report, error) {
	v := verifier{missing: map[Head]bool{}}
	for _, h := range expected {
		v.missing[h] = true
	}
	for _, path := range files {
		if err := (part{path: path}).forward(func(n int, text []byte, whole bool) error { v.line(path, n, text, whole); return nil }); err != nil {
			return v.report, err
		}
	}
	last := ""
	if len(files) > 0 {
		last = files[len(files)-1]
	}
	for h := range v.missing {
		v.problem(last, v.lines, "the line %s is not in the log: lines were removed, or the whole log was replaced", h)
	}
	return v.report, nil
}

type verifier struct {
	report  Report
	before  position // the line before; empty: there is none
	begun   bool     // the chain
	lines   int      // of the present file
	missing map[Head]bool
}

func (v *verifier) problem(file string, line int, format string, args ...any) {
	if len(v.report.Problems) < maxProblems {
		v.report.Problems = append(v.report.Problems, Problem{file, line, fmt.Sprintf(format, args...)})
	}
}

func (v *verifier) line(file string, n int, text []byte, whole bool) {
	v.lines = n
	var l link
	err := json.Unmarshal(text, &l)
	after := v.before.follow(text)
	switch {
	case err != nil || !whole:
		v.report.Broken++
	case l.Seq == 0 && !v.begun:
		v.report.Unchained++
	case l.Seq == 0:
		v.problem(file, n, "the line has no number, but the chain began before it")
	default:
		v.chained(file, n, l)
		v.report.Lines++
		v.report.Last, v.report.Head = l.Seq, Head{l.Seq, after.prev}
		delete(v.missing, v.report.Head)
	}
	v.before = after
}

// chained compares a line with the line before it.
func (v *verifier) chained(file string, n int, l link) {
	switch {
	case !v.begun:
		v.begun, v.report.First = true, l.Seq
		if l.Seq == 1 && l.Prev != v.before.prev || v.before.prev != "" && l.Prev != v.before.prev {
			v.problem(file, n, "the line does not follow the line before it: one of them was changed, or lines were removed")
		}
	case l.Prev != v.before.prev:
		v.problem(file, n, "the line does not follow the line before it: one of them was changed, inserted or removed")
	case l.Seq != v.report.Last+1:
		v.problem(file, n, "the line has the number %d, and the line before it %d", l.Seq, v.report.Last)
	}
}

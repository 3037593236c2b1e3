package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/toolhost/toolhost/plugins/fs/search"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// report assembles the result of grep from files in the order of their paths.
type report struct {
	in grepInput

	body     strings.Builder
	searched int // number of files
	matches  int // number of matching lines in all files
	shown    int // number of shown lines or files, depending on in.Output
	cut      string
	binary   int
	long     []string
	failed   int
	failure  string // the error of the first of them
	notes    []string
}

func newReport(in grepInput) *report { return &report{in: in} }

// add adds the matches or the error of a file. It returns false if the result is full.
func (r *report) add(path string, found search.Found, err error) bool {
	if err != nil {
		r.unread(path, err)
		return true
	}
	r.searched++
	if found.Binary {
		r.binary++
	}
	if found.TooLong {
		r.long = append(r.long, path)
	}
	if found.Matches == 0 {
		return true
	}
	if r.in.Output != showLines && r.shown == r.in.Limit {
		r.cut = fmt.Sprintf("at the limit of %d files", r.in.Limit)
		return false
	}
	if r.body.Len() >= maxText {
		r.cut = fmt.Sprintf("at %d KiB", maxText>>10)
		return false
	}
	r.matches += found.Matches
	switch r.in.Output {
	case showFiles:
		r.body.WriteString(printable(path) + "\n")
	case showCounts:
		fmt.Fprintf(&r.body, "%s: %d\n", printable(path), found.Matches)
	default:
		return r.addLines(path, found.Lines)
	}
	r.shown++
	return true
}

// addLines adds the lines of a file. It returns false if some do not fit.
func (r *report) addLines(path string, lines []search.Line) bool {
	fitting := firstMatches(lines, r.in.Limit-r.shown, r.in.After)
	if len(fitting) < len(lines) {
		r.cut = fmt.Sprintf("at the limit of %d matching lines", r.in.Limit)
	}
	if len(fitting) == 0 {
		return false
	}
	if r.body.Len() > 0 {
		r.body.WriteByte('\n')
	}
	r.body.WriteString(printable(path) + "\n")
	last := 0
	for _, line := range fitting {
		if r.body.Len() >= maxText {
			r.cut = fmt.Sprintf("at %d KiB", maxText>>10)
			return false
		}
		r.addLine(line, last)
		last = line.Number
	}
	return r.cut == ""
}

// firstMatches returns lines up to the given number of matches, with their context lines.
func firstMatches(lines []search.Line, most, after int) []search.Line {
	matches, last := 0, 0
	for i, line := range lines {
		if !line.Match {
			continue
		}
		if matches == most {
			end := i
			for end > 0 && !lines[end-1].Match && lines[end-1].Number-last > after {
				end--
			}
			if most == 0 {
				end = 0
			}
			return lines[:end]
		}
		matches++
		last = line.Number
	}
	return lines
}

// addLine adds a line, after a separator if it does not follow the previous line.
func (r *report) addLine(line search.Line, last int) {
	if around := r.in.Before+r.in.After > 0; around && last > 0 && line.Number > last+1 {
		r.body.WriteString("--\n")
	}
	mark := '-'
	if line.Match {
		mark = ':'
		r.shown++
	}
	fmt.Fprintf(&r.body, "%d%c%s\n", line.Number, mark, line.Text)
}

// unread records that a file could not be searched.
func (r *report) unread(path string, err error) {
	if gone(err) {
		return
	}
	if r.failed++; r.failure == "" {
		r.failure = fmt.Sprintf("%q: %v", path, err)
	}
}

// gone reports whether an error means that the file changed since its folder was read. Such errors
// are ignored.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrIrregular) || errors.Is(err, workspace.ErrFolder)
}

// text returns the text of the result.
func (r *report) text() string {
	if r.matches == 0 {
		hint := ""
		if r.searched == 0 {
			hint = newPattern(r.in.Glob).hint()
		}
		fmt.Fprintf(&r.body, "[no match in %d files%s]\n", r.searched, hint)
	}
	if r.cut != "" {
		fmt.Fprintf(&r.body, "[stopped %s, in order of the paths: there are more; a pattern, path or glob that says more finds fewer, and a higher limit shows more]\n", r.cut)
	}
	if r.binary > 0 && r.matches == 0 {
		fmt.Fprintf(&r.body, "[%d binary files were not searched]\n", r.binary)
	}
	if len(r.long) > 0 {
		fmt.Fprintf(&r.body, "[%d files were searched only up to where they are too long, with a line or, with multiline, a size of more than 8 MiB, such as %q]\n", len(r.long), r.long[0])
	}
	if r.failed > 0 {
		fmt.Fprintf(&r.body, "[%d files could not be read, such as %s]\n", r.failed, r.failure)
	}
	for _, note := range r.notes {
		r.body.WriteString(note + "\n")
	}
	return r.body.String()
}

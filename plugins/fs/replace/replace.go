// Package replace changes parts of a text that are named by what stands there, and keeps all else to the byte.
//
// It owns finding, the ends of lines, and the words for a text that is not found or found too often. It does not own files
// or encodings.
package replace

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Edit is one change.
type Edit struct {
	Old string // what stands there; not empty
	New string
	All bool // every occurrence, of which there must be one; else there must be exactly one
}

// Apply returns a text after the edits, each made on the result of those before it, and the lines of that result where
// each edit's occurrences begin, as they were when it was made. An error means that one of the edits cannot be made; it is
// written for whoever made the edits.
//
// "\n" in an edit stands for the end of a line, whichever it is in the text, and what is put there gets the line ends of its
// surroundings.
func Apply(text string, edits []Edit) (result string, lines [][]int, err error) {
	for i, edit := range edits {
		changed, at, err := apply(text, edit)
		if err != nil {
			if len(edits) > 1 {
				err = fmt.Errorf("edit %d of %d: %w; none of the edits was made", i+1, len(edits), err)
			}
			return "", nil, err
		}
		text = changed
		lines = append(lines, at)
	}
	return text, lines, nil
}

func apply(text string, edit Edit) (string, []int, error) {
	old, replacement := toLF(edit.Old), toLF(edit.New)
	switch {
	case old == "":
		return "", nil, errors.New("old_text is empty; give the text that is to be replaced, or use write_file for a new file")
	case old == replacement:
		return "", nil, errors.New("old_text and new_text are the same, so there is nothing to change")
	}
	n := normalize(text)
	found := occurrences(n.text, old, !edit.All)
	switch {
	case len(found) == 0:
		return "", nil, notFound(n.text, old)
	case len(found) > 1 && !edit.All:
		return "", nil, tooMany(n.text, found)
	}
	var result strings.Builder
	result.Grow(len(text) + len(found)*(len(replacement)-len(old)))
	var lines []int
	end := 0
	line := lineCounter{text: n.text, line: 1}
	added := 0 // lines that the replacements so far added
	for _, at := range found {
		from, to := n.original(at), n.original(at+len(old))
		result.WriteString(text[end:from])
		result.WriteString(withEnds(replacement, lineEnd(text, from, to)))
		end = to
		lines = append(lines, line.at(at)+added)
		added += strings.Count(replacement, "\n") - strings.Count(old, "\n")
	}
	result.WriteString(text[end:])
	return result.String(), lines, nil
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// withEnds returns a text whose lines end in "\n" with other ends.
func withEnds(s, end string) string {
	if end == "\n" {
		return s
	}
	return strings.ReplaceAll(s, "\n", end)
}

// lineEnd returns how lines end in a part of a text: as the first within it, else as the next behind it, else as the last
// before it.
func lineEnd(text string, from, to int) string {
	at := strings.IndexByte(text[from:], '\n')
	switch {
	case at >= 0:
		at += from
	default:
		at = strings.LastIndexByte(text[:to], '\n')
	}
	if at > 0 && text[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// normalized is a text whose lines all end in "\n".
type normalized struct {
	text    string
	removed []int // where in text a line ended in "\r\n": the offsets of their "\n"
}

func normalize(text string) normalized {
	if !strings.Contains(text, "\r\n") {
		return normalized{text: text}
	}
	var n normalized
	var b strings.Builder
	b.Grow(len(text))
	for {
		before, after, found := strings.Cut(text, "\r\n")
		b.WriteString(before)
		if !found {
			break
		}
		n.removed = append(n.removed, b.Len())
		b.WriteByte('\n')
		text = after
	}
	n.text = b.String()
	return n
}

// original returns the offset in the original text for one in the normalized text. That of a "\n" is the one of the whole
// line end.
func (n normalized) original(offset int) int {
	return offset + sort.SearchInts(n.removed, offset)
}

// occurrences returns where a part begins in a text: those that a replacement would meet, or, with overlaps, all.
func occurrences(text, part string, overlaps bool) []int {
	step := len(part)
	if overlaps {
		step = 1
	}
	var found []int
	for from := 0; from <= len(text); {
		at := strings.Index(text[from:], part)
		if at < 0 {
			break
		}
		found = append(found, from+at)
		from += at + step
	}
	return found
}

// lineCounter tells the lines of offsets that come in order.
type lineCounter struct {
	text string
	seen int
	line int
}

func (l *lineCounter) at(offset int) int {
	l.line += strings.Count(l.text[l.seen:offset], "\n")
	l.seen = offset
	return l.line
}

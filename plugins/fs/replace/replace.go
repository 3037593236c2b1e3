// Package replace replaces passages of a text that are named by their content, and keeps all other
// bytes.
//
// It owns the search, line endings, and the messages for passages that are missing or ambiguous. It
// does not own files or encodings.
package replace

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Edit is one change.
type Edit struct {
	Old string // the present content; not empty
	New string
	All bool // replace every occurrence; at least one must exist. Otherwise exactly one must exist
}

// Apply applies edits in order, each to the result of the previous ones. It also returns, for each
// edit, the lines where its occurrences begin, at the time of that edit. An error means that an
// edit cannot be made. Its message is for the author of the edits.
//
// "\n" in an edit matches any line ending. The replacement gets the line ending of its
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
	added := 0 // lines that replacements have added so far
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

// withEnds replaces the line ending "\n" by another one.
func withEnds(s, end string) string {
	if end == "\n" {
		return s
	}
	return strings.ReplaceAll(s, "\n", end)
}

// lineEnd returns the line ending for a range of a text: the first one inside the range, otherwise
// the next one after it, otherwise the last one before it.
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

// normalized is a text with "\n" as its only line ending.
type normalized struct {
	text    string
	removed []int // offsets of "\n" for lines that ended in "\r\n"
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

// original converts an offset in the normalized text to the original text. The offset of "\n"
// becomes the start of the line ending.
func (n normalized) original(offset int) int {
	return offset + sort.SearchInts(n.removed, offset)
}

// occurrences returns the offsets of a part in a text: those that a replacement would replace, or
// all overlapping ones.
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

// lineCounter returns the line numbers of ascending offsets.
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

package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/plugins/fs/charset"
)

const (
	window   = 256 << 10 // bytes that are searched at once
	maxLine  = 8 << 20   // bytes of the longest line, and of a file in multiline mode
	maxKept  = 64 << 10  // bytes of context lines that are kept from one window to the next
	maxShown = 400       // bytes of a line that are shown
	sniffed  = 8000      // number of bytes that are examined to detect the encoding
)

// Want selects what Search returns.
type Want struct {
	Before, After int  // context lines of a match
	Most          int  // limit of matching lines; 0 means no limit
	CountOnly     bool // return no lines, only their number
}

// Line is a line of a text.
type Line struct {
	Number int    // line number, from 1
	Text   string // without line end; a long line is truncated; always UTF-8
	Match  bool   // true for a match, false for a context line
}

// Found is the result of a search in one text.
type Found struct {
	Lines   []Line // in order
	Matches int    // number of matching lines
	Binary  bool   // the data is not text and was not searched
	// the rest was not searched: a line, or the text in multiline mode, exceeds 8 MiB
	TooLong bool
}

// Searcher searches texts one after the other and reuses its memory. It is not safe for concurrent
// use.
type Searcher struct {
	m    *Matcher
	want Want
	buf  []byte
	next []int

	// The present text.
	r          io.Reader
	ended      bool // r is at its end
	data       []byte
	from       int // offset in data where the search continues, at the start of a line
	told       int // offset in data up to which lines were added to the result
	after      int // number of context lines still to add after the last match
	counted    int // an offset in data
	countedNow int // the line number at counted
	found      Found
}

// NewSearcher returns a searcher. Want applies to all texts.
func NewSearcher(m *Matcher, want Want) *Searcher {
	return &Searcher{m: m, want: want, buf: make([]byte, window)}
}

// Search searches a text. The error is that of the reader or of the context.
func (s *Searcher) Search(ctx context.Context, r io.Reader) (Found, error) {
	*s = Searcher{m: s.m, want: s.want, buf: s.buf, next: s.next, r: r, countedNow: 1}
	if err := s.fill(); err != nil {
		return Found{}, err
	}
	if !s.asUTF8() {
		return Found{Binary: true}, nil
	}
	for {
		if err := ctx.Err(); err != nil {
			return Found{}, err
		}
		end := len(s.data)
		if !s.ended {
			end = bytes.LastIndexByte(s.data, '\n') + 1
			if s.m.multiline {
				end = 0
			}
		}
		if end > s.from && s.scan(end) || s.ended {
			return s.found, nil
		}
		if !s.slide(end) {
			s.found.TooLong = true
			return s.found, nil
		}
		if err := s.fill(); err != nil {
			return Found{}, err
		}
	}
}

// fill reads until the buffer is full or the text ends.
func (s *Searcher) fill() error {
	n := len(s.data)
	for n < len(s.buf) && !s.ended {
		read, err := s.r.Read(s.buf[n:])
		n += read
		switch {
		case errors.Is(err, io.EOF):
			s.ended = true
		case err != nil:
			return err
		}
	}
	s.data = s.buf[:n]
	return nil
}

// asUTF8 converts the text to UTF-8 if matching needs it, and reports whether the data is text.
func (s *Searcher) asUTF8() bool {
	head := s.data[:min(len(s.data), sniffed)]
	zeros := bytes.IndexByte(s.data, 0) >= 0
	marked := len(head) > 1 && (head[0] == 0xef || head[0] == 0xfe || head[0] == 0xff)
	if !zeros && !marked && (!s.m.foreign || utf8.Valid(s.data)) {
		return true
	}
	encoding, _, isText := charset.Detect(head, s.ended && len(head) == len(s.data))
	if !isText {
		// Data without zero bytes may have lines worth finding, even if it is not text.
		return !zeros
	}
	if encoding.Plain() || encoding.Guessed() && !s.m.foreign {
		return !zeros
	}
	s.r = encoding.Reader(io.MultiReader(bytes.NewReader(bytes.Clone(s.data)), s.r))
	s.data, s.ended = s.data[:0], false
	return s.fill() == nil
}

// scan searches the lines of data before end, and reports whether the limit is reached.
func (s *Searcher) scan(end int) (enough bool) {
	if s.m.multiline {
		text := bytes.ReplaceAll(s.data[:end], []byte("\r\n"), []byte("\n"))
		s.data, end = text, len(text)
	}
	c := s.m.cursor(s.data[:end], s.next)
	s.next = c.next
	next := c.line
	if s.m.multiline {
		next = c.lines
	}
	for s.from < end {
		begin, stop, ok := next(s.from)
		if !ok {
			break
		}
		s.tellAround(begin)
		for at := begin; at <= stop; {
			lineStop := min(lineEnd(s.data[:end], at), stop)
			s.found.Matches++
			s.tell(at, lineStop, true)
			at = lineStop + 1
			if s.found.Matches == s.want.Most {
				return true
			}
		}
		s.after = s.want.After
		s.from = stop + 1
	}
	s.from = end
	s.tellAfter(end)
	return false
}

// tellAround adds the context lines after the last match and before the next one.
func (s *Searcher) tellAround(begin int) {
	if s.want.CountOnly {
		return
	}
	s.tellAfter(begin)
	at := begin
	for n := 0; n < s.want.Before && at > s.told; n++ {
		at = max(s.told, bytes.LastIndexByte(s.data[:at-1], '\n')+1)
	}
	for at < begin {
		stop := lineEnd(s.data, at)
		s.tell(at, stop, false)
		at = stop + 1
	}
}

// tellAfter adds the missing context lines after the last match that begin before end.
func (s *Searcher) tellAfter(end int) {
	for s.after > 0 && s.told < end {
		s.after--
		s.tell(s.told, lineEnd(s.data[:end], s.told), false)
	}
}

// tell adds a line to the result.
func (s *Searcher) tell(begin, end int, match bool) {
	if s.want.CountOnly {
		return
	}
	s.countTo(begin)
	line := withoutCR(s.data[begin:end])
	s.found.Lines = append(s.found.Lines, Line{Number: s.countedNow, Text: s.m.shown(line), Match: match})
	s.told = min(end+1, len(s.data))
}

func (s *Searcher) countTo(offset int) {
	s.countedNow += bytes.Count(s.data[s.counted:offset], []byte{'\n'})
	s.counted = offset
}

// slide makes room in the buffer. It keeps the text that was not searched and the context lines
// before it. It returns false if there is no more room.
func (s *Searcher) slide(searched int) bool {
	keep := max(searched, s.from)
	for n := 0; n < s.want.Before && keep > s.told; n++ {
		begin := max(s.told, bytes.LastIndexByte(s.data[:keep-1], '\n')+1)
		if searched-begin > maxKept {
			break
		}
		keep = begin
	}
	if keep == 0 && len(s.data) == len(s.buf) {
		if len(s.buf) >= maxLine {
			return false
		}
		grown := make([]byte, 2*len(s.buf))
		s.data = grown[:copy(grown, s.data)]
		s.buf = grown
		return true
	}
	s.countTo(keep)
	n := copy(s.buf, s.data[keep:])
	s.data = s.buf[:n]
	s.from -= keep
	s.told = 0 // no line of the result is kept
	s.counted = 0
	return true
}

// shown returns a line as UTF-8. Of a long line it returns the part with the match.
func (m *Matcher) shown(line []byte) string {
	if len(line) <= maxShown {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	begin := 0
	if !m.multiline {
		if at := m.re.FindIndex(line); at != nil {
			begin = max(0, at[0]-maxShown/4)
		}
	}
	begin = min(begin, len(line)-maxShown)
	part := strings.ToValidUTF8(string(line[begin:begin+maxShown]), "\uFFFD")
	if begin > 0 {
		part = "…" + strings.TrimLeft(part, "\uFFFD")
	}
	if begin+maxShown < len(line) {
		part = strings.TrimRight(part, "\uFFFD") + "…"
	}
	return part
}

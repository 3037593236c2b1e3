package markdown

import (
	"strings"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// Stream renders Markdown that arrives in pieces. It shows a block once the block has ended: at a
// blank line outside a fenced code block, or at the end of the text. The zero value with a Screen
// is ready for use. A Stream is for one goroutine.
type Stream struct {
	Screen cli.Screen

	pending string // text that is not shown
	scanned int    // bytes of pending whose lines end was looks at
	fence   string // that ends the code block in which scanned is; empty outside
	begun   bool   // a block of this text was shown
}

// Write adds a piece, and returns what the terminal shows now.
func (s *Stream) Write(piece string) string {
	s.pending += piece
	var out strings.Builder
	for {
		length := strings.IndexByte(s.pending[s.scanned:], '\n')
		if length < 0 {
			break
		}
		line := s.pending[s.scanned : s.scanned+length]
		s.scanned += length + 1
		if s.ends(line) || s.scanned > maxBlock {
			out.WriteString(s.block(s.scanned))
		}
	}
	if len(s.pending) > maxBlock { // one line
		out.WriteString(s.block(len(s.pending)))
	}
	return out.String()
}

// ends reports whether the line ends a block. It also records the beginnings and ends of code
// blocks.
func (s *Stream) ends(line string) bool {
	line = strings.TrimSpace(line)
	if s.fence != "" {
		if strings.HasPrefix(line, s.fence) && strings.Trim(line, s.fence[:1]) == "" {
			s.fence = ""
		}
		return false
	}
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			s.fence = line[:len(line)-len(strings.TrimLeft(line, mark[:1]))]
			return false
		}
	}
	return line == ""
}

// Flush ends the text, and returns the part that Write has not returned yet.
func (s *Stream) Flush() string {
	out := s.block(len(s.pending))
	s.Reset()
	return out
}

// Reset forgets the text that was not shown.
func (s *Stream) Reset() { *s = Stream{Screen: s.Screen} }

// block renders the first bytes of the pending text.
func (s *Stream) block(length int) string {
	source := s.pending[:length]
	s.pending, s.scanned = s.pending[length:], 0
	shown := Render(source, s.Screen)
	if shown == "" {
		return ""
	}
	if s.begun {
		shown = "\n" + shown
	}
	s.begun = true
	return shown
}

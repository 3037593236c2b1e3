package terminal

import (
	"fmt"
	"slices"
	"strings"
)

// block is the lines at the end of a terminal that stand for the calls under way, one for each. They give way to what
// stays, and are written again below it. It is for one goroutine.
type Block struct {
	Size   func() (wide, high int) // of the terminal, now
	Hidden bool                    // somebody is asked something: the end of the screen is his
	Drawn  []string                // what stands there
}

// What a terminal is told. Lines of the block are cut by the terminal itself, which knows how wide its characters are:
// a line that took two could not be taken away again.
const (
	LineUp     = "\x1b[A"
	EraseBelow = "\x1b[J"
	CutLines   = "\x1b[?7l"
	WrapLines  = "\x1b[?7h"
)

// erase returns what takes the block away and leaves the cursor where it began.
func (b *Block) Erase() string {
	n := len(b.Drawn)
	b.Drawn = nil
	if n == 0 {
		return ""
	}
	return "\r" + strings.Repeat(LineUp, n-1) + EraseBelow
}

// draw returns what puts lines on the screen, where a line begins. Those that the screen has no room for are counted.
func (b *Block) draw(lines []string) string {
	_, high := b.Size()
	if most := max(high-1, 1); len(lines) > most {
		rest := fmt.Sprintf("… and %d more", len(lines)-most+1)
		lines = append(slices.Clone(lines[:most-1]), rest)
	}
	if len(lines) == 0 {
		return ""
	}
	b.Drawn = slices.Clone(lines)
	return CutLines + strings.Join(lines, "\n") + WrapLines
}

// above returns what writes s above the block. Where s does not end its line, the block stays away until it does.
func (b *Block) Above(s string, lines []string, open bool) string {
	s = b.Erase() + s
	if open || b.Hidden {
		return s
	}
	return s + b.draw(lines)
}

package main

import (
	"fmt"
	"slices"
	"strings"
)

// block is the lines at the end of a terminal that stand for the calls under way, one for each. They give way to what
// stays, and are written again below it. It is for one goroutine.
type block struct {
	size   func() (wide, high int) // of the terminal, now
	hidden bool                    // somebody is asked something: the end of the screen is his
	drawn  []string                // what stands there
}

// What a terminal is told. Lines of the block are cut by the terminal itself, which knows how wide its characters are:
// a line that took two could not be taken away again.
const (
	lineUp     = "\x1b[A"
	eraseBelow = "\x1b[J"
	cutLines   = "\x1b[?7l"
	wrapLines  = "\x1b[?7h"
)

// erase returns what takes the block away and leaves the cursor where it began.
func (b *block) erase() string {
	n := len(b.drawn)
	b.drawn = nil
	if n == 0 {
		return ""
	}
	return "\r" + strings.Repeat(lineUp, n-1) + eraseBelow
}

// draw returns what puts lines on the screen, where a line begins. Those that the screen has no room for are counted.
func (b *block) draw(lines []string) string {
	_, high := b.size()
	if most := max(high-1, 1); len(lines) > most {
		rest := fmt.Sprintf("… and %d more", len(lines)-most+1)
		lines = append(slices.Clone(lines[:most-1]), rest)
	}
	if len(lines) == 0 {
		return ""
	}
	b.drawn = slices.Clone(lines)
	return cutLines + strings.Join(lines, "\n") + wrapLines
}

// above returns what writes s above the block. Where s does not end its line, the block stays away until it does.
func (b *block) above(s string, lines []string, open bool) string {
	s = b.erase() + s
	if open || b.hidden {
		return s
	}
	return s + b.draw(lines)
}

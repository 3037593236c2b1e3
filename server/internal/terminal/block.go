package terminal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// Block holds lines at the end of a terminal that change, such as one line for each running call. A
// write above the block erases these lines and draws them again below the written text. It is for
// one goroutine.
type Block struct {
	Size   func() (wide, high int) // returns the present size of the terminal
	Hidden bool                    // a question to a person is at the end of the screen
	Drawn  []string                // the lines on the screen

	wide int // the width of the terminal when they were drawn
}

// Control sequences. They make the terminal cut the lines of the block, because only the terminal
// knows how wide it draws each character. A line that took two lines of the terminal could not be
// erased.
const (
	LineUp     = "\x1b[A"
	EraseBelow = "\x1b[J"
	CutLines   = "\x1b[?7l"
	WrapLines  = "\x1b[?7h"
)

// Erase returns the sequence that removes the block and moves the cursor to its beginning.
func (b *Block) Erase() string {
	n := 0
	for _, line := range b.Drawn {
		n += b.rows(line)
	}
	b.Drawn = nil
	if n == 0 {
		return ""
	}
	return "\r" + strings.Repeat(LineUp, n-1) + EraseBelow
}

// rows returns how many lines of the terminal a line of the block takes now. A terminal that got
// narrower has wrapped what it does not hold any more.
func (b *Block) rows(line string) int {
	wide, _ := b.Size()
	if wide <= 0 || wide >= b.wide {
		return 1
	}
	columns := min(cli.Columns(shades.ReplaceAllString(line, "")), b.wide)
	return max((columns+wide-1)/wide, 1)
}

// shades matches the colors in a line.
var shades = regexp.MustCompile("\x1b\\[[0-9;]*m")

// draw returns the sequence that draws lines. If the terminal has too few lines, the last one
// counts the others.
func (b *Block) draw(lines []string) string {
	wide, high := b.Size()
	if most := max(high-1, 1); len(lines) > most {
		rest := fmt.Sprintf("… and %d more", len(lines)-most+1)
		lines = append(slices.Clone(lines[:most-1]), rest)
	}
	if len(lines) == 0 {
		return ""
	}
	b.Drawn, b.wide = slices.Clone(lines), wide
	return CutLines + strings.Join(lines, "\n") + WrapLines
}

// Above returns the sequence that writes s above the block. If open is true, s does not end its
// last line, and the block stays hidden until a later write ends that line.
func (b *Block) Above(s string, lines []string, open bool) string {
	s = b.Erase() + s
	if open || b.Hidden {
		return s
	}
	return s + b.draw(lines)
}

package cli

import (
	"strings"

	"golang.org/x/text/width"
)

// Screen says how output for people may look. The zero value is output that is not a terminal: no
// color, and lines of any length.
type Screen struct {
	Columns int  // width of the terminal in columns; 0 means no bound
	Color   bool // the terminal shows colors, and the user did not refuse them
}

// Screen returns the properties of standard output.
func (p Process) Screen() Screen { return ScreenOf(p.Stdout, p.Getenv) }

// ScreenOf returns the properties of a stream. It has no color if NO_COLOR is set, see
// https://no-color.org, or if TERM is dumb.
func ScreenOf(stream any, getenv func(string) string) Screen {
	columns, _ := TerminalSize(stream)
	color := columns > 0 && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return Screen{Columns: columns, Color: color}
}

// Color is a color of a terminal. The zero value is the terminal's default.
type Color string

// Colors of states: Green needs no action, Yellow passes or waits, Red needs action.
const (
	Plain  Color = ""
	Bold   Color = "1"
	Dim    Color = "2"
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
	Cyan   Color = "36"
)

// Paint returns text in a color. The text must be escaped already, because Paint's result contains
// control sequences.
func (s Screen) Paint(color Color, text string) string {
	if !s.Color || color == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(color) + "m" + text + "\x1b[0m"
}

// StateColor returns the color of a state of a plugin, a process, a call or a run, as tables name
// it. A word that is no state has no color, so a tool cannot choose one.
func StateColor(state string) Color {
	switch strings.ReplaceAll(state, "_", " ") {
	case "enabled", "ready", "running", "succeeded", "available", "completed", "end turn", "return direct":
		return Green
	case "backing off", "paused", "queued", "verifying", "starting", "handshaking", "warming", "draining", "stopping",
		"waiting", "interrupted", "cancelled", "tool error":
		return Yellow
	case "quarantined", "unusable", "unhealthy", "failed", "unavailable":
		return Red
	case "disabled", "exited":
		return Dim
	}
	return Plain
}

// Columns returns how many columns a terminal uses for escaped text of one line.
func Columns(text string) int {
	columns := 0
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

// runeWidth returns the columns of one character: 0 for marks, 2 for East Asian wide characters.
func runeWidth(r rune) int {
	if isMark(r) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Wrap splits escaped text into lines of at most columns, between words where it can.
func Wrap(text string, columns int) []string {
	var lines []string
	line, used := "", 0
	flush := func() {
		lines = append(lines, strings.TrimRight(line, " "))
		line, used = "", 0
	}
	for _, word := range strings.SplitAfter(text, " ") {
		if used > 0 && used+Columns(strings.TrimRight(word, " ")) > columns {
			flush()
		}
		for _, r := range word {
			w := runeWidth(r)
			if used > 0 && used+w > columns && r != ' ' {
				flush()
			}
			line += string(r)
			used += w
		}
	}
	if line != "" || len(lines) == 0 {
		flush()
	}
	return lines
}

// ClipColumns shortens escaped text of one line to at most columns of a terminal.
func ClipColumns(text string, columns int) string {
	if Columns(text) <= columns {
		return text
	}
	used := 0
	for i, r := range text {
		if w := runeWidth(r); used+w > columns-1 {
			return text[:i] + "…"
		} else {
			used += w
		}
	}
	return text
}

package cli

import "strings"

// StyledText is text whose parts have styles and whose lines wrap between words. The zero value is
// empty.
type StyledText struct {
	cells []cell
	marks int // combining marks at the end, which count across parts
}

// cell is one character. The character '\n' ends a line.
type cell struct {
	char  rune
	style Color
}

// Add adds text in a style, escaped as OneLine does it.
func (t *StyledText) Add(text string, style Color) {
	for _, r := range escape(text, true, &t.marks) {
		t.cells = append(t.cells, cell{r, style})
	}
}

// Break ends the line.
func (t *StyledText) Break() { t.cells = append(t.cells, cell{'\n', Plain}) }

// Lines returns the lines for a screen whose first indent columns are in use.
func (t *StyledText) Lines(screen Screen, indent int) []string {
	const least = 20 // columns for text, however deep its indentation is
	columns := 0
	if screen.Columns > 0 {
		columns = max(screen.Columns-indent-1, least)
	}
	return t.Wrap(screen, columns)
}

// Wrap returns lines of at most columns. 0 columns mean no bound.
func (t *StyledText) Wrap(screen Screen, columns int) []string {
	var lines []string
	for _, line := range splitCells(t.cells) {
		for _, part := range wrapCells(line, columns) {
			lines = append(lines, paintCells(screen, part))
		}
	}
	return lines
}

// splitCells splits cells at the ends of lines.
func splitCells(cells []cell) [][]cell {
	var lines [][]cell
	begin := 0
	for i, c := range cells {
		if c.char == '\n' {
			lines = append(lines, cells[begin:i])
			begin = i + 1
		}
	}
	return append(lines, cells[begin:])
}

// wrapCells splits a line into parts of at most columns, between words where it can. 0 columns mean
// no bound.
func wrapCells(cells []cell, columns int) [][]cell {
	var parts [][]cell
	begin, used, space := 0, 0, -1 // space is the index of the last space of the part
	for i := 0; i < len(cells); i++ {
		w := runeWidth(cells[i].char)
		if columns > 0 && used > 0 && used+w > columns && cells[i].char != ' ' {
			cut := i
			if space > begin {
				cut = space + 1
			}
			parts = append(parts, cells[begin:cut])
			begin, used, space = cut, 0, -1
			i = cut - 1
			continue
		}
		if cells[i].char == ' ' {
			space = i
		}
		used += w
	}
	return append(parts, cells[begin:])
}

// paintCells returns cells with the control sequences of their styles, without spaces at the end.
func paintCells(screen Screen, cells []cell) string {
	for len(cells) > 0 && cells[len(cells)-1].char == ' ' {
		cells = cells[:len(cells)-1]
	}
	var out, run strings.Builder
	style := Plain
	flush := func() {
		out.WriteString(screen.Paint(style, run.String()))
		run.Reset()
	}
	for _, c := range cells {
		if c.style != style {
			flush()
			style = c.style
		}
		run.WriteRune(c.char)
	}
	flush()
	return out.String()
}

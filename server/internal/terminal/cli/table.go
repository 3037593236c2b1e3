package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// stateColumn is the header of the column whose cells have the colors of their states.
const stateColumn = "STATE"

// minColumn is the width in columns below which a table does not narrow a column: a word or a
// short name fits.
const minColumn = 12

// WriteTable writes rows in aligned columns under a header, as OneLine shows the cells. No line
// ends in spaces. On a screen of bounded width, the table wraps the cells of its widest columns
// between words. A screen with color shows the column STATE in colors.
func WriteTable(w io.Writer, screen Screen, header []string, rows [][]string) error {
	table := make([][]string, 0, len(rows)+1)
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(header))
		for i, cell := range row {
			cells[i] = OneLine(cell)
			widths[i] = max(widths[i], Columns(cells[i]))
		}
		table = append(table, cells)
	}
	Narrow(widths, screen.Columns, columnGap, minColumn)
	var b strings.Builder
	for number, cells := range table {
		writeRow(&b, screen, header, cells, widths, number > 0)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// columnGap is the number of spaces between columns.
const columnGap = 2

// Narrow reduces the widest columns of a table until a line with gaps between them fits into the
// given number of columns of a terminal, or until no column is wider than least. 0 columns mean no
// bound.
func Narrow(widths []int, columns, gap, least int) {
	if columns == 0 {
		return
	}
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for total > columns {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= least {
			return
		}
		widths[widest]--
		total--
	}
}

// writeRow writes one row, which takes several lines if a cell does not fit its column.
func writeRow(b *strings.Builder, screen Screen, header, cells []string, widths []int, paint bool) {
	wrapped, high := make([][]string, len(cells)), 1
	for i, cell := range cells {
		wrapped[i] = Wrap(cell, max(widths[i], 1))
		high = max(high, len(wrapped[i]))
	}
	for n := range high {
		padding := 0
		for i := range cells {
			part := ""
			if n < len(wrapped[i]) {
				part = wrapped[i][n]
			}
			if part != "" {
				b.WriteString(strings.Repeat(" ", padding))
				padding = 0
				shown := part
				if paint && header[i] == stateColumn {
					shown = screen.Paint(StateColor(cells[i]), part)
				}
				b.WriteString(shown)
			}
			padding += widths[i] - Columns(part) + columnGap
		}
		b.WriteByte('\n')
	}
}

// Clip shortens s to its first line and to at most n characters. An ellipsis shows that text is
// missing.
func Clip(s string, n int) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if utf8.RuneCountInString(line) > n {
		line, more = string([]rune(line)[:n-1]), true
	}
	if more {
		return strings.TrimRight(line, " ") + "…"
	}
	return line
}

// Size returns a number of bytes for people, such as "12.0 MiB". It returns "-" for 0, which means
// unknown.
func Size(bytes uint64) string {
	switch {
	case bytes == 0:
		return "-"
	case bytes < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	case bytes < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	default:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	}
}

// Age returns a duration in its two largest units, such as "3m12s" or "2d4h".
func Age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

package markdown

import (
	"strings"

	table "github.com/yuin/goldmark/extension/ast"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// columnMark stands between two columns, and ruleMark between two parts of the line below the
	// header.
	columnMark, ruleMark = " │ ", "─┼─"
	// minColumn is the width below which a column is not narrowed: a short word fits.
	minColumn = 4
)

// table writes a table whose columns are aligned. Cells that do not fit the screen wrap.
func (r *renderer) table(t *table.Table, indent string) {
	var rows [][]cli.StyledText
	widths := make([]int, len(t.Alignments))
	for n := t.FirstChild(); n != nil; n = n.NextSibling() {
		style := cli.Plain
		if n.Kind() == table.KindTableHeader {
			style = heading
		}
		row := make([]cli.StyledText, len(widths))
		i := 0
		for c := n.FirstChild(); c != nil && i < len(row); c = c.NextSibling() {
			r.inline(&row[i], c, style)
			for _, line := range row[i].Wrap(cli.Screen{}, 0) {
				widths[i] = max(widths[i], cli.Columns(line))
			}
			i++
		}
		rows = append(rows, row)
	}
	if r.screen.Columns > 0 {
		cli.Narrow(widths, max(r.screen.Columns-cli.Columns(indent)-1, 1), cli.Columns(columnMark), minColumn)
	}
	for number, row := range rows {
		r.tableRow(row, widths, t.Alignments, indent)
		if number == 0 {
			parts := make([]string, len(widths))
			for i, w := range widths {
				parts[i] = strings.Repeat("─", w)
			}
			r.out.WriteString(indent + r.screen.Paint(quiet, strings.Join(parts, ruleMark)) + "\n")
		}
	}
}

// tableRow writes one row, which takes several lines if a cell does not fit its column.
func (r *renderer) tableRow(row []cli.StyledText, widths []int, alignments []table.Alignment, indent string) {
	shown, plain, high := make([][]string, len(row)), make([][]string, len(row)), 1
	for i := range row {
		shown[i], plain[i] = row[i].Wrap(r.screen, max(widths[i], 1)), row[i].Wrap(cli.Screen{}, max(widths[i], 1))
		high = max(high, len(shown[i]))
	}
	for n := range high {
		var line strings.Builder
		for i := range row {
			if i > 0 {
				line.WriteString(r.screen.Paint(quiet, columnMark))
			}
			text, free := "", widths[i]
			if n < len(shown[i]) {
				text = shown[i][n]
				free = max(widths[i]-cli.Columns(plain[i][n]), 0)
			}
			before := 0
			switch alignments[i] {
			case table.AlignRight:
				before = free
			case table.AlignCenter:
				before = free / 2
			}
			line.WriteString(strings.Repeat(" ", before) + text + strings.Repeat(" ", free-before))
		}
		r.out.WriteString(strings.TrimRight(indent+line.String(), " ") + "\n")
	}
}

// tooManyCells reports whether a table in the source could have more cells than a person reads. The
// parser gives each row as many cells as the header has.
func tooManyCells(source string) bool {
	const most = 16384
	widest := 0
	for line := range strings.Lines(source) {
		widest = max(widest, strings.Count(line, "|"))
	}
	return widest*strings.Count(source, "\n") > most
}

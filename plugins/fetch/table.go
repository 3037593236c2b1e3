package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxEmpty limits the missing cells of a table: those that its rows lack at their ends, beyond the
// number of existing cells, and those that other cells cover. The converter creates all of them,
// and their number may grow with the square of the page.
const maxEmpty = 1000

// cellBreak is an element of our own that ends a line within a cell. A row of a Markdown table is
// one line, so the element becomes the markup <br>.
const cellBreak = "toolhost-break"

func writeBreak(_ converter.Context, w converter.Writer, _ *html.Node) converter.RenderStatus {
	_, _ = w.WriteString("<br>")
	return converter.RenderSuccess
}

// rename changes the kind of an element. Its attributes and its content stay.
func rename(n *html.Node, kind atom.Atom) { n.DataAtom, n.Data = kind, kind.String() }

// boundTable converts rows to lines if most cells of a table are missing.
func boundTable(table *html.Node) {
	cells, most, rows := 0, 0, 0
	for n := range table.Descendants() {
		if n.DataAtom != atom.Tr {
			continue
		}
		here := 0
		for cell := n.FirstChild; cell != nil; cell = cell.NextSibling {
			if cell.Type == html.ElementNode {
				here++
			}
		}
		rows, cells, most = rows+1, cells+here, max(most, here)
	}
	if rows*most > 2*cells+maxEmpty {
		asLines(table, true, atom.Span)
	}
}

// shapeTable prepares a pruned table for the converter, which gives up a table, and joins its
// cells, if a cell has several lines. Tables that cannot be Markdown tables become lines: tables
// for layout, those with tables in them, and those in a link or in emphasized text.
func shapeTable(table *html.Node) {
	if attribute(table, "role") == "presentation" || inInline(table) || contains(table, atom.Table) {
		asLines(table, false, atom.Div)
		return
	}
	var rows []*html.Node
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			rows = append(rows, n)
		case atom.Caption:
			flatten(n)
		}
	}
	hasHead := contains(table, atom.Thead)
	for i, row := range rows {
		for _, cell := range cellsOf(row) {
			if i > 0 && !hasHead {
				rename(cell, atom.Td) // the converter takes the first row with a <th> for the header
			}
			flatten(cell)
		}
	}
	fillSpans(rows)
}

// asLines makes each row of a table a line, and each cell an element of the given kind: a block, or
// inline with a space after it.
func asLines(n *html.Node, nested bool, cell atom.Atom) {
	rename(n, atom.Div)
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.DataAtom {
		case atom.Table:
			if nested {
				asLines(child, nested, cell)
			}
		case atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption:
			asLines(child, nested, cell)
		case atom.Td, atom.Th:
			rename(child, cell)
			if cell == atom.Span {
				n.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, child.NextSibling)
			}
		}
	}
}

func inInline(table *html.Node) bool {
	for n := range table.Ancestors() {
		switch n.DataAtom {
		case atom.A, atom.B, atom.Strong, atom.Em, atom.I, atom.Del, atom.S, atom.Strike:
			return true
		}
	}
	return false
}

func contains(n *html.Node, kind atom.Atom) bool {
	for child := range n.Descendants() {
		if child.DataAtom == kind {
			return true
		}
	}
	return false
}

func cellsOf(row *html.Node) []*html.Node {
	var cells []*html.Node
	for n := range row.ChildNodes() {
		if n.DataAtom == atom.Td || n.DataAtom == atom.Th {
			cells = append(cells, n)
		}
	}
	return cells
}

// fillSpans adds an empty cell wherever a cell spans several columns or rows, so that the cells
// after it stay in their columns. Beyond maxEmpty it ignores spans, which may claim a billion
// columns.
func fillSpans(rows []*html.Node) {
	room := maxEmpty
	covered := map[int]int{} // how many more rows a cell above covers, by column
	for i, row := range rows {
		column := 0
		fill := func(before *html.Node) {
			for ; covered[column] > 0; column++ {
				covered[column]--
				row.InsertBefore(&html.Node{Type: html.ElementNode, Data: "td", DataAtom: atom.Td}, before)
			}
		}
		for _, cell := range cellsOf(row) {
			fill(cell)
			columns, below := span(cell, "colspan")-1, min(span(cell, "rowspan"), len(rows)-i)-1
			cell.Attr = slices.DeleteFunc(cell.Attr, func(a html.Attribute) bool { return a.Key == "colspan" || a.Key == "rowspan" })
			if added := (columns+1)*(below+1) - 1; added > room {
				columns, below = 0, 0
			} else {
				room -= added
			}
			covered[column] = below
			for c := 1; c <= columns; c++ {
				covered[column+c] = below + 1
			}
			column++
			fill(cell.NextSibling)
		}
	}
}

// span returns the value of colspan or rowspan, up to a number that no table may use.
func span(cell *html.Node, key string) int {
	n, err := strconv.Atoi(attribute(cell, key))
	if err != nil {
		return 1
	}
	return min(max(n, 1), maxEmpty+2)
}

// flatten makes the content of a cell one line: where a block or a line would begin, it adds a
// cellBreak.
func flatten(cell *html.Node) {
	f := &flattening{}
	f.children(cell, false)
}

// flattening is the state of flatten.
type flattening struct {
	written bool // the cell has content
	pending bool // a break comes before the next content
}

func (f *flattening) children(n *html.Node, code bool) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		f.node(child, code)
		child = next
	}
}

func (f *flattening) node(n *html.Node, code bool) {
	switch {
	case n.Type == html.TextNode:
		if strings.TrimSpace(n.Data) != "" {
			f.breakBefore(n)
		}
		if code {
			n.Data = strings.ReplaceAll(n.Data, "|", `\|`) // the converter escapes it elsewhere
		}
	case n.DataAtom == atom.Br || n.DataAtom == atom.Hr:
		f.pending = true
		n.Parent.RemoveChild(n)
	case n.DataAtom == atom.Pre:
		f.pre(n)
	case slices.Contains(blocks, n.DataAtom) && n.DataAtom != 0:
		f.pending = true
		f.block(n)
		f.children(n, code)
		f.pending = true
	default:
		f.inline(n)
		f.children(n, code || slices.Contains([]atom.Atom{atom.Code, atom.Var, atom.Samp, atom.Kbd, atom.Tt}, n.DataAtom))
	}
}

// block makes a block inline. A heading becomes emphasized text.
func (f *flattening) block(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		rename(n, atom.Strong)
	default:
		rename(n, atom.Span)
	}
}

// inline makes links and images one line, and their bars part of the cell.
func (f *flattening) inline(n *html.Node) {
	if n.DataAtom == atom.Img {
		f.breakBefore(n)
	}
	for i, a := range n.Attr {
		switch a.Key {
		case "href", "src":
			n.Attr[i].Val = strings.ReplaceAll(a.Val, "|", "%7C")
		case "title", "alt":
			n.Attr[i].Val = strings.ReplaceAll(strings.Join(strings.Fields(a.Val), " "), "|", `\|`)
		}
	}
}

// pre replaces preformatted text by a piece of code for each of its lines.
func (f *flattening) pre(n *html.Node) {
	var text strings.Builder
	for child := range n.Descendants() {
		switch {
		case child.Type == html.TextNode:
			text.WriteString(child.Data)
		case child.DataAtom == atom.Br:
			text.WriteByte('\n')
		}
	}
	for line := range strings.Lines(text.String()) {
		f.pending = true
		if strings.TrimSpace(line) == "" {
			continue
		}
		code := &html.Node{Type: html.ElementNode, Data: "code", DataAtom: atom.Code}
		code.AppendChild(&html.Node{Type: html.TextNode, Data: strings.ReplaceAll(strings.TrimSpace(line), "|", `\|`)})
		n.Parent.InsertBefore(code, n)
		f.breakBefore(code)
	}
	f.pending = true
	n.Parent.RemoveChild(n)
}

// breakBefore adds a pending break before a node, unless nothing is before it.
func (f *flattening) breakBefore(n *html.Node) {
	if f.pending && f.written {
		n.Parent.InsertBefore(&html.Node{Type: html.ElementNode, Data: cellBreak}, n)
	}
	f.written, f.pending = true, false
}

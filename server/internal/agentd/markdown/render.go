package markdown

import (
	"fmt"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// maxBlock is the size of a block in bytes at which Render begins to show the source instead.
	// The time to parse nested blocks can grow with the square of the size.
	maxBlock = 16 << 10
	// maxBrackets and maxMarks bound the characters in a block that can begin a link, an emphasis
	// or a quote. For a block with more, Render shows the source. For each link that does not end,
	// the parser reads the rest of the block: 4,096 of them in 16 KiB take 0.4 s, and 256 take a
	// tenth of that.
	maxBrackets = 256
	maxMarks    = 2048
	// maxDepth is the depth of nested lists and quotes at which Render begins to show the source
	// instead. Deeper text would have no columns left.
	maxDepth = 8
)

// Styles of text, as parameters of the control sequence that selects them.
const (
	heading  = cli.Bold
	strong   = cli.Bold
	emphasis = cli.Color("3") // italic
	code     = cli.Cyan
	quiet    = cli.Dim
)

// Render returns Markdown as lines for a terminal. The last line ends with a line feed, unless
// there is nothing to show.
func Render(source string, screen cli.Screen) string {
	if len(source) > maxBlock || slow(source) {
		return plain(source)
	}
	data := []byte(source)
	root := commonMark().Parse(text.NewReader(data))
	if depth(root, 0) > maxDepth {
		return plain(source)
	}
	r := &renderer{source: data, screen: screen}
	r.blocks(root, "")
	return r.out.String()
}

// slow reports whether a person could notice the time to parse a block. It also counts the
// characters in code blocks, because only the parser knows where a code block ends.
func slow(source string) bool {
	brackets, marks := 0, 0
	for i := range len(source) {
		switch source[i] {
		case '[':
			brackets++
		case '*', '_', '>':
			marks++
		}
	}
	return brackets > maxBrackets || marks > maxMarks || tooManyCells(source)
}

// commonMark returns the parser of CommonMark with tables. It creates the parser only once, because
// creating it takes longer than parsing a short block.
var commonMark = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
})

// plain returns the source with escapes.
func plain(source string) string {
	source = strings.Trim(source, "\n")
	if source == "" {
		return ""
	}
	return cli.Visible(source) + "\n"
}

// depth returns how many lists and quotes are in each other below a node.
func depth(n ast.Node, above int) int {
	deepest := above
	for c := n.FirstChild(); c != nil && deepest <= maxDepth; c = c.NextSibling() {
		below := above
		switch c.Kind() {
		case ast.KindList, ast.KindBlockquote, ast.KindEmphasis, ast.KindLink:
			below++
		}
		deepest = max(deepest, depth(c, below))
	}
	return deepest
}

// renderer writes one document. It is for one goroutine.
type renderer struct {
	source []byte
	screen cli.Screen
	out    strings.Builder
}

// blocks writes the child blocks of a node. Each line begins with indent.
func (r *renderer) blocks(parent ast.Node, indent string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && !tight(parent) {
			r.out.WriteString(strings.TrimRight(indent, " ") + "\n")
		}
		r.block(n, indent)
	}
}

// tight reports whether the children of a block follow each other without a blank line.
func tight(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.List:
		return n.IsTight
	case *ast.ListItem:
		list, ok := n.Parent().(*ast.List)
		return ok && list.IsTight
	}
	return false
}

// block writes one block.
func (r *renderer) block(n ast.Node, indent string) {
	switch n := n.(type) {
	case *ast.Heading:
		r.paragraph(n, indent, indent, heading)
	case *ast.Paragraph, *ast.TextBlock:
		r.paragraph(n, indent, indent, "")
	case *ast.List:
		r.list(n, indent)
	case *table.Table:
		r.table(n, indent)
	case *ast.Blockquote:
		r.blocks(n, indent+"│ ")
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		r.lines(n, indent+"    ", code)
	case *ast.HTMLBlock:
		r.lines(n, indent, "")
	case *ast.ThematicBreak:
		const rule = 24
		r.out.WriteString(indent + r.screen.Paint(quiet, strings.Repeat("─", rule)) + "\n")
	default: // such as the definition of a link, which shows nothing
		r.blocks(n, indent)
	}
}

// lines writes the source lines of a block as they are.
func (r *renderer) lines(n ast.Node, indent string, style cli.Color) {
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		line := cli.OneLine(strings.ReplaceAll(strings.TrimRight(string(segment.Value(r.source)), "\r\n"), "\t", "    "))
		r.out.WriteString(strings.TrimRight(indent+r.screen.Paint(style, line), " ") + "\n")
	}
}

// list writes the items of a list behind bullets or numbers.
func (r *renderer) list(list *ast.List, indent string) {
	number := list.Start
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		mark := "• "
		if list.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		if n.PreviousSibling() != nil && !list.IsTight {
			r.out.WriteString(strings.TrimRight(indent, " ") + "\n")
		}
		inner := indent + strings.Repeat(" ", len([]rune(mark)))
		first := n.FirstChild()
		if first == nil {
			r.out.WriteString(strings.TrimRight(indent+mark, " ") + "\n")
			continue
		}
		switch first.(type) {
		case *ast.TextBlock, *ast.Paragraph, *ast.Heading:
			r.paragraph(first, indent+mark, inner, "")
			first = first.NextSibling()
		default:
			r.out.WriteString(strings.TrimRight(indent+mark, " ") + "\n")
		}
		for ; first != nil; first = first.NextSibling() {
			r.block(first, inner)
		}
	}
}

// paragraph writes text, wrapped between words. first begins the first line, and rest begins the
// other lines.
func (r *renderer) paragraph(n ast.Node, first, rest string, style cli.Color) {
	var text cli.StyledText
	r.inline(&text, n, style)
	for _, line := range text.Lines(r.screen, len([]rune(rest))) {
		r.out.WriteString(first + line + "\n")
		first = rest
	}
}

// inline adds the text below a node.
func (r *renderer) inline(out *cli.StyledText, parent ast.Node, style cli.Color) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out.Add(resolve(n.Segment.Value(r.source)), style)
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.Break()
			}
		case *ast.String:
			out.Add(string(n.Value), style)
		case *ast.CodeSpan:
			out.Add(r.literal(n), join(style, code))
		case *ast.Emphasis:
			added := emphasis
			if n.Level > 1 {
				added = strong
			}
			r.inline(out, n, join(style, added))
		case *ast.Link:
			r.inline(out, n, style)
			out.Add(" ("+string(n.Destination)+")", join(style, quiet))
		case *ast.Image:
			out.Add("[image ", style)
			r.inline(out, n, style)
			out.Add("] ("+string(n.Destination)+")", join(style, quiet))
		case *ast.AutoLink:
			out.Add(string(n.URL(r.source)), style)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				segment := n.Segments.At(i)
				out.Add(string(segment.Value(r.source)), style)
			}
		default:
			r.inline(out, n, style)
		}
	}
}

// literal returns the text of a code span, in which nothing is Markdown.
func (r *renderer) literal(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(r.source))
		}
	}
	return b.String()
}

// resolve returns text without backslash escapes and with the characters that entities name. Some
// of these are control characters, so the caller escapes the result.
func resolve(source []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(source))))
}

// join returns a style that adds another one.
func join(style, added cli.Color) cli.Color {
	if style == "" {
		return added
	}
	return style + ";" + added
}

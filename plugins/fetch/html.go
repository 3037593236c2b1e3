package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxMarkup limits the HTML that is parsed. The converter takes seconds for this size in the
	// worst case.
	maxMarkup = 2 << 20
	// maxIndent limits the nesting of quotations and lists. The converter indents each line again
	// at each level, so thousands of lines in a hundred levels would take minutes.
	maxIndent = 8
	// maxBase limits the length of the path that completes relative links. A page of a megabyte may
	// have a hundred thousand links.
	maxBase = 300
)

// errMarkup means that HTML is too large or too deeply nested to be converted.
var errMarkup = errors.New("the page is too large or too deeply nested to be converted")

// page is parsed HTML without invisible elements.
type page struct {
	document *html.Node
	hints
}

// parse returns a page, or errMarkup. If the page marks its main part, and that has content, it
// returns only that part.
func parse(text string) (*page, error) {
	if len(text) > maxMarkup {
		return nil, errMarkup
	}
	document, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMarkup, err)
	}
	p := &page{document: document}
	var mains []*html.Node
	for n := range document.Descendants() {
		p.take(n)
		if n.DataAtom == atom.Main || attribute(n, "role") == "main" {
			mains = append(mains, n)
		}
	}
	if len(mains) == 1 {
		if prune(mains[0], 0); visible(mains[0]) {
			p.document = mains[0]
			return p, nil
		}
	}
	prune(p.document, 0)
	return p, nil
}

// unread are the elements without readable content.
var unread = []atom.Atom{
	atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Svg, atom.Canvas, atom.Object, atom.Embed,
	atom.Button, atom.Input, atom.Select, atom.Textarea, atom.Dialog, atom.Head, atom.Audio, atom.Video, atom.Math,
}

// prune removes unreadable elements and limits what would be costly to convert. The HTML parser
// limits the depth.
func prune(n *html.Node, indent int) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		switch {
		case child.Type == html.CommentNode, slices.Contains(unread, child.DataAtom) && child.DataAtom != 0, hidden(child), isBare(child):
			n.RemoveChild(child)
		default:
			depth := indent
			switch child.DataAtom {
			case atom.Blockquote, atom.Ul, atom.Ol, atom.Dl, atom.Table:
				depth++
			}
			if depth > maxIndent && depth > indent {
				child.DataAtom, child.Data = atom.Div, "div"
				depth = indent
			}
			if child.DataAtom == atom.Table {
				boundTable(child)
			}
			omitData(child)
			prune(child, depth)
			if child.DataAtom == atom.Table {
				shapeTable(child)
			}
		}
		child = next
	}
}

func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "hidden" && a.Val != "until-found" || a.Key == "aria-hidden" && a.Val == "true" {
			return true
		}
		if a.Key == "style" && strings.Contains(strings.ReplaceAll(strings.ToLower(a.Val), " ", ""), "display:none") {
			return true
		}
	}
	return false
}

// dataScheme begins a URL that holds its content. A picture of 100 KB takes 40,000 tokens, and a
// model cannot read it in this form.
const dataScheme = "data:"

// isBare reports whether an element is a picture that has only its own bytes, and no words.
func isBare(n *html.Node) bool {
	return n.DataAtom == atom.Img && isData(attribute(n, "src")) && strings.TrimSpace(attribute(n, "alt")) == ""
}

func isData(address string) bool {
	address = strings.TrimSpace(address)
	return len(address) >= len(dataScheme) && strings.EqualFold(address[:len(dataScheme)], dataScheme)
}

// omitData replaces the content in the URLs of an element by a word. The type of the content stays.
func omitData(n *html.Node) {
	for i, a := range n.Attr {
		if (a.Key == "src" || a.Key == "href") && isData(a.Val) {
			kind, _, _ := strings.Cut(strings.TrimSpace(a.Val)[len(dataScheme):], ",")
			kind, _, _ = strings.Cut(kind, ";")
			n.Attr[i].Val = dataScheme + oneLine(kind, 100) + ",omitted"
		}
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// markdown returns the page as Markdown with absolute links.
func (p *page) markdown(location *url.URL) (text string, err error) {
	convert := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		strikethrough.NewStrikethroughPlugin(), table.NewTablePlugin(table.WithNewlineBehavior(table.NewlineBehaviorPreserve),
			table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
	convert.Register.RendererFor(cellBreak, converter.TagTypeInline, writeBreak, converter.PriorityStandard)
	where := url.URL{Scheme: location.Scheme, Host: location.Host}
	if len(location.EscapedPath()) <= maxBase {
		where.Path, where.RawPath = location.Path, location.RawPath
	}
	// The page is untrusted input for a library, so a panic of the library becomes an error.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errMarkup, r)
		}
	}()
	converted, err := convert.ConvertNode(p.document, converter.WithDomain(where.String()))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errMarkup, err)
	}
	return strings.TrimSpace(string(converted)), nil
}

// blocks are the elements that start a new line.
var blocks = []atom.Atom{
	atom.P, atom.Div, atom.Br, atom.Li, atom.Tr, atom.Table, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Nav,
	atom.Ul, atom.Ol, atom.Dl, atom.Dt, atom.Dd, atom.Blockquote, atom.Pre, atom.Hr, atom.Main, atom.Aside, atom.Form,
	atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Figure, atom.Figcaption, atom.Address, atom.Title,
	atom.Details, atom.Summary, atom.Fieldset, atom.Hgroup,
}

// plain returns the text of HTML without markup, in one pass, for any input.
func plain(text string) string {
	var b strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(text))
	skip := atom.Atom(0) // the element to skip to the end of
	pre := 0
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return tidy(b.String())
		case html.TextToken:
			if skip == 0 {
				writeText(&b, html.UnescapeString(string(tokens.Raw())), pre > 0)
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := tokens.TagName()
			tag := atom.Lookup(name)
			if tag == atom.Pre {
				pre += map[html.TokenType]int{html.StartTagToken: 1, html.EndTagToken: -1}[kind]
			}
			switch {
			case skip != 0:
				if kind == html.EndTagToken && tag == skip {
					skip = 0
				}
			case kind == html.StartTagToken && (tag == atom.Script || tag == atom.Style || tag == atom.Template || tag == atom.Svg || tag == atom.Noscript):
				skip = tag
			case slices.Contains(blocks, tag):
				b.WriteByte('\n')
			case tag == atom.Td || tag == atom.Th:
				b.WriteByte(' ')
			}
		}
	}
}

var lineEnds = strings.NewReplacer("\r", " ", "\n", " ")

// writeText writes text. Outside of <pre>, a line end becomes a space.
func writeText(b *strings.Builder, text string, pre bool) {
	if !pre {
		text = lineEnds.Replace(text)
	}
	b.WriteString(text)
}

// tidy joins spaces within lines, and joins several empty lines into one.
func tidy(text string) string {
	var b strings.Builder
	empty := true
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" && empty {
			continue
		}
		empty = line == ""
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

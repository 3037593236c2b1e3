package clientfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlSyntax is TOML. An entry is a table, and so are the objects in it.
type tomlSyntax struct{}

func (tomlSyntax) decode(text []byte) (map[string]any, error) {
	_, text = cutMark(text)
	if bytes.Count(text, []byte(".")) > mostContainers { // each may be a level, and the parser bounds all but dotted keys
		return nil, fmt.Errorf("it has more than %d dots", mostContainers)
	}
	tree := map[string]any{}
	return tree, toml.Unmarshal(text, &tree)
}

// mostParts bounds the paths of expressions, because a header with many parts is in that of each
// key below it. No entry is as deep.
const mostParts = 8

// expression is a header of a table or a pair of a key and a value.
type expression struct {
	path   []string // with the table that the key is in; the first mostParts
	header bool
	start  int // of its line
	key    int // the end of the key
	end    int // without a comment behind it
	next   int // the start of the next line
}

// belongs reports whether the expression is part of the entry at a path.
func (e *expression) belongs(path []string) bool {
	return len(e.path) >= len(path) && slices.Equal(e.path[:len(path)], path)
}

// expressions returns the expressions of a text. Of the parser, which other versions of the library
// may change, it uses the positions of keys and comments. Each edit is checked with toml.Unmarshal.
func expressions(text []byte) ([]expression, error) {
	p := unstable.Parser{KeepComments: true}
	p.Reset(text)
	var all []expression
	var table []string
	end := func(at int) { // ends the last expression, if it has no end yet
		if n := len(all); n > 0 && all[n-1].end == 0 {
			last := &all[n-1]
			last.end = last.start + len(bytes.TrimRight(text[last.start:at], " \t\r\n"))
			last.next = len(text)
			if line := bytes.IndexByte(text[last.end:], '\n'); line >= 0 {
				last.next = last.end + line + 1
			}
		}
	}
	for p.NextExpression() {
		node := p.Expression()
		if node.Kind == unstable.Comment {
			end(int(node.Raw.Offset))
			continue
		}
		e := expression{header: node.Kind != unstable.KeyValue}
		if !e.header {
			e.path = slices.Clone(table)
		}
		first := true
		for key := node.Key(); key.Next(); first = false {
			k := key.Node()
			if first {
				e.start = lineStart(text, int(k.Raw.Offset))
				end(e.start)
			}
			if len(e.path) < mostParts {
				e.path = append(e.path, string(k.Data))
			}
			e.key = int(k.Raw.Offset + k.Raw.Length)
		}
		if e.header {
			table = e.path
		}
		all = append(all, e)
		if comment := node.Next(); comment.Valid() && comment.Kind == unstable.Comment {
			end(int(comment.Raw.Offset))
		}
	}
	end(len(text))
	return all, p.Error()
}

func (s tomlSyntax) put(text []byte, path []string, entry object) ([]byte, error) {
	before, text := cutMark(text)
	all, err := expressions(text)
	if err != nil {
		return nil, err
	}
	end := lineEnd(text)
	block := strings.ReplaceAll(s.render(path, entry), "\n", end)
	splices, at := cut(all, path), -1
	for _, e := range all {
		if e.header && e.belongs(path) {
			at = e.start
			break
		}
	}
	if at >= 0 && len(splices) > 0 && splices[0].from == at { // the keys up to the next header are its own
		splices = slices.Insert(splices, 0, splice{at, at, block})
	} else {
		if len(text) > 0 {
			block = end + block
		}
		if !bytes.HasSuffix(text, []byte("\n")) && len(text) > 0 {
			block = end + block
		}
		splices = append(splices, splice{len(text), len(text), block})
	}
	return append([]byte(before), apply(text, splices...)...), nil
}

// cut returns the splices that remove the entry at a path.
func cut(all []expression, path []string) []splice {
	var splices []splice
	for _, e := range all {
		if e.belongs(path) {
			splices = append(splices, splice{e.start, e.next, ""})
		}
	}
	return splices
}

func (tomlSyntax) update(text []byte, path []string, members object) ([]byte, error) {
	before, text := cutMark(text)
	all, err := expressions(text)
	if err != nil {
		return nil, err
	}
	var splices []splice
	for _, m := range members {
		at := slices.IndexFunc(all, func(e expression) bool {
			return !e.header && slices.Equal(e.path, append(path[:len(path):len(path)], m.key))
		})
		if at < 0 {
			return nil, fmt.Errorf("%s has no line for %s", strings.Join(path, "."), m.key)
		}
		splices = append(splices, splice{all[at].key, all[at].end, " = " + literal(m.value)})
	}
	return append([]byte(before), apply(text, splices...)...), nil
}

func (tomlSyntax) remove(text []byte, path []string) ([]byte, error) {
	before, text := cutMark(text)
	all, err := expressions(text)
	if err != nil {
		return nil, err
	}
	splices := cut(all, path)
	if len(splices) > 0 { // and the empty line in front of it, which put wrote
		first := &splices[0]
		end := lineEnd(text)
		if lines := text[:first.from]; bytes.HasSuffix(lines, []byte(end+end)) {
			first.from -= len(end)
		}
	}
	return append([]byte(before), apply(text, splices...)...), nil
}

func (tomlSyntax) render(path []string, entry object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\n", strings.Join(path, "."))
	for _, m := range entry {
		fmt.Fprintf(&b, "%s = %s\n", m.key, literal(m.value))
	}
	return b.String()
}

package pluginwire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// maxBlocks limits the content blocks of a result, so that empty chunks of new blocks do not occupy
// unlimited memory.
const maxBlocks = 4096

// assembly joins a result from its chunks and its end. The zero value with a limit is ready for
// use.
type assembly struct {
	limit  int // the maximum payload in all, in bytes
	size   int
	chunks map[uint32]*pages
}

func broken(format string, args ...any) *tool.Error {
	return tool.Errorf(tool.KindInternal, "the plugin broke the contract: "+format, args...)
}

// add adds a chunk.
func (a *assembly) add(chunk *pluginv1.ContentChunk) *tool.Error {
	index, data := chunk.GetIndex(), chunk.GetData()
	switch {
	case index >= maxBlocks:
		return broken("a chunk for block %d of a result; there may be %d", index, maxBlocks)
	case len(data) > maxPiece:
		return broken("a chunk of %d bytes; at most %d are allowed", len(data), maxPiece)
	}
	if err := a.grow(len(data)); err != nil {
		return err
	}
	if a.chunks == nil {
		a.chunks = map[uint32]*pages{}
	}
	if a.chunks[index] == nil {
		a.chunks[index] = &pages{}
	}
	a.chunks[index].add(data)
	return nil
}

func (a *assembly) grow(n int) *tool.Error {
	if a.size += n; a.size > a.limit {
		return tool.Errorf(tool.KindInternal, "the tool's result is larger than the %d bytes that are allowed", a.limit)
	}
	return nil
}

// finish returns the result with its chunks in place. It checks that JSON values are valid.
func (a *assembly) finish(end *toolv1.Result) (tool.Result, *tool.Error) {
	for index := range a.chunks {
		if int(index) >= len(end.GetContent()) {
			return tool.Result{}, broken("a chunk for block %d of a result that has %d", index, len(end.GetContent()))
		}
	}
	result := toolpb.ToResult(end)
	for i := range result.Content {
		if err := a.finishBlock(&result.Content[i], i); err != nil {
			return tool.Result{}, err
		}
	}
	for i, effect := range result.Effects {
		value, ok := checkedJSON(effect.Value)
		if !ok {
			return tool.Result{}, broken("the value of the effect on %q is no JSON", clip(effect.Key, maxReason))
		}
		result.Effects[i].Value = value
	}
	for key, value := range result.Metadata {
		value, ok := checkedJSON(value)
		if !ok {
			return tool.Result{}, broken("the metadata %q is no JSON", clip(key, maxReason))
		}
		result.Metadata[key] = value
	}
	return result, nil
}

func (a *assembly) finishBlock(block *tool.Content, index int) *tool.Error {
	head, chunked := a.chunks[uint32(index)]
	switch block.Kind {
	case tool.ContentText:
		if err := a.grow(len(block.Text)); err != nil {
			return err
		}
		if chunked {
			block.Text = validText(head.text(block.Text))
		}
	case tool.ContentJSON:
		if err := a.grow(len(block.JSON)); err != nil {
			return err
		}
		value, ok := checkedJSON(join(head, block.JSON))
		if !ok {
			return broken("block %d of the result is no JSON", index)
		}
		block.JSON = value
	case tool.ContentImage, tool.ContentFile:
		if err := a.grow(len(block.Data)); err != nil {
			return err
		}
		block.Data = join(head, block.Data)
	default:
		if chunked {
			return broken("a chunk for block %d, which takes none", index)
		}
		if block.Kind == "" {
			*block = tool.Text("[a block of a kind that this toolhost does not know]")
		}
	}
	return nil
}

func join(head *pages, tail []byte) []byte {
	if head == nil || head.size == 0 {
		return tail
	}
	return head.bytes(tail)
}

// clip shortens s to about limit bytes.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

const (
	minPage = 512
	maxPage = 1 << 20
)

// pages collects a payload of unknown size and joins it once. A single growing slice would hold the
// payload twice while it grows, and leave as much garbage. The zero value is empty.
type pages struct {
	full [][]byte
	last []byte
	size int
}

// add adds a copy of data. It never allocates more than twice the received size, or 1 MiB more than
// it.
func (p *pages) add(data []byte) {
	p.size += len(data)
	for len(data) > 0 {
		if len(p.last) == cap(p.last) {
			if len(p.last) > 0 {
				p.full = append(p.full, p.last)
			}
			p.last = make([]byte, 0, min(max(p.size, minPage), maxPage))
		}
		n := min(len(data), cap(p.last)-len(p.last))
		p.last = append(p.last, data[:n]...)
		data = data[n:]
	}
}

// text returns the payload followed by tail, and empties the pages.
func (p *pages) text(tail string) string {
	var b strings.Builder
	b.Grow(p.size + len(tail))
	p.drain(func(page []byte) { b.Write(page) })
	b.WriteString(tail)
	return b.String()
}

// bytes returns the payload followed by tail, and empties the pages.
func (p *pages) bytes(tail []byte) []byte {
	b := make([]byte, 0, p.size+len(tail))
	p.drain(func(page []byte) { b = append(b, page...) })
	return append(b, tail...)
}

// drain passes the pages to take and releases each.
func (p *pages) drain(take func(page []byte)) {
	for i, page := range p.full {
		take(page)
		p.full[i] = nil
	}
	take(p.last)
	*p = pages{}
}

// checkedJSON reports whether a value from a plugin is valid JSON. Invalid JSON would make the
// message that contains it unencodable. It returns the value with invalid UTF-8 replaced, which
// Go's parser accepts in strings.
func checkedJSON(value json.RawMessage) (json.RawMessage, bool) {
	switch {
	case !json.Valid(value):
		return nil, false
	case !utf8.Valid(value):
		return bytes.ToValidUTF8(value, []byte("\uFFFD")), true
	default:
		return value, true
	}
}

// checkedObject is checkedJSON for values that must be objects.
func checkedObject(value json.RawMessage) (json.RawMessage, bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(value, " \t\r\n"), []byte("{")) {
		return nil, false
	}
	return checkedJSON(value)
}

// quoteOthers converts values that are not JSON to strings.
func quoteOthers(values map[string]json.RawMessage) {
	for key, value := range values {
		checked, ok := checkedJSON(value)
		if !ok {
			checked, _ = json.Marshal(validText(string(value))) // a string can always be encoded
		}
		values[key] = checked
	}
}

// checkSpec corrects the parts of a declaration that no other package checks: it drops examples
// that are not JSON objects, and converts metadata that is not JSON to strings. Package arguments
// checks schemas.
func checkSpec(spec *tool.Spec) {
	quoteOthers(spec.Metadata)
	kept := spec.InputExamples[:0]
	for _, example := range spec.InputExamples {
		if arguments, ok := checkedObject(example.Arguments); ok {
			example.Arguments = arguments
			kept = append(kept, example)
		}
	}
	spec.InputExamples = kept
}

// statusFold records the earlier statuses of a call, as far as the rules for later statuses depend
// on them.
type statusFold struct {
	state tool.StatusState
	done  float64 // the greatest progress so far
}

// admit removes everything from s that violates the rules, and reports whether anything is left.
// The rules: nothing follows a terminal state, a state never goes back, progress never decreases,
// parameters are a JSON object, and a result is JSON.
func (f *statusFold) admit(s *tool.Status) bool {
	if !s.State.MayFollow(f.state) {
		return false
	}
	s.Parameters, _ = checkedObject(s.Parameters)
	s.Result, _ = checkedJSON(s.Result)
	if s.Progress != nil && s.Progress.Done < f.done {
		s.Progress = nil
	}
	if s.State == "" && s.Message == "" && s.Parameters == nil && s.Progress == nil && s.Result == nil {
		return false
	}
	if s.State != "" {
		f.state = s.State
	}
	if s.Progress != nil {
		f.done = s.Progress.Done
	}
	return true
}

package snapshot

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Snapshots have their own encoding of a conversation. Decoding the JSON of a run with 10,000
// events takes five times as long as all other work of continuing the run. The encoding stores
// common blocks (text, calls, and results with plain text) as lengths and bytes. Every other block
// is JSON.

// The tags of blocks.
const (
	tagText   = 't'
	tagCall   = 'c'
	tagResult = 'r'
	tagError  = 'e' // the result of a failed call
	tagJSON   = 'j'
)

// encoder writes a conversation.
type encoder struct{ out []byte }

func (w *encoder) number(n int) { w.out = binary.AppendUvarint(w.out, uint64(n)) }

func (w *encoder) text(s string) {
	w.number(len(s))
	w.out = append(w.out, s...)
}

// counts is the number of elements of each kind, so that the decoder allocates once.
type counts struct{ messages, blocks, texts, calls, results, contents int }

func (c *counts) fields() [6]*int {
	return [...]*int{&c.messages, &c.blocks, &c.texts, &c.calls, &c.results, &c.contents}
}

// tagOf returns the encoding of a block.
func tagOf(b *model.Block) byte {
	switch {
	case b.Text != nil && *b == model.Block{Text: b.Text} && *b.Text == model.Text{Text: b.Text.Text}:
		return tagText
	case b.ToolCall != nil && *b == model.Block{ToolCall: b.ToolCall}:
		if c := b.ToolCall; *c == (model.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments}) {
			return tagCall
		}
	case b.ToolResult != nil && *b == model.Block{ToolResult: b.ToolResult} && plain(b.ToolResult):
		if b.ToolResult.IsError {
			return tagError
		}
		return tagResult
	}
	return tagJSON
}

// plain reports whether a result has only text. Unknown fields count as something else.
func plain(r *model.ToolResult) bool {
	rest := *r
	rest.ID, rest.Name, rest.Content, rest.IsError = "", "", nil, false
	if !reflect.ValueOf(rest).IsZero() {
		return false
	}
	for i := range r.Content {
		c := r.Content[i]
		kind := c.Kind
		if c.Kind, c.Text = "", ""; kind != tool.ContentText || !reflect.ValueOf(c).IsZero() {
			return false
		}
	}
	return true
}

func (w *encoder) messages(list []model.Message) error {
	count := counts{messages: len(list)}
	var tags []byte
	for i := range list {
		count.blocks += len(list[i].Blocks)
		for j := range list[i].Blocks {
			tag := tagOf(&list[i].Blocks[j])
			switch tags = append(tags, tag); tag {
			case tagText:
				count.texts++
			case tagCall:
				count.calls++
			case tagResult, tagError:
				count.results++
				count.contents += len(list[i].Blocks[j].ToolResult.Content)
			}
		}
	}
	for _, n := range count.fields() {
		w.number(*n)
	}
	for i := range list {
		w.text(string(list[i].Role))
		w.number(len(list[i].Blocks))
		for j := range list[i].Blocks {
			if err := w.block(tags[0], &list[i].Blocks[j]); err != nil {
				return err
			}
			tags = tags[1:]
		}
	}
	return nil
}

func (w *encoder) block(tag byte, b *model.Block) error {
	w.out = append(w.out, tag)
	switch tag {
	case tagText:
		w.text(b.Text.Text)
	case tagCall:
		w.text(b.ToolCall.ID)
		w.text(b.ToolCall.Name)
		w.text(b.ToolCall.Arguments)
	case tagResult, tagError:
		w.text(b.ToolResult.ID)
		w.text(b.ToolResult.Name)
		w.number(len(b.ToolResult.Content))
		for i := range b.ToolResult.Content {
			w.text(b.ToolResult.Content[i].Text)
		}
	default:
		data, err := loop.Marshal(b)
		if err != nil {
			return err
		}
		w.text(string(data))
	}
	return nil
}

// errCorrupt says that a snapshot is too short or was changed.
var errCorrupt = errors.New("the snapshot is torn")

// decoder reads what an encoder wrote. Texts share the input's memory. After an error, it returns
// only zero values.
type decoder struct {
	in  string
	err error
}

func (r *decoder) fail(err error) {
	if r.err == nil {
		r.in, r.err = "", err
	}
}

func (r *decoder) number() int {
	n := uint64(0)
	for i := 0; i < len(r.in) && i < 5; i++ { // a length has at most 35 bits
		n |= uint64(r.in[i]&0x7f) << (7 * i)
		if r.in[i] < 0x80 {
			r.in = r.in[i+1:]
			return int(n)
		}
	}
	r.fail(errCorrupt)
	return 0
}

// count reads the number of elements that take at least one byte each.
func (r *decoder) count() int {
	n := r.number()
	if n > len(r.in) {
		r.fail(errCorrupt)
		return 0
	}
	return n
}

func (r *decoder) text() string {
	n := r.count()
	s := r.in[:n]
	r.in = r.in[n:]
	return s
}

// jsonBlock reads a JSON block. It is separate so that other blocks do not allocate for it.
func (r *decoder) jsonBlock() model.Block {
	var b model.Block
	r.json(&b)
	return b
}

// take reads n bytes.
func (r *decoder) take(n int) string {
	if n > len(r.in) {
		r.fail(errCorrupt)
		return string(make([]byte, n))
	}
	s := r.in[:n]
	r.in = r.in[n:]
	return s
}

func (r *decoder) json(into any) {
	text := r.text()
	if r.err != nil {
		return
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		r.fail(err)
	}
}

// arena holds the decoded values in one slice for each kind.
type arena struct {
	blocks   []model.Block
	texts    []model.Text
	calls    []model.ToolCall
	results  []model.ToolResult
	contents []tool.Content
}

func (r *decoder) messages() []model.Message {
	var n counts
	for _, field := range n.fields() {
		*field = r.count()
	}
	room := arena{
		make([]model.Block, 0, n.blocks), make([]model.Text, 0, n.texts), make([]model.ToolCall, 0, n.calls),
		make([]model.ToolResult, 0, n.results), make([]tool.Content, 0, n.contents),
	}
	list := make([]model.Message, 0, n.messages)
	for range n.messages {
		m := model.Message{Role: model.Role(r.text())}
		begin := len(room.blocks)
		for range r.count() {
			room.blocks = append(room.blocks, r.block(&room))
		}
		if end := len(room.blocks); end > begin {
			m.Blocks = room.blocks[begin:end:end]
		}
		list = append(list, m)
	}
	return list
}

func (r *decoder) block(room *arena) (b model.Block) {
	if r.in == "" {
		r.fail(errCorrupt)
		return b
	}
	tag := r.in[0]
	r.in = r.in[1:]
	switch tag {
	case tagText:
		room.texts = append(room.texts, model.Text{Text: r.text()})
		b.Text = &room.texts[len(room.texts)-1]
	case tagCall:
		room.calls = append(room.calls, model.ToolCall{ID: r.text(), Name: r.text(), Arguments: r.text()})
		b.ToolCall = &room.calls[len(room.calls)-1]
	case tagResult, tagError:
		result := model.ToolResult{ID: r.text(), Name: r.text(), IsError: tag == tagError}
		begin := len(room.contents)
		for range r.count() {
			room.contents = append(room.contents, tool.Text(r.text()))
		}
		if end := len(room.contents); end > begin {
			result.Content = room.contents[begin:end:end]
		}
		room.results = append(room.results, result)
		b.ToolResult = &room.results[len(room.results)-1]
	case tagJSON:
		return r.jsonBlock()
	default:
		r.fail(errCorrupt)
	}
	return b
}

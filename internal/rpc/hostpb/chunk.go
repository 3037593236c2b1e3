package hostpb

import (
	"fmt"
	"iter"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// cut takes the payloads out of a result until what is left is at most ChunkBytes, and yields them in pieces. It may
// stop early, and then the result is of no use. nil has no pieces.
func cut(r *toolv1.Result) iter.Seq[*toolhostv1.ContentChunk] {
	return func(yield func(*toolhostv1.ContentChunk) bool) {
		left := ChunkBytes
		for i, c := range r.GetContent() {
			p := payloadOf(c)
			if n := p.len(); n <= left {
				left -= n
				continue
			}
			for rest := p; rest.len() > 0; {
				n := min(rest.len(), ChunkBytes)
				if !yield(&toolhostv1.ContentChunk{Index: uint32(i), Data: rest.take(n)}) {
					return
				}
			}
			setPayload(c, nil)
		}
	}
}

// payload is the part of a block that may travel in pieces, as text or as bytes.
type payload struct {
	text string
	data []byte
}

func (p *payload) len() int { return len(p.text) + len(p.data) }

// take returns the first n bytes and keeps the rest.
func (p *payload) take(n int) []byte {
	if p.text != "" {
		piece := []byte(p.text[:n])
		p.text = p.text[n:]
		return piece
	}
	piece := p.data[:n:n]
	p.data = p.data[n:]
	return piece
}

func payloadOf(c *toolv1.Content) payload {
	switch b := c.GetBlock().(type) {
	case *toolv1.Content_Text:
		return payload{text: b.Text}
	case *toolv1.Content_Json:
		return payload{data: b.Json}
	case *toolv1.Content_Image:
		return payload{data: b.Image.GetData()}
	case *toolv1.Content_File:
		return payload{data: b.File.GetData()}
	default:
		return payload{}
	}
}

// setPayload reports whether the block has a place for a payload.
func setPayload(c *toolv1.Content, data []byte) bool {
	switch b := c.GetBlock().(type) {
	case *toolv1.Content_Text:
		b.Text = string(data)
	case *toolv1.Content_Json:
		b.Json = data
	case *toolv1.Content_Image:
		return setData(b.Image, data)
	case *toolv1.Content_File:
		return setData(b.File, data)
	default:
		return false
	}
	return true
}

func setData(b *toolv1.Blob, data []byte) bool {
	if b == nil {
		return false
	}
	b.Data = data
	return true
}

// Joiner turns the messages of one call back into events. The zero value is ready; it is for one goroutine at a time.
type Joiner struct {
	pieces map[uint32][]byte
}

// Add takes the next message. ok is false where it completes no event: a piece of a result, or a kind of event that
// this version does not know.
func (j *Joiner) Add(m *toolhostv1.CallEvent) (e tool.Event, ok bool) {
	e = tool.Event{Seq: m.GetSeq(), Time: toolpb.ToTime(m.GetTime())}
	switch v := m.GetEvent().(type) {
	case *toolhostv1.CallEvent_Started:
		e.Started = &tool.Started{
			CallID:   v.Started.GetCallId(),
			Plugin:   v.Started.GetPlugin(),
			Instance: v.Started.GetInstance(),
			Attempt:  v.Started.GetAttempt(),
		}
	case *toolhostv1.CallEvent_Status:
		s := toolpb.ToStatus(v.Status)
		e.Status = &s
	case *toolhostv1.CallEvent_Log:
		l := toolpb.ToLogRecord(v.Log)
		e.Log = &l
	case *toolhostv1.CallEvent_Chunk:
		if j.pieces == nil {
			j.pieces = map[uint32][]byte{}
		}
		j.pieces[v.Chunk.GetIndex()] = append(j.pieces[v.Chunk.GetIndex()], v.Chunk.GetData()...)
		return tool.Event{}, false
	case *toolhostv1.CallEvent_Ended:
		e.Ended = j.end(v.Ended)
	default:
		return tool.Event{}, false
	}
	return e, true
}

func (j *Joiner) end(ended *toolhostv1.CallEnded) *tool.Outcome {
	result := ended.GetResult()
	if result != nil {
		if err := j.join(result); err != nil {
			failure := tool.Errorf(tool.KindInternal, "joining the pieces of the result: %w", err)
			failure.CallID = ended.GetCallId()
			return &tool.Outcome{CallID: ended.GetCallId(), Plugin: ended.GetPlugin(), Instance: ended.GetInstance(), Err: failure}
		}
	}
	return toOutcome(ended, result)
}

func (j *Joiner) join(r *toolv1.Result) error {
	for index, data := range j.pieces {
		if int64(index) >= int64(len(r.GetContent())) {
			return fmt.Errorf("there is a piece of block %d and the result has %d blocks", index, len(r.GetContent()))
		}
		c := r.GetContent()[index]
		rest := payloadOf(c)
		if !setPayload(c, append(data, rest.take(rest.len())...)) {
			return fmt.Errorf("there is a piece of block %d, which cannot be cut", index)
		}
	}
	j.pieces = nil
	return nil
}

package conformance

import (
	"encoding/json"
	"math"
	"unicode/utf8"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
)

// mostKept bounds the bytes of one result that are kept. The rest is not examined.
const mostKept = 16 << 20

// take judges a frame of the call, and returns the credit to grant for it.
func (c *call) take(frame *pluginv1.ConnectResponse) (grant int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		c.judgef("calls.end", "it sent %s after `end`", frameName(frame))
		return 0
	}
	c.heard++
	if end := frame.GetEnd(); end != nil {
		c.finish(end)
		return 0
	}
	if c.credit <= 0 {
		c.judgef("flow.credit", "it sent %s although it had used up its credit", frameName(frame))
	}
	c.credit -= sizeOf(frame)
	switch f := frame.GetFrame().(type) {
	case *pluginv1.ConnectResponse_Status:
		c.status(f.Status)
	case *pluginv1.ConnectResponse_Progress:
		c.advance(f.Progress)
	case *pluginv1.ConnectResponse_Log:
		c.log(f.Log)
	case *pluginv1.ConnectResponse_Chunk:
		c.chunk(f.Chunk)
	}
	if !c.frugal && c.credit < plenty/2 {
		grant = plenty
	}
	return grant
}

// judgef records a problem. The caller holds the lock.
func (c *call) judgef(check, format string, args ...any) {
	c.problems = append(c.problems, problemf(check, format, args...))
}

func (c *call) status(s *toolv1.Status) {
	if terminal(c.state) {
		c.judgef("calls.statuses", "a status came after %s", stateName(c.state))
	}
	if s.GetState() != toolv1.StatusState_STATUS_STATE_UNSPECIFIED {
		if toolpb.ToStatus(s).State == "" {
			c.judgef("calls.statuses", "the status %d is not known", s.GetState())
		} else if s.GetState() < c.state {
			c.judgef("calls.statuses", "%s came after %s", stateName(s.GetState()), stateName(c.state))
		}
		c.state = max(c.state, s.GetState())
	}
	var object map[string]json.RawMessage
	if p := s.GetParameters(); len(p) > 0 && (json.Unmarshal(p, &object) != nil || object == nil) {
		c.judgef("calls.statuses", "the parameters of a status are %s, which is no JSON object", quote(string(p)))
	}
	if r := s.GetResult(); len(r) > 0 && !validJSON(r) {
		c.judgef("calls.statuses", "the result of a status is %s, which is no JSON", quote(string(r)))
	}
	if s.GetProgress() != nil {
		c.advance(s.GetProgress())
	}
}

func (c *call) advance(p *toolv1.Progress) {
	if terminal(c.state) {
		c.judgef("calls.statuses", "progress came after %s", stateName(c.state))
	}
	switch {
	case math.IsNaN(p.GetDone()) || math.IsInf(p.GetDone(), 0) || math.IsNaN(p.GetTotal()) || math.IsInf(p.GetTotal(), 0):
		c.judgef("calls.statuses", "progress is %v of %v, which are no numbers", p.GetDone(), p.GetTotal())
	case p.GetDone() < c.progress:
		c.judgef("calls.statuses", "progress fell from %v to %v", c.progress, p.GetDone())
	}
	c.progress = max(c.progress, p.GetDone())
}

func (c *call) log(r *toolv1.LogRecord) {
	c.logged = true
	c.judge("calls.logs", func() string {
		if _, known := toolv1.LogLevel_name[int32(r.GetLevel())]; !known {
			return "a log record has a level that is not known"
		}
		for key, value := range r.GetAttributes() {
			if !validJSON(value) {
				return "the attribute " + quote(key) + " of a log record is " + quote(string(value)) + ", which is no JSON"
			}
		}
		return ""
	})
}

func (c *call) judge(check string, words func() string) {
	if s := words(); s != "" {
		c.judgef(check, "%s", s)
	}
}

func (c *call) chunk(chunk *pluginv1.ContentChunk) {
	size := len(chunk.GetData())
	if size > maxPiece {
		c.judgef("results.chunks", "a chunk has %d bytes, more than 64 KiB", size)
	}
	c.chunked += size
	block := c.blocks[chunk.GetIndex()]
	if len(block)+size <= mostKept {
		block = append(block, chunk.GetData()...)
	}
	c.blocks[chunk.GetIndex()] = block
}

// finish judges the end.
func (c *call) finish(end *pluginv1.CallEnd) {
	c.end = end
	defer close(c.ended)
	switch o := end.GetOutcome().(type) {
	case *pluginv1.CallEnd_Result:
		c.result(o.Result)
	case *pluginv1.CallEnd_Error:
		if _, known := toolv1.ErrorKind_name[int32(o.Error.GetKind())]; !known {
			c.judgef("calls.end", "the error's kind %d is not known", o.Error.GetKind())
		}
	case *pluginv1.CallEnd_Settlement:
		if !c.settles {
			c.judgef("calls.end", "`end` has a settlement, although the call was to be executed")
		}
		if r := o.Settlement.GetResult(); r != nil {
			c.result(r)
		}
	default:
		c.judgef("calls.end", "`end` has neither a result nor an error")
	}
}

func (c *call) result(r *toolv1.Result) {
	held := 0
	for i, block := range r.GetContent() {
		held += c.block(uint32(i), block)
	}
	if held > maxPiece {
		c.judgef("results.chunks", "`end` holds %d bytes of content, more than 64 KiB", held)
	}
	for index := range c.blocks {
		if int(index) >= len(r.GetContent()) {
			c.judgef("results.chunks", "chunks came for block %d, and `end` has %d blocks", index, len(r.GetContent()))
		}
	}
	if r.GetIsError() && len(r.GetEffects()) > 0 {
		c.judgef("results.content", "a result with is_error has effects")
	}
	for _, effect := range r.GetEffects() {
		if effect.GetKey() == "" || !validJSON(effect.GetValue()) {
			c.judgef("results.content", "an effect has the key %s and the value %s; it needs a key and JSON", quote(effect.GetKey()), quote(string(effect.GetValue())))
		}
	}
	for key, value := range r.GetMetadata() {
		if !validJSON(value) {
			c.judgef("results.content", "the metadata %s of a result is %s, which is no JSON", quote(key), quote(string(value)))
		}
	}
}

// block judges a block of the result, and returns the size of the payload that the end frame
// contains for it.
func (c *call) block(index uint32, block *toolv1.Content) int {
	ahead, chunked := c.blocks[index]
	switch b := block.GetBlock().(type) {
	case *toolv1.Content_Text:
		if chunked && c.chunked <= mostKept && !utf8.ValidString(string(ahead)+b.Text) {
			c.judgef("results.content", "the text of block %d is no UTF-8 when its chunks are joined", index)
		}
		return len(b.Text)
	case *toolv1.Content_Json:
		whole := append(append([]byte(nil), ahead...), b.Json...)
		c.blocks[index] = whole
		if c.chunked <= mostKept && !validJSON(whole) {
			c.judgef("results.content", "block %d is %s, which is no JSON", index, quote(string(whole)))
		}
		return len(b.Json)
	case *toolv1.Content_Image:
		return c.blob(index, b.Image)
	case *toolv1.Content_File:
		return c.blob(index, b.File)
	case *toolv1.Content_Artifact:
		return 0
	default:
		c.judgef("results.content", "block %d is empty: no kind is set", index)
		return 0
	}
}

func (c *call) blob(index uint32, b *toolv1.Blob) int {
	if b.GetMediaType() == "" {
		c.judgef("results.content", "block %d is a blob without a media type", index)
	}
	return len(b.GetData())
}

// structured returns the first JSON block of a successful result, or of the one in a settlement. It
// is null if the result has only other blocks, and nil if there is none.
func (c *call) structured() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.end.GetResult()
	if r == nil {
		r = c.end.GetSettlement().GetResult()
	}
	if r.GetIsError() || len(r.GetContent()) == 0 {
		return nil
	}
	for i, block := range r.GetContent() {
		if _, ok := block.GetBlock().(*toolv1.Content_Json); ok {
			return c.blocks[uint32(i)]
		}
	}
	return []byte("null")
}

func validJSON(value []byte) bool { return json.Valid(value) && utf8.Valid(value) }

func terminal(s toolv1.StatusState) bool { return s >= toolv1.StatusState_STATUS_STATE_SUCCESS }

func stateName(s toolv1.StatusState) string {
	if state := toolpb.ToStatus(&toolv1.Status{State: s}).State; state != "" {
		return string(state)
	}
	return "no state"
}

// frameName names a frame for people.
func frameName(frame *pluginv1.ConnectResponse) string {
	switch frame.GetFrame().(type) {
	case *pluginv1.ConnectResponse_Status:
		return "a status"
	case *pluginv1.ConnectResponse_Progress:
		return "progress"
	case *pluginv1.ConnectResponse_Log:
		return "a log record"
	case *pluginv1.ConnectResponse_Chunk:
		return "a chunk"
	case *pluginv1.ConnectResponse_End:
		return "`end`"
	case *pluginv1.ConnectResponse_ReadArtifact:
		return "a question for an artifact"
	default:
		return "a frame that is not known"
	}
}

package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use logging, which 2026-07-28 deprecates.

// firstDirect is the first id of a direct request. The SDK counts its own requests from 1.
const firstDirect = 1_000_000_000

// direct makes calls over pipes without the SDK.
//
// The SDK decodes each part of an answer with a buffer of 32 KiB, and passes the answer through
// several goroutines. That costs as much as everything else that toolhost does with a call. So
// direct writes the request tools/call of a call that cannot ask anything, with an id that the SDK
// does not use. The goroutine that reads the server's output recognizes the id, and gives the call
// its outcome.
//
// A request is in calls from before it is written until take removes it. take hands it out once, so
// exactly one of answer, cancellation and loss ends the call. An answer without a request is
// dropped.
//
// All methods are safe for concurrent use.
type direct struct {
	pipes *pipes

	mu    sync.Mutex
	calls map[int64]*call // by the id of the request
	last  int64           // the id of the last request
	meta  []byte          // what the SDK puts into _meta of each request besides what call.meta has
	lost  error           // why the server answers nothing any more
}

func newDirect(p *pipes) *direct {
	return &direct{pipes: p, calls: map[int64]*call{}, last: firstDirect - 1}
}

// adopt takes over what the SDK puts into _meta of a request, which depends on the version of MCP.
func (d *direct) adopt(params json.RawMessage) {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	for _, own := range []string{"progressToken", metaIdempotencyKey, metaTraceparent, mcp.MetaKeyClientCapabilities, mcp.MetaKeyLogLevel} {
		delete(p.Meta, own)
	}
	members, err := json.Marshal(p.Meta)
	if err != nil || len(p.Meta) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.meta = append([]byte{','}, members[1:len(members)-1]...)
}

// add returns the id for the request of a call, or why there cannot be one.
func (d *direct) add(c *call) (id int64, meta []byte, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost != nil {
		return 0, nil, d.lost
	}
	d.last++
	d.calls[d.last] = c
	return d.last, d.meta, nil
}

// take removes a request and returns its call. It returns nil if the request is not there any more.
func (d *direct) take(id int64) *call {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.calls[id]
	delete(d.calls, id)
	return c
}

// waiting reports whether a request has no answer yet.
func (d *direct) waiting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.calls) > 0
}

// lose ends all calls, and those that begin later, because the server does not answer any more.
func (d *direct) lose(err error) {
	d.mu.Lock()
	if d.lost == nil {
		d.lost = err
	}
	calls := d.calls
	d.calls = map[int64]*call{}
	d.mu.Unlock()
	for _, c := range calls {
		c.leaveDirect()
		c.lose(err)
	}
}

// request returns the line of a request.
func request(id int64, c *call, meta []byte) ([]byte, error) {
	name, err := json.Marshal(c.name)
	if err != nil {
		return nil, err
	}
	own, err := json.Marshal(c.meta())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(len(own) + len(meta) + len(name) + len(c.arguments) + 100)
	fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":%s%s},"name":%s,"arguments":`, id, own[:len(own)-1], meta, name)
	if len(c.arguments) == 0 {
		b.WriteString("{}")
	} else if err := json.Compact(&b, c.arguments); err != nil { // a line break would end the message
		return nil, err
	}
	b.WriteString("}}\n")
	return b.Bytes(), nil
}

// runDirect sends the request of a call. It ends when the request is written.
func (c *call) runDirect() {
	d := c.conn.direct
	id, meta, err := d.add(c)
	if err != nil {
		c.leaveDirect()
		c.lose(err)
		return
	}
	line, err := request(id, c, meta)
	if err != nil {
		d.take(id)
		c.leaveDirect()
		c.end(tool.Result{}, tool.Errorf(tool.KindInvalidArgument, "the arguments are not JSON: %w", err))
		return
	}
	if err := d.pipes.send(c.ctx, line); err != nil {
		if d.take(id) == nil {
			return // the call has ended
		}
		c.leaveDirect()
		if c.ctx.Err() != nil { // the server has not seen the request
			c.end(tool.Result{}, canceled(c.ctx))
			return
		}
		c.lose(err)
		return
	}
	stop := context.AfterFunc(c.ctx, func() { c.cancelDirect(id) }) // an answer stops it
	c.mu.Lock()
	c.stop = stop
	c.mu.Unlock()
}

// cancelDirect tells the server that a call is canceled, and ends the call as yield does.
func (c *call) cancelDirect(id int64) {
	if c.conn.direct.take(id) == nil {
		return
	}
	defer c.leaveDirect()
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"the call was canceled"}}`+"\n", id)
	if err := c.conn.direct.pipes.send(context.WithoutCancel(c.ctx), line); err != nil {
		c.lose(err)
		return
	}
	c.yield()
}

// leaveDirect frees what a call needs until its request has an answer.
func (c *call) leaveDirect() {
	c.conn.calls.remove(c.token)
	c.mu.Lock()
	stop := c.stop
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// directAnswer is a message of the server that may answer a direct request.
type directAnswer struct {
	ID     json.Number     `json:"id"`
	Method json.RawMessage `json:"method"` // not there
	Result directResult    `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// deliver gives a message of the server to the call that waits for it. It reports whether the
// message answers a direct request, which the SDK must not see.
func (d *direct) deliver(text []byte) bool {
	if !d.waiting() {
		return false
	}
	var answer directAnswer
	if json.Unmarshal(text, &answer) != nil || len(answer.Method) > 0 {
		return false
	}
	id, err := strconv.ParseInt(string(answer.ID), 10, 64)
	if err != nil || id < firstDirect {
		return false
	}
	c := d.take(id)
	if c == nil {
		return true
	}
	c.leaveDirect()
	if size := sizeOf(&answer.Result.result); d.pipes.held > 0 && c.hold != nil && answer.Result.asks == nil && size <= c.conn.cfg.MaxResultBytes {
		if err := c.hold(budget.Lend(c.ctx, &d.pipes.hold), size); err != nil {
			c.end(tool.Result{}, tool.AsError(err))
			return true
		}
		c.hold = nil
	}
	if answer.Result.size > maxReadResult {
		go c.conclude(answer) // ends when the host has room for the result
	} else {
		c.conclude(answer)
	}
	return true
}

// maxReadResult bounds the result that the reading goroutine handles, in bytes of JSON. A byte that
// is not UTF-8 becomes three, and the host may block for a result above smallResult.
const maxReadResult = smallResult / 3

// refuse ends the call of a request whose answer was dropped with an error. It reports whether the
// request is a direct one.
func (d *direct) refuse(id float64, why *tool.Error) bool {
	if id < firstDirect {
		return false
	}
	if c := d.take(int64(id)); c != nil {
		c.leaveDirect()
		c.end(tool.Result{}, why)
	}
	return true
}

// conclude ends the call with the server's answer.
func (c *call) conclude(answer directAnswer) {
	if len(answer.Error) > 0 && !bytes.Equal(answer.Error, []byte("null")) {
		refusal := &jsonrpc.Error{}
		if err := json.Unmarshal(answer.Error, refusal); err != nil {
			c.end(tool.Result{}, c.conn.failure(err))
			return
		}
		c.end(tool.Result{}, c.conn.failure(refusal))
		return
	}
	read := &answer.Result
	if read.size == 0 {
		read.err = errors.New("there is no result")
	}
	if read.err == nil && read.asks == nil {
		c.finish(read.result, sizeOf(&read.result), nil)
		return
	}
	var res *mcp.CallToolResult
	if read.err == nil {
		read.err = json.Unmarshal(read.asks, &res)
	}
	if read.err != nil {
		c.end(tool.Result{}, c.conn.failure(read.err))
		return
	}
	if res.NeedsInput() {
		// The answer is the first round of the call. The server may have done a part of its work, so
		// the SDK does not begin the call again but makes the next round.
		c.first = res
		go c.run() // ends with the answer, the cancellation, or the session
		return
	}
	c.answered(res)
}

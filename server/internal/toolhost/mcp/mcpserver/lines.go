package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message of a client on standard input.
const maxLine = mcp.DefaultMaxLineLength - 1<<10

// lines is the input of a client without what the SDK cannot decode, which would end the session
// (go-sdk#1209). It answers that itself: with -32700 if it is no JSON, with -32600 if it is no
// request of JSON-RPC, such as a batch. A line may have several messages, and begin with a byte
// order mark.
//
// Read has one caller. Answers go through out, which the SDK uses, too.
type lines struct {
	in    io.ReadCloser
	from  *bufio.Reader
	out   io.Writer
	ready []byte // messages that the SDK has not read yet
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{in: in, from: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Close implements io.Closer.
func (l *lines) Close() error { return l.in.Close() }

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.ready) == 0 {
		line, whole, err := l.next()
		if whole {
			l.take(line)
		} else {
			l.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message has more than %d bytes", maxLine))
		}
		if err != nil && len(l.ready) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

// next returns the next line. whole is false if it is too long, and is dropped.
func (l *lines) next() (line []byte, whole bool, err error) {
	for whole = true; ; {
		piece, err := l.from.ReadSlice('\n')
		if whole = whole && len(line)+len(piece) <= maxLine; whole {
			line = append(line, piece...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// take passes the messages of a line on, and answers what is none.
func (l *lines) take(line []byte) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF")))
	for from := json.NewDecoder(bytes.NewReader(line)); ; {
		var message json.RawMessage
		err := from.Decode(&message)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			l.refuse(nil, jsonrpc.CodeParseError, "a line is not JSON: "+err.Error())
			return
		}
		if message[0] == '[' {
			l.refuse(nil, jsonrpc.CodeInvalidRequest, "this server accepts no batches; send each message on a line of its own")
			continue
		}
		if _, err := jsonrpc.DecodeMessage(message); err != nil {
			l.refuse(message, jsonrpc.CodeInvalidRequest, "it is no message of JSON-RPC: "+err.Error())
			continue
		}
		l.ready = append(append(l.ready, message...), '\n')
	}
}

// refuse answers a message. The answer has its id, if that can be one.
func (l *lines) refuse(message json.RawMessage, code int64, text string) {
	var m struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(message, &m) // what has no id gets null
	switch m.ID.(type) {
	case string, float64:
	default:
		m.ID = nil
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": code, "message": text}})
	if err == nil { // it consists of texts and numbers
		_, _ = l.out.Write(append(answer, '\n')) // a client that does not read ends the session elsewhere
	}
}

// turns lets several writers write whole messages.
type turns struct {
	io.WriteCloser
	mu sync.Mutex
}

func (t *turns) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.WriteCloser.Write(p)
}

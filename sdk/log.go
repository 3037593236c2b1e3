package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// processStderr is the process's standard error. go-plugin replaces os.Stderr until toolhost
// connects.
var processStderr = os.Stderr

// Logger returns a logger for the call of ctx. Its records travel with the call, and the toolhost
// keeps them. Attributes become JSON, and groups become objects. Logging blocks while the receiver
// is slow, at most until the call ends. Outside of a call and after its end, records go to standard
// error.
func Logger(ctx context.Context) *slog.Logger {
	fallback := slog.NewTextHandler(processStderr, &slog.HandlerOptions{Level: slog.LevelDebug})
	c := callOf(ctx)
	if c == nil {
		return slog.New(fallback)
	}
	return slog.New(newLogHandler(c, fallback.WithAttrs([]slog.Attr{slog.String("call_id", c.info.CallID)})))
}

// attributesKey is the key of the object that holds a record's attributes while the handler encodes
// them, apart from level and message.
const attributesKey = "attributes"

// logHandler sends records as events of a call.
type logHandler struct {
	call     *call
	fallback slog.Handler
	encoder  slog.Handler // encodes the attributes into buffer
	buffer   *lockedBuffer
}

// lockedBuffer holds one record at a time while the handler encodes it.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func newLogHandler(c *call, fallback slog.Handler) *logHandler {
	b := new(lockedBuffer)
	encoder := slog.NewJSONHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}).WithGroup(attributesKey)
	return &logHandler{call: c, fallback: fallback, encoder: encoder, buffer: b}
}

// Enabled reports whether the handler sends records of a level: all from debug on.
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelDebug
}

// Handle sends a record.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	attributes, err := h.encode(ctx, r)
	if err != nil {
		return err
	}
	record := tool.LogRecord{
		Time:       r.Time,
		Level:      logLevel(r.Level),
		Message:    strings.ToValidUTF8(r.Message, "\uFFFD"),
		Attributes: attributes,
	}
	if record.Time.IsZero() {
		record.Time = time.Now()
	}
	if h.call.log(record) {
		return nil
	}
	return h.fallback.Handle(ctx, r)
}

func (h *logHandler) encode(ctx context.Context, r slog.Record) (map[string]json.RawMessage, error) {
	h.buffer.mu.Lock()
	defer h.buffer.mu.Unlock()
	h.buffer.Reset()
	if err := h.encoder.Handle(ctx, r); err != nil {
		return nil, err
	}
	var line struct {
		Attributes map[string]json.RawMessage `json:"attributes"`
	}
	err := json.Unmarshal(h.buffer.Bytes(), &line)
	return line.Attributes, err
}

// WithAttrs returns a handler whose records have the attributes too.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	derived := *h
	derived.encoder, derived.fallback = h.encoder.WithAttrs(attrs), h.fallback.WithAttrs(attrs)
	return &derived
}

// WithGroup returns a handler that puts further attributes into an object with a name.
func (h *logHandler) WithGroup(name string) slog.Handler {
	derived := *h
	derived.encoder, derived.fallback = h.encoder.WithGroup(name), h.fallback.WithGroup(name)
	return &derived
}

func logLevel(l slog.Level) tool.LogLevel {
	switch {
	case l < slog.LevelInfo:
		return tool.LogDebug
	case l < slog.LevelWarn:
		return tool.LogInfo
	case l < slog.LevelError:
		return tool.LogWarn
	}
	return tool.LogError
}

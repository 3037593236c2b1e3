package textform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"mime"
	"path"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// providerName is the provider of this package's opaque blocks.
const providerName = "textform"

// note is the content of an opaque block. A response that cannot be read, or that was cut, has one.
type note struct {
	// Text is what the model wrote.
	Text string `json:"text"`
	// Problem is why nothing of the response was executed. Empty: the stop reason says so.
	Problem string `json:"problem,omitempty"`
	// Suspected says that the problem is only a suspicion.
	Suspected bool `json:"suspected,omitempty"`
}

// block returns the note as a block of its response.
func (n *note) block() model.Block {
	data, _ := json.Marshal(n) // strings have always a JSON form
	return model.Block{Opaque: &model.Opaque{Provider: providerName, JSON: data}}
}

// readNote returns the note of a message, or nil.
func readNote(m *model.Message) *note {
	for _, block := range m.Blocks {
		var n note
		if block.Opaque != nil && block.Opaque.Provider == providerName && json.Unmarshal(block.Opaque.JSON, &n) == nil {
			return &n
		}
	}
	return nil
}

// history is what the parser has to know of a conversation.
type history struct {
	calls      int  // in all responses
	unreadable int  // the responses at the end that could not be read
	suspected  bool // the last response was only suspected
}

func readHistory(messages []model.Message) (h history) {
	for i := range messages {
		m := &messages[i]
		if m.Role != model.RoleAssistant {
			continue
		}
		for _, block := range m.Blocks {
			if block.ToolCall != nil {
				h.calls++
			}
		}
		n := readNote(m)
		h.suspected = n != nil && n.Suspected
		if h.unreadable++; n == nil || n.Problem == "" {
			h.unreadable = 0
		}
	}
	return h
}

// writeMessages returns a conversation in which calls and results are text.
func writeMessages(messages []model.Message, tools []model.Tool, features model.Features) []model.Message {
	w := &writer{features: features, permitted: newParser(tools).tools}
	written := make([]model.Message, 0, len(messages))
	for i := range messages {
		w.blocks, w.text = nil, nil
		if messages[i].Role == model.RoleAssistant {
			w.assistant(&messages[i])
		} else {
			w.user(&messages[i])
		}
		w.flush()
		if len(w.blocks) > 0 {
			written = append(written, model.Message{Role: messages[i].Role, Blocks: w.blocks})
		}
	}
	return written
}

// writer writes the messages of a conversation.
type writer struct {
	features  model.Features
	permitted map[string]map[string]types
	last      *note // of the last response

	blocks []model.Block
	text   []string // the parts of the text block that is being written
}

func (w *writer) flush() {
	if text := strings.Join(w.text, "\n\n"); text != "" {
		w.blocks = append(w.blocks, model.Block{Text: &model.Text{Text: text}})
	}
	w.text = nil
}

// assistant writes a response as the model wrote it, except for white space.
func (w *writer) assistant(m *model.Message) {
	w.last = readNote(m)
	if w.last != nil {
		w.text = append(w.text, w.last.Text)
	}
	for _, block := range m.Blocks {
		switch {
		case block.Opaque != nil && block.Opaque.Provider != providerName:
			w.blocks = append(w.blocks, block)
		case w.last != nil:
		case block.Text != nil:
			w.text = append(w.text, block.Text.Text)
		case block.ToolCall != nil:
			w.text = append(w.text, writeCall(block.ToolCall, w.permitted[block.ToolCall.Name]))
		}
	}
}

// user writes a message with results. Tags of the form in it are escaped, so that nothing that a
// tool or a user wrote looks like a result or ends one.
func (w *writer) user(m *model.Message) {
	results, told := 0, false
	for _, block := range m.Blocks {
		switch {
		case block.ToolResult != nil && w.last != nil && w.last.Problem != "":
			if !told {
				w.text = append(w.text, unreadable(w.last.Problem))
			}
			told = true
		case block.ToolResult != nil:
			results++
			w.result(block.ToolResult, results)
		case block.Text != nil:
			w.text = append(w.text, escape(block.Text.Text))
		default:
			w.flush()
			w.blocks = append(w.blocks, block)
		}
	}
	w.last = nil
}

// unreadable tells the model why nothing of its response was executed.
func unreadable(problem string) string {
	return "<" + elementResult + " error=\"true\">\nNothing of your last response was executed, because it could not be read: " + problem +
		". Write all its calls again, each of them complete and in exactly this form:\n\n" + formExample + "\n</" + elementResult + ">"
}

// result writes the result of the call with a number.
func (w *writer) result(r *model.ToolResult, number int) {
	attributes := fmt.Sprintf(" name=\"%s\" call=\"%d\"", html.EscapeString(r.Name), number)
	if r.IsError {
		attributes += ` error="true"`
	}
	content := tool.Result{Content: r.Content}
	w.text = append(w.text, "<"+elementResult+attributes+">\n"+escape(content.Text())+"\n</"+elementResult+">")
	for _, c := range r.Content {
		if c.Kind == tool.ContentImage && len(c.Data) > 0 && w.reads(c.MediaType) {
			w.flush()
			w.blocks = append(w.blocks, model.Block{Attachment: &model.Attachment{Name: c.Name, MIMEType: c.MediaType, Data: c.Data}})
		}
	}
}

// reads reports whether the wrapped model reads attachments of a type.
func (w *writer) reads(mediaType string) bool {
	plain, _, err := mime.ParseMediaType(mediaType)
	for _, pattern := range w.features.Attachments {
		if matched, _ := path.Match(pattern, plain); matched && err == nil {
			return true
		}
	}
	return false
}

// writeCall writes a call of the conversation.
func writeCall(c *model.ToolCall, permitted map[string]types) string {
	var b strings.Builder
	b.WriteString("<" + elementCall + " name=\"" + html.EscapeString(c.Name) + "\">\n")
	decoder := json.NewDecoder(bytes.NewReader(c.ArgumentObject()))
	_, _ = decoder.Token() // ArgumentObject always returns an object
	for decoder.More() {
		name, err := decoder.Token()
		var value json.RawMessage
		if err != nil || decoder.Decode(&value) != nil {
			break
		}
		key, _ := name.(string)
		allowed, known := permitted[key]
		if !known {
			allowed = typeAny
		}
		b.WriteString("<" + elementArgument + " name=\"" + html.EscapeString(key) + "\">" + writeValue(value, allowed) + "</" + elementArgument + ">\n")
	}
	return b.String() + "</" + elementCall + ">"
}

// writeValue writes a value so that argument reads the same value.
func writeValue(value json.RawMessage, permitted types) string {
	var text string
	if permitted&typeString == 0 || json.Unmarshal(value, &text) != nil || typeOf(value) != typeString {
		text = string(value)
	}
	if strings.Contains(text, "\n") {
		text = "\n" + text + "\n"
	}
	return escape(text)
}

package logging

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// entry is one record of the log.
type entry struct {
	time      time.Time
	level     slog.Level
	subsystem string
	plugin    string // for the limit of repeated records; empty: none
	message   string
	fields    []slog.Attr // in the order in which they are written
}

// timeForm is the form of times in text and JSON, with milliseconds and the offset from UTC.
const timeForm = "2006-01-02T15:04:05.000Z07:00"

// redact removes secrets from the message and from the fields.
func (e *entry) redact(text func(string) string) {
	e.message = text(e.message)
	for i, a := range e.fields {
		e.fields[i] = slog.Attr{Key: text(a.Key), Value: redactValue(plainValue(a.Value), text)}
	}
}

// plainValue returns a value as one of the kinds of slog that need no reflection, as a
// map[string]any, or as JSON.
func plainValue(v slog.Value) slog.Value {
	if v.Kind() != slog.KindAny {
		return v
	}
	switch value := v.Any().(type) {
	case nil:
		return slog.StringValue("null")
	case error:
		return slog.StringValue(value.Error())
	case map[string]any:
		return v
	case json.RawMessage:
		return v
	case encoding.TextMarshaler, fmt.Stringer:
		return slog.StringValue(fmt.Sprint(value))
	}
	data, err := json.Marshal(v.Any())
	if err != nil {
		return slog.StringValue(fmt.Sprintf("%+v", v.Any()))
	}
	return slog.AnyValue(json.RawMessage(data))
}

// redactValue removes secrets from a value. A number that contains one becomes a text.
func redactValue(v slog.Value, text func(string) string) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(text(v.String()))
	case slog.KindBool, slog.KindTime, slog.KindDuration:
		return v
	case slog.KindAny:
		if fields, ok := v.Any().(map[string]any); ok {
			redacted := make(map[string]any, len(fields))
			for key, value := range fields {
				redacted[text(key)] = redactAny(value, text)
			}
			return slog.AnyValue(redacted)
		}
	}
	plain := valueText(v)
	if without := text(plain); without != plain {
		return slog.StringValue(without)
	}
	return v
}

// redactAny removes secrets from a value that a plugin sent as JSON.
func redactAny(value any, text func(string) string) any {
	if s, ok := value.(string); ok {
		return text(s)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return text(fmt.Sprint(value))
	}
	if without := text(string(data)); without != string(data) {
		return without
	}
	return json.RawMessage(data)
}

// json returns the entry as one line of JSON. Names and meanings of the members do not change
// between releases; members may be added.
func (e *entry) json() []byte {
	var b bytes.Buffer
	b.WriteString(`{"time":`)
	b.Write(encoded(e.time.Format(timeForm)))
	b.WriteString(`,"level":`)
	b.Write(encoded(levelName(e.level)))
	b.WriteString(`,"subsystem":`)
	b.Write(encoded(e.subsystem))
	b.WriteString(`,"msg":`)
	b.Write(encoded(e.message))
	for _, a := range e.fields {
		b.WriteByte(',')
		b.Write(encoded(a.Key))
		b.WriteByte(':')
		b.Write(jsonValue(a.Value))
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// jsonValue returns a plain value in JSON. A duration is a number of seconds.
func jsonValue(v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindDuration:
		return encoded(v.Duration().Seconds())
	case slog.KindTime:
		return encoded(v.Time().Format(timeForm))
	default:
		return encoded(v.Any())
	}
}

// encoded returns a value as JSON, or its text as a JSON string if it has no JSON form.
func encoded(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil {
		b.Reset()
		_ = enc.Encode(fmt.Sprint(value)) // a string cannot fail
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

const (
	// messageColumns is the width to which text pads short messages, so that fields are aligned.
	messageColumns = 28
	// shortDigest is the length of a digest in text, as in sha256:0123456789ab. JSON has it whole.
	shortDigest = len("sha256:") + 12
	// continues begins each line that belongs to the record above it. So foreign text with line
	// breaks cannot look like a record.
	continues = "    | "
)

// text returns the entry for people: one line, and a line that begins with continues for each
// further line of the message and for each field whose value has several lines.
func (e *entry) text(screen cli.Screen) []byte {
	var b strings.Builder
	b.WriteString(screen.Paint(cli.Dim, e.time.Format(timeForm)))
	b.WriteString(" " + screen.Paint(levelColor(e.level), fmt.Sprintf("%-5s", levelName(e.level))))
	fmt.Fprintf(&b, " %-9s ", cli.OneLine(e.subsystem))
	first, more := splitMessage(e.message)
	below := visibleLines(more)
	var fields strings.Builder
	for _, a := range e.fields {
		below = append(below, appendField(&fields, screen, a.Key, a.Value)...)
	}
	if fields.Len() > 0 {
		first = fmt.Sprintf("%-*s", messageColumns, first)
	}
	b.WriteString(first)
	b.WriteString(fields.String())
	b.WriteByte('\n')
	for _, line := range below {
		b.WriteString(continues + line + "\n")
	}
	return []byte(b.String())
}

// splitMessage returns the first line of a message, escaped, and the other lines.
func splitMessage(message string) (first, more string) {
	first, more, _ = strings.Cut(strings.Trim(message, "\n"), "\n")
	return cli.OneLine(strings.TrimRight(first, "\r")), more
}

// visibleLines returns the lines of a text, escaped.
func visibleLines(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimRight(text, "\r\n")) {
		lines = append(lines, strings.TrimRight(cli.OneLine(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")), " "))
	}
	return lines
}

// appendField writes ` KEY=VALUE`. If the value has several lines, it returns these instead, below
// a line with the key.
func appendField(to *strings.Builder, screen cli.Screen, key string, v slog.Value) (below []string) {
	if fields, ok := v.Any().(map[string]any); v.Kind() == slog.KindAny && ok {
		for _, inner := range slices.Sorted(maps.Keys(fields)) {
			below = append(below, appendField(to, screen, key+"."+inner, plainValue(slog.AnyValue(fields[inner])))...)
		}
		return below
	}
	value := valueText(v)
	if key == digestField && len(value) > shortDigest {
		value = value[:shortDigest]
	}
	key = strings.ReplaceAll(cli.OneLine(key), " ", "_")
	if strings.Contains(strings.TrimRight(value, "\n"), "\n") {
		return append([]string{key + ":"}, visibleLines(value)...)
	}
	to.WriteString(" " + screen.Paint(cli.Dim, key+"=") + quoted(strings.TrimRight(value, "\n")))
	return nil
}

// valueText returns a plain value as text.
func valueText(v slog.Value) string {
	switch v.Kind() {
	case slog.KindTime:
		return v.Time().Format(timeForm)
	case slog.KindDuration:
		return shortDuration(v.Duration())
	case slog.KindAny:
		if raw, ok := v.Any().(json.RawMessage); ok {
			var text string
			if json.Unmarshal(raw, &text) == nil {
				return text
			}
			var list []string
			if json.Unmarshal(raw, &list) == nil {
				return strings.Join(list, ", ")
			}
			return string(raw)
		}
	}
	return v.String()
}

// shortDuration returns a duration with at most three digits after the point of its unit.
func shortDuration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Microsecond).String()
	}
	return d.String()
}

// quoted returns a value of one line as text shows it: in quotes if its end could be mistaken.
func quoted(value string) string {
	visible := cli.OneLine(value)
	if visible == "" || visible != value || strings.ContainsAny(value, " \"=") {
		return `"` + strings.ReplaceAll(visible, `"`, `\"`) + `"`
	}
	return visible
}

func levelColor(level slog.Level) cli.Color {
	switch {
	case level >= slog.LevelError:
		return cli.Red
	case level >= slog.LevelWarn:
		return cli.Yellow
	case level >= slog.LevelInfo:
		return cli.Green
	}
	return cli.Dim
}

// levelName returns one of the four names of levels. Plugins may use others, such as TRACE.
func levelName(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return slog.LevelError.String()
	case level >= slog.LevelWarn:
		return slog.LevelWarn.String()
	case level >= slog.LevelInfo:
		return slog.LevelInfo.String()
	}
	return slog.LevelDebug.String()
}

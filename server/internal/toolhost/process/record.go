package process

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// record is one printed line, or the lines of a stack trace, in the form in which it is logged.
type record struct {
	level   slog.Level
	message string
	attrs   []slog.Attr
	text    bool      // it is a line of text, and further lines may continue it
	at      time.Time // when the line arrived
	size    int       // size of the line, in bytes
	dropped dropped   // the dropped lines that are reported before it
	gap     bool      // lines were dropped before it, which continues nothing
}

// parseRecord parses a line as a JSON record of hclog or slog, as a record of slog's text form, or
// else as plain text. It assumes nothing about values: `{"@message": 1}` is plain text.
func parseRecord(line string) record {
	plain := record{level: slog.LevelInfo, message: line, text: true}
	if strings.HasPrefix(line, "time=") {
		return parseText(line, plain)
	}
	if strings.HasPrefix(line, "level=") { // as the TypeScript SDK writes it
		return parseText("time= "+line, plain)
	}
	if !strings.HasPrefix(line, "{") {
		return plain
	}
	var fields map[string]any
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	if dec.Decode(&fields) != nil || dec.More() {
		return plain
	}
	for _, names := range [][3]string{{"@message", "@level", "@timestamp"}, {"msg", "level", "time"}} {
		message, ok1 := fields[names[0]].(string)
		level, ok2 := fields[names[1]].(string)
		if !ok1 || !ok2 {
			continue
		}
		r := record{level: parseLevel(level), message: message}
		for _, name := range names {
			delete(fields, name)
		}
		if id, ok := fields["call_id"].(string); ok {
			r.attrs = append(r.attrs, slog.String("call", id))
			delete(fields, "call_id")
		}
		if len(fields) > 0 {
			r.attrs = append(r.attrs, slog.Any("fields", fields))
		}
		return r
	}
	return plain
}

// parseText parses a line of slog's text form, `time=… level=… msg=… KEY=VALUE…`, or returns plain.
func parseText(line string, plain record) record {
	fields := map[string]any{}
	var level, message string
	seen := 0
	for n := 0; line != ""; n++ {
		key, rest, found := strings.Cut(line, "=")
		if !found || key == "" || strings.ContainsAny(key, " \"") {
			return plain
		}
		value, rest, ok := textValue(rest)
		switch {
		case !ok, n == 1 && key != "level", n == 2 && key != "msg":
			return plain
		case n == 1:
			level = value
		case n == 2:
			message = value
		case n > 2:
			fields[key] = value
		}
		line, seen = rest, n
	}
	if seen < 2 {
		return plain
	}
	r := record{level: parseLevel(level), message: message}
	if id, ok := fields["call_id"].(string); ok {
		r.attrs = append(r.attrs, slog.String("call", id))
		delete(fields, "call_id")
	}
	if len(fields) > 0 {
		r.attrs = append(r.attrs, slog.Any("fields", fields))
	}
	return r
}

// textValue returns the value at the beginning of a text, unquoted as slog quotes it, and the text
// after the following space.
func textValue(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, " ")
		return value, rest, !strings.Contains(value, `"`)
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", false
	}
	value, err = strconv.Unquote(quoted)
	rest = text[len(quoted):]
	if after, space := strings.CutPrefix(rest, " "); space {
		return value, after, err == nil
	}
	return value, "", err == nil && rest == ""
}

// parseLevel parses level names of slog ("WARN", "ERROR+2") and hclog ("warn", "trace"). Any other
// name is info.
func parseLevel(name string) slog.Level {
	if strings.EqualFold(name, "trace") {
		return slog.LevelDebug - 4
	}
	var level slog.Level
	if level.UnmarshalText([]byte(name)) != nil {
		return slog.LevelInfo
	}
	return level
}

package process

import (
	"encoding/json"
	"log/slog"
	"strings"
)

// record is one line that a plugin printed, as it is to be logged.
type record struct {
	level   slog.Level
	message string
	attrs   []slog.Attr
	size    int     // of the line, in bytes
	dropped dropped // before it
}

// parseRecord takes a line for what it is: a record of hclog or slog in JSON, or plain text. What is not quite a record
// is plain text. Nothing is assumed of the values: `{"@message": 1}` is a line like any other.
func parseRecord(line string) record {
	plain := record{level: slog.LevelInfo, message: line}
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
			r.attrs = append(r.attrs, slog.String("call_id", id))
			delete(fields, "call_id")
		}
		if len(fields) > 0 {
			r.attrs = append(r.attrs, slog.Any("fields", fields))
		}
		return r
	}
	return plain
}

// parseLevel knows the names of slog ("WARN", "ERROR+2") and of hclog ("warn", "trace"). Any other is info.
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

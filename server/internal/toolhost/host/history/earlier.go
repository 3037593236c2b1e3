package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/tool"
)

// earlierName is the file in which builds before 0.1.0 kept events and exits, one JSON object per
// line.
const earlierName = "history.jsonl"

// takeEarlier moves the content of the earlier file into the database, and removes that file. It
// leaves out lines that it cannot read.
func (l *Log) takeEarlier(ctx context.Context) error {
	path := filepath.Join(filepath.Dir(l.cfg.Path), earlierName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the earlier history: %w", err)
	}
	var entries []Entry
	for line := range bytes.Lines(data) {
		var e struct {
			Event *tool.PluginEvent `json:"event"`
			Exit  *Exit             `json:"exit"`
		}
		if json.Unmarshal(line, &e) == nil && (e.Event == nil) != (e.Exit == nil) {
			entries = append(entries, Entry{Event: e.Event, Exit: e.Exit}.bounded())
		}
	}
	if err := l.write(ctx, entries); err != nil {
		return err
	}
	return os.Remove(path)
}

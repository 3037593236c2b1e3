package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// Summary is what a node says about itself, so that people see where nodes differ. It has versions
// and digests, and nothing secret. One that was read can have any texts.
type Summary struct {
	Version  string            `json:"version"`
	Plugins  map[string]string `json:"plugins,omitempty"`  // the content that each one runs, by name
	Settings map[string]string `json:"settings,omitempty"` // digests, by the key of toolhost.yaml
}

// maxSummary bounds the bytes of a summary: enough for about a thousand plugins.
const maxSummary = 64 << 10

// allPlugins stands for the plugins of a summary that would be too large with each of them.
const allPlugins = "(all)"

// text returns the form in the database, which is the same for the same summary.
func (s Summary) text() string {
	data, err := json.Marshal(s) // sorts the keys
	if err == nil && len(data) > maxSummary {
		plugins, _ := json.Marshal(s.Plugins) // as before
		sum := sha256.Sum256(plugins)
		s.Plugins = map[string]string{allPlugins: hex.EncodeToString(sum[:])}
		data, err = json.Marshal(s)
	}
	if err != nil || len(data) > maxSummary {
		return ""
	}
	return string(data)
}

// readSummary returns nil if the text is not that of a summary.
func readSummary(text string) *Summary {
	var s Summary
	if len(text) > maxSummary || json.Unmarshal([]byte(text), &s) != nil {
		return nil
	}
	return &s
}

// Describe tells other nodes what this one is, as soon as the database answers. It returns at once.
func (s *Store) Describe(summary Summary) {
	text := summary.text()
	if before := s.summary.Load(); before == nil || *before != text {
		s.summary.Store(&text)
	}
}

// describe writes what Describe has said, if this session has not written it yet.
func (w *writer) describe(ctx context.Context) error {
	said := w.store.summary.Load()
	if said == w.described {
		return nil
	}
	_, err := w.conn.Exec(ctx, "UPDATE toolhost_nodes SET summary = $2 WHERE node = $1", w.store.node, *said)
	if err == nil {
		w.described = said
	}
	return postgres.Error(err)
}

// NoteAudit makes the end of this node's audit log known to the others, now and then. end returns
// its form NUMBER:SHA256, or an empty text. It must not block.
func (s *Store) NoteAudit(end func() string) { s.audited.Store(&end) }

// noteAudit writes the end of the audit log, if it has changed.
func (w *writer) noteAudit(ctx context.Context) error {
	end := w.store.audited.Load()
	if end == nil {
		return nil
	}
	text := (*end)()
	if text == "" || text == w.audited {
		return nil
	}
	_, err := w.conn.Exec(ctx, "UPDATE toolhost_beats SET audited = $2 WHERE node = $1", w.store.node, text)
	if err == nil {
		w.audited = text
	}
	return postgres.Error(err)
}

// Difference is something that nodes do not have in common.
type Difference struct {
	What   string  `json:"what"` // such as "version", "plugin calculator" or "setting policy"
	Values []Value `json:"values"`
}

// Value is what some nodes have.
type Value struct {
	Value string   `json:"value"` // empty: they do not have it
	Nodes []string `json:"nodes"` // their ids
}

// Differences compares the nodes that are up. That another one is silent is a difference, too.
func Differences(nodes []Listed) []Difference {
	has := map[string]map[string]string{} // what, the node, the value
	set := func(what, node, value string) {
		if has[what] == nil {
			has[what] = map[string]string{}
		}
		has[what][node] = value
	}
	var up, told []string
	for _, n := range nodes {
		if n.State == Gone {
			continue
		}
		up = append(up, n.ID)
		set("state", n.ID, n.State)
		if n.State != Up {
			continue
		}
		if n.Summary == nil {
			set("summary", n.ID, "none that this version can read")
			continue
		}
		told = append(told, n.ID)
		set("version", n.ID, n.Summary.Version)
		for name, content := range n.Summary.Plugins {
			set("plugin "+name, n.ID, content)
		}
		for key, digest := range n.Summary.Settings {
			set("setting "+key, n.ID, digest)
		}
	}
	differences := []Difference{}
	for _, what := range slices.Sorted(maps.Keys(has)) {
		of := told
		if what == "state" || what == "summary" {
			of = up
		}
		byValue := map[string][]string{}
		for _, node := range of {
			value := has[what][node]
			byValue[value] = append(byValue[value], node)
		}
		if len(byValue) < 2 && what != "summary" {
			continue
		}
		d := Difference{What: what}
		for _, value := range slices.Sorted(maps.Keys(byValue)) {
			d.Values = append(d.Values, Value{value, byValue[value]})
		}
		differences = append(differences, d)
	}
	return differences
}

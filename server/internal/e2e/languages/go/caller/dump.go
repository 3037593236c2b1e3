package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// dump prints the events of a call in the format that the callers of all languages share.
type dump struct {
	out     io.Writer
	client  *client.Client
	session string
}

func (d *dump) line(format string, args ...any) { fmt.Fprintf(d.out, "  "+format+"\n", args...) }

func (d *dump) event(ctx context.Context, e tool.Event) {
	switch {
	case e.Started != nil:
		d.line("started, attempt %d, at %s", e.Started.Attempt, e.Started.Plugin)
	case e.Status != nil:
		d.status(e.Status)
	case e.Log != nil:
		attributes, _ := json.Marshal(e.Log.Attributes) // Marshal cannot fail for valid raw JSON
		d.line("log %s: %s %s", e.Log.Level, shown(e.Log.Message), canonical(attributes))
	case e.Ended != nil:
		d.ended(ctx, e.Ended)
	}
}

func (d *dump) status(s *tool.Status) {
	progress := "-"
	if s.Progress != nil {
		progress = number(s.Progress.Done) + "/" + number(s.Progress.Total) + " " + shown(s.Progress.Message)
	}
	d.line("status %s: message %s, parameters %s, progress %s, result %s", cmp.Or(strings.ToLower(string(s.State)), "-"), shown(s.Message), canonical(s.Parameters),
		progress, canonical(s.Result))
}

func (d *dump) ended(ctx context.Context, o *tool.Outcome) {
	d.line("ended at %s, replayed %t", cmp.Or(o.Plugin, "-"), o.Replayed)
	if o.Err != nil {
		d.line("error %s: %s, retry after %d ms, rule %s", o.Err.Kind, shown(o.Err.Message), o.Err.RetryAfter.Milliseconds(), cmp.Or(o.Err.Rule, "-"))
		return
	}
	r := o.Result
	d.line("result, is_error %t, cost %s, tokens %d %d %d %d", r.IsError, number(r.Cost),
		r.Usage.InputTokens, r.Usage.OutputTokens, r.Usage.CacheReadTokens, r.Usage.CacheWriteTokens)
	for _, c := range r.Content {
		d.content(ctx, c)
	}
	for _, e := range r.Effects {
		d.line("effect %s %s %s", e.Key, cmp.Or(e.Operation, tool.EffectReplace), canonical(e.Value))
	}
	if len(r.Metadata) > 0 {
		metadata, _ := json.Marshal(r.Metadata) // Marshal cannot fail for valid raw JSON
		d.line("metadata %s", canonical(metadata))
	}
}

func (d *dump) content(ctx context.Context, c tool.Content) {
	switch c.Kind {
	case tool.ContentText:
		d.line("text %s", shown(c.Text))
	case tool.ContentJSON:
		d.line("json %s", shown(string(c.JSON)))
	case tool.ContentArtifact:
		a := c.Artifact
		d.line("artifact %s %s, %d bytes, head %s, tail %s, %s", a.MediaType, cmp.Or(a.Name, "-"), a.Size, shown(a.Head), shown(a.Tail), digest(d.read(ctx, a)))
	default:
		d.line("%s %s %s %s", c.Kind, c.MediaType, cmp.Or(c.Name, "-"), digest(c.Data))
	}
}

// read returns the content of an artifact. If a part cannot be read, the digest in the output
// differs.
func (d *dump) read(ctx context.Context, a *tool.Artifact) []byte {
	var whole []byte
	for uint64(len(whole)) < a.Size {
		piece, err := d.client.ReadArtifact(ctx, tool.ArtifactQuery{
			Session: d.session, Handle: a.Handle, Offset: uint64(len(whole)), Limit: tool.MaxArtifactPiece,
		})
		if err != nil || len(piece.Data) == 0 {
			break
		}
		whole = append(whole, piece.Data...)
	}
	return whole
}

// shown returns a short text on one line, and only the digest of a long text.
func shown(text string) string {
	if len(text) > 500 {
		return digest([]byte(text))
	}
	return "[" + strings.NewReplacer("\\", "\\\\", "\n", "\\n").Replace(text) + "]"
}

func digest(data []byte) string {
	return fmt.Sprintf("%d bytes of sha256 %x", len(data), sha256.Sum256(data))
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// canonical returns JSON without spaces and with sorted keys.
func canonical(encoded json.RawMessage) string {
	if len(encoded) == 0 {
		return "-"
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "no JSON: " + err.Error()
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "no JSON: " + err.Error()
	}
	return strings.TrimSuffix(out.String(), "\n")
}

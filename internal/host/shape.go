package host

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/artifact"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxFileShown bounds a file that stays in its result: no model reads it there.
	maxFileShown = 64 << 10
	// maxImageShown bounds an image that stays in its result: what the providers of models take.
	maxImageShown = 5 << 20
	// maxPreviews bounds the beginnings and ends of all artifacts of a result, whatever its caller wants to see: they
	// travel in one message.
	maxPreviews = 1 << 20
	// maxCuts bounds how many blocks of text become artifacts of their own; so many handles help nobody.
	maxCuts = 16
)

// shape makes artifacts of what is too large in the call's result, once, before anybody knows it. Small blocks are shown
// whole as long as there is room; large ones share what is left, three quarters for their beginnings and one for their
// ends. Who joins the call later with another budget gets it as it is.
func (r *run) shape(result *tool.Result) {
	if r.whole || r.host.cfg.Artifacts == nil {
		return
	}
	s := shaper{run: r, shown: r.shown()}
	result.Content = s.content(result.Content)
}

// shown returns how much text and JSON the call's result may show, in bytes.
func (r *run) shown() int {
	if r.call.MaxShown != nil {
		return max(*r.call.MaxShown, 0)
	}
	return r.host.cfg.MaxShown
}

// shapes reports whether shape may have to write to disk.
func (r *run) shapes(result *tool.Result) bool {
	size := 0
	for i := range result.Content {
		b := &result.Content[i]
		size += textSize(b) + len(b.Data)
	}
	return r.host.cfg.Artifacts != nil && size > r.shown()
}

// shaper shapes the result of one call.
type shaper struct {
	run   *run
	shown int // how much text and JSON may be shown, in bytes
}

func (s *shaper) content(blocks []tool.Content) []tool.Content {
	share, over := shareOut(textSizes(blocks), s.shown)
	if over > maxCuts {
		blocks = joinTexts(blocks)
		share, over = shareOut(textSizes(blocks), s.shown)
	}
	preview := min(share, maxPreviews/max(over, 1))
	shaped, own := blocks, false
	replace := func(i int, with tool.Content) {
		if !own { // the plugin's stay as they are
			shaped, own = slices.Clone(blocks), true
		}
		shaped[i] = with
	}
	for i := range blocks {
		switch b := &blocks[i]; {
		case textSize(b) > share:
			replace(i, s.cut(b, preview))
		case b.Kind == tool.ContentFile && len(b.Data) > min(s.shown, maxFileShown), b.Kind == tool.ContentImage && len(b.Data) > maxImageShown:
			replace(i, s.file(b))
		}
	}
	return shaped
}

// cut returns what is shown of a block that has too much text.
func (s *shaper) cut(b *tool.Content, preview int) tool.Content {
	var a tool.Artifact
	var data io.Reader
	switch b.Kind {
	case tool.ContentArtifact: // of the tool's own making
		a = *b.Artifact
		a.Head, a.Tail = head(a.Head, preview*3/4), tail(a.Tail, preview/4)
		return tool.Content{Kind: tool.ContentArtifact, Artifact: &a}
	case tool.ContentJSON:
		a.MediaType, a.Head, a.Tail = "application/json", head(b.JSON, preview*3/4), tail(b.JSON, preview/4)
		data = bytes.NewReader(b.JSON)
	default:
		a.MediaType, a.Head, a.Tail = "text/plain", head(b.Text, preview*3/4), tail(b.Text, preview/4)
		data = strings.NewReader(b.Text)
	}
	a.Size = uint64(textSize(b))
	return s.keep(a, data)
}

// file returns what is shown of a file or an image.
func (s *shaper) file(b *tool.Content) tool.Content {
	a := tool.Artifact{MediaType: b.MediaType, Name: b.Name, Size: uint64(len(b.Data))}
	return s.keep(a, bytes.NewReader(b.Data))
}

// keep stores an artifact and returns it as a block. What cannot be stored is lost but for what is shown, and the model is
// told: a call that was executed has its result, and one that is too large would cost the run its context.
func (s *shaper) keep(a tool.Artifact, data io.Reader) tool.Content {
	call := &s.run.call
	handle, err := s.run.host.cfg.Artifacts.Put(artifact.Owner{Principal: call.Principal, Session: call.Session},
		artifact.Content{MediaType: a.MediaType, Name: a.Name, Size: int64(a.Size), Data: data})
	if err == nil {
		a.Handle = handle
		return tool.Content{Kind: tool.ContentArtifact, Artifact: &a}
	}
	s.run.host.cfg.Logger.Error("a large result was not kept: its caller gets a part of it",
		"call_id", call.ID, "tool", call.Tool, "bytes", a.Size, "error", err)
	lost := a.Size - uint64(len(a.Head)+len(a.Tail))
	what := strings.Join(slices.DeleteFunc([]string{a.Name, a.MediaType}, func(s string) bool { return s == "" }), ", ")
	note := fmt.Sprintf("[%d of the %d bytes of this content (%s) are lost: toolhost could not keep them (%s). Ask for less at a time.]",
		lost, a.Size, what, clip(err.Error(), maxReason))
	return tool.Text(strings.TrimLeft(strings.TrimSuffix(a.Head, "\n")+"\n"+note+"\n"+a.Tail, "\n"))
}

// textSize returns how much text a block shows, in bytes.
func textSize(b *tool.Content) int {
	switch {
	case b.Kind == tool.ContentArtifact && b.Artifact != nil:
		return len(b.Artifact.Head) + len(b.Artifact.Tail)
	case b.Kind == tool.ContentText:
		return len(b.Text)
	case b.Kind == tool.ContentJSON:
		return len(b.JSON)
	default:
		return 0
	}
}

func textSizes(blocks []tool.Content) []int {
	sizes := make([]int, len(blocks))
	for i := range blocks {
		sizes[i] = textSize(&blocks[i])
	}
	return sizes
}

// shareOut divides a budget: what has at most share is shown whole, and each of the others, of which there are over, may
// show as much as share.
func shareOut(sizes []int, budget int) (share, over int) {
	slices.Sort(sizes)
	for i, size := range sizes {
		over = len(sizes) - i
		if share = budget / over; size > share {
			return share, over
		}
		budget -= size
	}
	return share, 0
}

// joinTexts puts all text and JSON into one block of text, in the place of the first.
func joinTexts(blocks []tool.Content) []tool.Content {
	var joined []tool.Content
	var texts []string
	first := -1
	for _, b := range blocks {
		if b.Kind != tool.ContentText && b.Kind != tool.ContentJSON {
			joined = append(joined, b)
			continue
		}
		if first < 0 {
			first = len(joined)
			joined = append(joined, tool.Content{})
		}
		texts = append(texts, b.Text+string(b.JSON))
	}
	if first >= 0 {
		joined[first] = tool.Text(strings.Join(texts, "\n"))
	}
	return joined
}

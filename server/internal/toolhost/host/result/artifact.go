package result

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxFileShown bounds a file that stays in its result: a model does not read files in results.
	maxFileShown = 64 << 10
	// maxImageShown bounds an image that stays in its result, by what the model providers accept.
	maxImageShown = 5 << 20
	// maxPreviews bounds the heads and tails of all artifacts of a result, whatever the caller asks
	// for, because they travel in one message.
	maxPreviews = 1 << 20
	// maxCuts bounds how many blocks of text become separate artifacts. A model cannot use more
	// handles.
	maxCuts = 16
	// MaxReason bounds a reason that comes from a plugin or from the system.
	MaxReason = 2000
)

// Shaper makes artifacts of the content that is too large for a result. It shows small blocks whole
// as long as there is room. Large blocks share the remaining room, three quarters of it for their
// beginnings and one quarter for their ends.
type Shaper struct {
	Store  *artifact.Store // nil: every result stays whole
	Owner  artifact.Owner  // of the artifacts
	Shown  int             // how many bytes of text and JSON a result shows
	Losses LossReporter    // required
}

// LossReporter reports content of a result that could not be stored.
type LossReporter interface {
	// LostContent reports the size of the content in bytes, and why it was not stored.
	LostContent(size uint64, err error)
}

// Shape replaces the content that is too large. It does not change the blocks of the result that it
// gets, which may belong to the plugin's message.
func (s *Shaper) Shape(result *tool.Result) {
	if s.Store == nil {
		return
	}
	blocks := result.Content
	share, over := shareOut(textSizes(blocks), s.Shown)
	if over > maxCuts {
		blocks = joinTexts(blocks)
		share, over = shareOut(textSizes(blocks), s.Shown)
	}
	preview := min(share, maxPreviews/max(over, 1))
	shaped, cloned := blocks, false
	replace := func(i int, with tool.Content) {
		if !cloned {
			shaped, cloned = slices.Clone(blocks), true
		}
		shaped[i] = with
	}
	for i := range blocks {
		switch b := &blocks[i]; {
		case textSize(b) > share:
			replace(i, s.cut(b, preview))
		case b.Kind == tool.ContentFile && len(b.Data) > min(s.Shown, maxFileShown), b.Kind == tool.ContentImage && len(b.Data) > maxImageShown:
			replace(i, s.file(b))
		}
	}
	result.Content = shaped
}

// cut returns the block that the result shows in place of a block with too much text.
func (s *Shaper) cut(b *tool.Content, preview int) tool.Content {
	var a tool.Artifact
	var data io.Reader
	switch b.Kind {
	case tool.ContentArtifact: // the tool made the artifact itself: only its excerpts are too large
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
	return s.store(a, data)
}

// file returns the block that the result shows in place of a file or an image.
func (s *Shaper) file(b *tool.Content) tool.Content {
	a := tool.Artifact{MediaType: b.MediaType, Name: b.Name, Size: uint64(len(b.Data))}
	return s.store(a, bytes.NewReader(b.Data))
}

// store writes an artifact to the store and returns it as a block. If that fails, everything but
// the excerpts is lost, and the block tells the model so. Failing the call would hide that the tool
// was executed. Returning the whole content would fill the model's context.
func (s *Shaper) store(a tool.Artifact, data io.Reader) tool.Content {
	handle, err := s.Store.Put(s.Owner, artifact.Content{MediaType: a.MediaType, Name: a.Name, Size: int64(a.Size), Data: data})
	if err == nil {
		a.Handle = handle
		return tool.Content{Kind: tool.ContentArtifact, Artifact: &a}
	}
	s.Losses.LostContent(a.Size, err)
	lost := a.Size - uint64(len(a.Head)+len(a.Tail))
	what := strings.Join(slices.DeleteFunc([]string{a.Name, a.MediaType}, func(s string) bool { return s == "" }), ", ")
	note := fmt.Sprintf("[%d of the %d bytes of this content (%s) are lost: toolhost could not keep them (%s). Ask for less at a time.]",
		lost, a.Size, what, Clip(err.Error(), MaxReason))
	return tool.Text(strings.TrimLeft(strings.TrimSuffix(a.Head, "\n")+"\n"+note+"\n"+a.Tail, "\n"))
}

// textSize returns how many bytes of text a block shows.
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

// shareOut divides a budget among blocks. A block of at most share bytes is shown completely. The
// other blocks may each show share bytes, and over is their number. It sorts sizes.
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

// joinTexts joins all text and JSON into one block of text, in the place of the first such block.
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

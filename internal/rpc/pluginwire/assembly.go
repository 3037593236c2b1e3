package pluginwire

import (
	"strings"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// maxBlocks bounds the content blocks of a result, so that empty chunks of ever new blocks cost nothing either.
const maxBlocks = 4096

// assembly puts a result together from its chunks and its end. The zero value with a limit is ready.
type assembly struct {
	limit  int // of the payload in all, in bytes
	size   int
	chunks map[uint32]*pages
}

func broken(format string, args ...any) *tool.Error {
	return tool.Errorf(tool.KindInternal, "the plugin broke the contract: "+format, args...)
}

// add takes a chunk.
func (a *assembly) add(chunk *pluginv1.ContentChunk) *tool.Error {
	index, data := chunk.GetIndex(), chunk.GetData()
	switch {
	case index >= maxBlocks:
		return broken("a chunk for block %d of a result; there may be %d", index, maxBlocks)
	case len(data) > maxPiece:
		return broken("a chunk of %d bytes; at most %d are allowed", len(data), maxPiece)
	}
	if err := a.grow(len(data)); err != nil {
		return err
	}
	if a.chunks == nil {
		a.chunks = map[uint32]*pages{}
	}
	if a.chunks[index] == nil {
		a.chunks[index] = &pages{}
	}
	a.chunks[index].add(data)
	return nil
}

func (a *assembly) grow(n int) *tool.Error {
	if a.size += n; a.size > a.limit {
		return tool.Errorf(tool.KindInternal, "the tool's result is larger than the %d bytes that are allowed", a.limit)
	}
	return nil
}

// finish returns the result with its chunks in place, once its JSON is found to be JSON.
func (a *assembly) finish(end *toolv1.Result) (tool.Result, *tool.Error) {
	for index := range a.chunks {
		if int(index) >= len(end.GetContent()) {
			return tool.Result{}, broken("a chunk for block %d of a result that has %d", index, len(end.GetContent()))
		}
	}
	result := toolpb.ToResult(end)
	for i := range result.Content {
		if err := a.finishBlock(&result.Content[i], i); err != nil {
			return tool.Result{}, err
		}
	}
	for i, effect := range result.Effects {
		value, ok := checkedJSON(effect.Value)
		if !ok {
			return tool.Result{}, broken("the value of the effect on %q is no JSON", clip(effect.Key, maxReason))
		}
		result.Effects[i].Value = value
	}
	for key, value := range result.Metadata {
		value, ok := checkedJSON(value)
		if !ok {
			return tool.Result{}, broken("the metadata %q is no JSON", clip(key, maxReason))
		}
		result.Metadata[key] = value
	}
	return result, nil
}

func (a *assembly) finishBlock(block *tool.Content, index int) *tool.Error {
	head, chunked := a.chunks[uint32(index)]
	switch block.Kind {
	case tool.ContentText:
		if err := a.grow(len(block.Text)); err != nil {
			return err
		}
		if chunked {
			block.Text = validText(head.text(block.Text))
		}
	case tool.ContentJSON:
		if err := a.grow(len(block.JSON)); err != nil {
			return err
		}
		value, ok := checkedJSON(join(head, block.JSON))
		if !ok {
			return broken("block %d of the result is no JSON", index)
		}
		block.JSON = value
	case tool.ContentImage, tool.ContentFile:
		if err := a.grow(len(block.Data)); err != nil {
			return err
		}
		block.Data = join(head, block.Data)
	default:
		if chunked {
			return broken("a chunk for block %d, which takes none", index)
		}
		if block.Kind == "" {
			*block = tool.Text("[a block of a kind that this toolhost does not know]")
		}
	}
	return nil
}

func join(head *pages, tail []byte) []byte {
	if head == nil || head.size == 0 {
		return tail
	}
	return head.bytes(tail)
}

// clip shortens s to about limit bytes.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

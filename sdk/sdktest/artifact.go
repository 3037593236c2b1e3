package sdktest

import (
	"context"

	"github.com/toolhost/toolhost/tool"
)

// artifactPiece is the largest part of an artifact that a toolhost returns.
const artifactPiece = 64 << 10

// ReadArtifact returns a part of an artifact of the test.
func (in *incoming) ReadArtifact(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error) {
	if ctx.Err() != nil {
		return tool.ArtifactPiece{}, context.Cause(ctx)
	}
	content, ok := in.kept[handle]
	if !ok {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindNotFound, "there is no artifact %q in this session", handle)
	}
	data, mediaType := content.Data, content.MediaType
	switch content.Kind {
	case tool.ContentText:
		data, mediaType = []byte(content.Text), "text/plain"
	case tool.ContentJSON:
		data, mediaType = content.JSON, "application/json"
	}
	if limit <= 0 || limit > artifactPiece {
		limit = artifactPiece
	}
	from := min(offset, uint64(len(data)))
	to := min(from+uint64(limit), uint64(len(data)))
	return tool.ArtifactPiece{Data: data[from:to:to], MediaType: mediaType, Name: content.Name, Size: uint64(len(data))}, nil
}

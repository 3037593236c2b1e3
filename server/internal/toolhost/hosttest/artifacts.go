package hosttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/toolhost/toolhost/tool"
)

// ArtifactReader returns at most limit bytes, from an offset on, of an artifact that a call may
// read. With the limit 0, the reader chooses.
type ArtifactReader func(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error)

type artifactReaderKey struct{}

// WithArtifacts returns a context for Tool.Run, with which the tool can read artifacts.
func WithArtifacts(ctx context.Context, read ArtifactReader) context.Context {
	return context.WithValue(ctx, artifactReaderKey{}, read)
}

// summed is the result of the tool sum about an artifact.
type summed struct {
	Size      int    `json:"size"`
	MediaType string `json:"media_type"`
	Name      string `json:"name"`
	Sum       string `json:"sum"`
}

func sumOf(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// sum reads an artifact piece by piece, and returns its size and digest.
func sum(ctx context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	if err != nil {
		return tool.Result{}, err
	}
	read, _ := ctx.Value(artifactReaderKey{}).(ArtifactReader)
	if read == nil {
		return tool.ErrorResult("there are no artifacts here"), nil
	}
	var data []byte
	for {
		piece, err := read(ctx, a.Handle, uint64(len(data)), 0)
		if tool.KindOf(err) == tool.KindNotFound {
			return tool.ErrorResult(err.Error()), nil
		}
		if err != nil {
			return tool.Result{}, err
		}
		data = append(data, piece.Data...)
		if len(piece.Data) == 0 || uint64(len(data)) >= piece.Size {
			summary, err := json.Marshal(summed{Size: len(data), MediaType: piece.MediaType, Name: piece.Name, Sum: sumOf(data)})
			return tool.Result{Content: []tool.Content{tool.JSON(summary)}}, err
		}
	}
}

package client

import (
	"context"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/internal/rpc/link"
	"github.com/toolhost/toolhost/tool"
)

// ReadArtifact returns a part of an artifact: of a result that was too large to be shown, by the handle that stands in its
// place. It has fewer bytes than asked for only where the artifact ends or a piece is as large as it may be, and none behind
// the end; so whoever wants all of it reads on, at the offset behind what he has, until he has Size bytes. A piece of a text
// may end inside a letter. The principal of the query is ignored. Errors: invalid_argument; not_found, also for an artifact
// of another session and for one that is no longer kept.
func (c *Client) ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error) {
	if q.Limit < 0 {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindInvalidArgument, "the limit %d must not be negative", q.Limit)
	}
	resp, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ReadArtifactResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).ReadArtifact(ctx, &toolhostv1.ReadArtifactRequest{
			Handle: q.Handle, Session: q.Session, Offset: q.Offset, Limit: uint32(min(q.Limit, tool.MaxArtifactPiece)),
		})
	})
	if err != nil {
		return tool.ArtifactPiece{}, err
	}
	return hostpb.ToArtifactPiece(resp), nil
}

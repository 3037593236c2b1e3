package mcpclient

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// uncached is a request whose result the SDK must not keep.
//
// For servers of version 2026-07-28, the SDK keeps the result of each list and each read under the
// cursor or the URI of its request, for the time that the server says, and removes it only when the
// same request is made again. A caller that reads many URIs, or a server that chooses new cursors,
// would fill memory. So the SDK gets requests without a cursor or URI, and empty results. The
// middleware uncache puts the cursor or the URI into the request that is sent, and takes the result
// out of the answer.
type uncached struct {
	key    string
	result mcp.Result
}

type uncachedKey struct{}

// through makes a request with a cursor or a URI.
func through[R mcp.Result](ctx context.Context, key string, send func(ctx context.Context) (R, error)) (R, error) {
	e := &uncached{key: key}
	result, err := send(context.WithValue(ctx, uncachedKey{}, e))
	if err != nil {
		return result, err
	}
	if taken, ok := e.result.(R); ok {
		return taken, nil
	}
	return result, nil
}

// uncache is the middleware of these requests.
func uncache(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		e, ok := ctx.Value(uncachedKey{}).(*uncached)
		if !ok {
			return next(ctx, method, req)
		}
		switch p := req.GetParams().(type) {
		case *mcp.ListResourcesParams:
			p.Cursor = e.key
		case *mcp.ListResourceTemplatesParams:
			p.Cursor = e.key
		case *mcp.ListPromptsParams:
			p.Cursor = e.key
		case *mcp.ReadResourceParams:
			p.URI = e.key
		default:
			return next(ctx, method, req)
		}
		result, err := next(ctx, method, req)
		if err != nil {
			return nil, err
		}
		e.result = result
		switch result.(type) {
		case *mcp.ListResourcesResult:
			return &mcp.ListResourcesResult{}, nil
		case *mcp.ListResourceTemplatesResult:
			return &mcp.ListResourceTemplatesResult{}, nil
		case *mcp.ListPromptsResult:
			return &mcp.ListPromptsResult{}, nil
		case *mcp.ReadResourceResult:
			return &mcp.ReadResourceResult{}, nil
		}
		return result, nil
	}
}

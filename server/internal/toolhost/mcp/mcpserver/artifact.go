package mcpserver

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// Artifacts are resources below artifactPrefix. Their URIs have the handle, and for all pages but
// the first the offset of the page.
const (
	ownScheme      = "toolhost://"
	artifactPrefix = ownScheme + "artifact/"
	// pageBytes is the size of a page, which a client may put into the context of a model.
	pageBytes = 256 << 10
)

// The keys in _meta of a page.
const (
	metaNext = "toolhost/next" // the URI of the next page; without it, the page is the last one
	metaSize = "toolhost/size" // the size of the whole artifact in bytes
)

var artifactTemplate = &mcp.ResourceTemplate{
	Name: "artifact", Title: "Large results", URITemplate: artifactPrefix + "{handle}{?session,offset}",
	Description: "The content of a result that was too large, in pages. _meta of a page has the URI of the next one as " + metaNext + ".",
}

func artifactURI(handle, session string, offset uint64) string {
	query := url.Values{}
	if session != "" {
		query.Set("session", session)
	}
	if offset > 0 {
		query.Set("offset", strconv.FormatUint(offset, 10))
	}
	uri := artifactPrefix + url.PathEscape(handle)
	if len(query) > 0 {
		uri += "?" + query.Encode()
	}
	return uri
}

// reader returns the content that clients read: artifacts of the principal, and resources of
// plugins.
type reader struct{ config *Config }

// readArtifact handles resources/read: it returns one page of an artifact of the principal.
func (r reader) readArtifact(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	handle, session, offset, ok := parseArtifactURI(uri)
	if !ok {
		return nil, noResource(uri)
	}
	page, err := r.artifactPage(ctx, uri, handle, session, offset)
	if tool.KindOf(err) == tool.KindNotFound {
		return nil, noResource(uri)
	}
	if err != nil {
		return nil, requestError(err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{page}}, nil
}

// artifactPage returns one page of an artifact under a URI. Its _meta has the URI of the next page.
func (r reader) artifactPage(ctx context.Context, uri, handle, session string, offset uint64) (*mcp.ResourceContents, error) {
	piece, err := r.config.Tools.ReadArtifact(ctx, tool.ArtifactQuery{Session: session, Handle: handle, Offset: offset, Limit: pageBytes})
	if err != nil {
		return nil, err
	}
	data := piece.Data
	end := offset + uint64(len(data))
	if isText(piece.MediaType) && end < piece.Size {
		data = wholeCharacters(data)
		end = offset + uint64(len(data))
	}
	page := resourceOf(uri, piece.MediaType, data)
	page.Meta = mcp.Meta{metaSize: piece.Size}
	if end < piece.Size && len(data) > 0 {
		page.Meta[metaNext] = artifactURI(handle, session, end)
	}
	return page, nil
}

// noResource returns the error for a URI at which nothing can be read. The SDK's own one is no
// valid JSON for some URIs.
func noResource(uri string) error {
	data, _ := json.Marshal(map[string]string{"uri": uri}) // text can be encoded
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Resource not found", Data: data}
}

// wholeCharacters returns the beginning of a text without the beginning of a character at its end.
func wholeCharacters(data []byte) []byte {
	for cut := 1; cut < utf8.UTFMax && cut < len(data); cut++ {
		if at := len(data) - cut; utf8.RuneStart(data[at]) {
			if !utf8.FullRune(data[at:]) {
				return data[:at]
			}
			break
		}
	}
	return data
}

func parseArtifactURI(uri string) (handle, session string, offset uint64, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "toolhost" || u.Host != "artifact" || len(u.Path) < 2 {
		return "", "", 0, false
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", "", 0, false
	}
	if text := query.Get("offset"); text != "" {
		if offset, err = strconv.ParseUint(text, 10, 63); err != nil {
			return "", "", 0, false
		}
	}
	return u.Path[1:], query.Get("session"), offset, true
}

package hostrpc

import (
	"encoding/base64"
	"encoding/json"

	"google.golang.org/protobuf/proto"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/hostpb"
	"github.com/toolhost/toolhost/tool"
)

const (
	defaultPageSize = 100
	maxPageSize     = 1000
	// maxPageBytes keeps a page of large schemas within one message.
	maxPageBytes = hostpb.MaxMessageBytes / 2
)

// position is where a page begins, and all that a page token holds: a name, not a number, so that tools that come and
// go between two pages neither hide nor repeat others.
type position struct {
	After  string `json:"a"` // the last name of the page before; empty: the beginning
	Listed int    `json:"n"` // how many tools the pages before held
}

func parsePosition(token string) (position, error) {
	var p position
	if token == "" {
		return p, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil || p.After == "" || p.Listed < 1 {
		return p, tool.Errorf(tool.KindInvalidArgument, "the page token is not one of this API; use the next_page_token of the page before, unchanged")
	}
	return p, nil
}

func (p position) token() string {
	data, err := json.Marshal(p)
	if err != nil {
		panic(err) // a string and a number
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// pageOf returns the page that a request wants of all tools that match it, which are ordered by name.
func pageOf(all []tool.Info, req *toolhostv1.ListToolsRequest) (*toolhostv1.ListToolsResponse, error) {
	if req.GetPageSize() < 0 || req.GetMaxTools() < 0 {
		return nil, tool.Errorf(tool.KindInvalidArgument, "page_size %d and max_tools %d must not be negative", req.GetPageSize(), req.GetMaxTools())
	}
	at, err := parsePosition(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	limit := min(int(req.GetPageSize()), maxPageSize)
	if limit == 0 {
		limit = defaultPageSize
	}
	resp, bytes := &toolhostv1.ListToolsResponse{}, 0
	for _, info := range all {
		if info.Spec.Name <= at.After {
			continue
		}
		if req.GetMaxTools() > 0 && at.Listed >= int(req.GetMaxTools()) {
			return resp, nil
		}
		m := hostpb.FromInfo(info)
		bytes += proto.Size(m)
		if len(resp.Tools) == limit || (len(resp.Tools) > 0 && bytes > maxPageBytes) {
			resp.NextPageToken = at.token()
			return resp, nil
		}
		resp.Tools = append(resp.Tools, m)
		at = position{After: info.Spec.Name, Listed: at.Listed + 1}
	}
	return resp, nil
}

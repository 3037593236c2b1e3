package hostserver

import (
	"encoding/base64"
	"encoding/json"

	"google.golang.org/protobuf/proto"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
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

// page is what a request wants: at most limit tools from a position on.
type page struct {
	at    position
	limit int
	most  int // tools of all pages; 0: all
}

func pageOf(req *toolhostv1.ListToolsRequest) (page, error) {
	if req.GetPageSize() < 0 || req.GetSelection().GetMaxTools() < 0 {
		return page{}, tool.Errorf(tool.KindInvalidArgument, "page_size %d and max_tools %d must not be negative", req.GetPageSize(), req.GetSelection().GetMaxTools())
	}
	at, err := parsePosition(req.GetPageToken())
	if err != nil {
		return page{}, err
	}
	p := page{at: at, limit: min(int(req.GetPageSize()), maxPageSize), most: int(req.GetSelection().GetMaxTools())}
	if p.limit == 0 {
		p.limit = defaultPageSize
	}
	return p, nil
}

// wanted returns how many tools the page needs: one more than it may hold tells whether another page follows. 0: none.
func (p page) wanted() int {
	if p.most == 0 {
		return p.limit + 1
	}
	return min(p.limit+1, max(p.most-p.at.Listed, 0))
}

// fill returns the page that begins with these tools.
func (p page) fill(infos []tool.Info) *toolhostv1.ListToolsResponse {
	resp, bytes := &toolhostv1.ListToolsResponse{}, 0
	for _, info := range infos {
		if len(resp.Tools) == p.limit {
			resp.NextPageToken = p.at.token()
			return resp
		}
		m := hostpb.FromInfo(info)
		bytes += proto.Size(m)
		if len(resp.Tools) > 0 && bytes > maxPageBytes {
			resp.NextPageToken = p.at.token()
			return resp
		}
		resp.Tools = append(resp.Tools, m)
		p.at = position{After: info.Spec.Name, Listed: p.at.Listed + 1}
	}
	return resp
}

package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromInfo converts a tool as a toolhost offers it.
func FromInfo(i tool.Info) *toolhostv1.Tool {
	return &toolhostv1.Tool{
		Spec:              toolpb.FromSpec(i.Spec),
		Plugin:            valid(i.Plugin),
		PluginVersion:     valid(i.PluginVersion),
		UnavailableReason: valid(i.UnavailableReason),
	}
}

// ToInfo converts a tool as a toolhost offers it.
func ToInfo(t *toolhostv1.Tool) tool.Info {
	return tool.Info{
		Spec:              toolpb.ToSpec(t.GetSpec()),
		Plugin:            t.GetPlugin(),
		PluginVersion:     t.GetPluginVersion(),
		UnavailableReason: t.GetUnavailableReason(),
	}
}

// FromQuery converts a selection of tools into the request for its first page.
func FromQuery(q tool.Query) *toolhostv1.ListToolsRequest {
	return &toolhostv1.ListToolsRequest{
		Names:         valids(q.Names),
		Categories:    valids(q.Categories),
		Tags:          valids(q.Tags),
		Dangerous:     q.Dangerous,
		MaxCostPerUse: q.MaxCostPerUse,
		MaxTools:      int32Of(q.MaxTools),
		Session:       valid(q.Session),
		PageSize:      0,
	}
}

// ToQuery converts what a request selects; which page it wants is not part of it.
func ToQuery(r *toolhostv1.ListToolsRequest) tool.Query {
	return tool.Query{
		Names:         r.GetNames(),
		Categories:    r.GetCategories(),
		Tags:          r.GetTags(),
		Dangerous:     r.Dangerous,
		MaxCostPerUse: r.MaxCostPerUse,
		MaxTools:      int(r.GetMaxTools()),
		Session:       r.GetSession(),
	}
}

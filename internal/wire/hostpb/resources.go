package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromResource converts a resource.
func FromResource(r tool.Resource) *toolhostv1.Resource {
	return &toolhostv1.Resource{
		Plugin: valid(r.Plugin), Uri: valid(r.URI), Name: valid(r.Name), Title: valid(r.Title), Description: valid(r.Description),
		MediaType: valid(r.MediaType), Size: r.Size,
	}
}

// ToResource converts a resource.
func ToResource(r *toolhostv1.Resource) tool.Resource {
	return tool.Resource{
		Plugin: r.GetPlugin(), URI: r.GetUri(), Name: r.GetName(), Title: r.GetTitle(), Description: r.GetDescription(),
		MediaType: r.GetMediaType(), Size: r.GetSize(),
	}
}

// FromResourceTemplate converts a template.
func FromResourceTemplate(t tool.ResourceTemplate) *toolhostv1.ResourceTemplate {
	return &toolhostv1.ResourceTemplate{
		Plugin: valid(t.Plugin), UriTemplate: valid(t.URITemplate), Name: valid(t.Name), Title: valid(t.Title),
		Description: valid(t.Description), MediaType: valid(t.MediaType),
	}
}

// ToResourceTemplate converts a template.
func ToResourceTemplate(t *toolhostv1.ResourceTemplate) tool.ResourceTemplate {
	return tool.ResourceTemplate{
		Plugin: t.GetPlugin(), URITemplate: t.GetUriTemplate(), Name: t.GetName(), Title: t.GetTitle(),
		Description: t.GetDescription(), MediaType: t.GetMediaType(),
	}
}

// FromUnlisted converts the plugins that could not be listed.
func FromUnlisted(all []tool.Unlisted) []*toolhostv1.UnlistedPlugin {
	var out []*toolhostv1.UnlistedPlugin
	for _, u := range all {
		out = append(out, &toolhostv1.UnlistedPlugin{Plugin: valid(u.Plugin), Reason: valid(u.Reason)})
	}
	return out
}

// ToUnlisted converts the plugins that could not be listed.
func ToUnlisted(all []*toolhostv1.UnlistedPlugin) []tool.Unlisted {
	var out []tool.Unlisted
	for _, u := range all {
		out = append(out, tool.Unlisted{Plugin: u.GetPlugin(), Reason: u.GetReason()})
	}
	return out
}

// FromResourceContent converts a part of a resource.
func FromResourceContent(c tool.ResourceContent) *toolhostv1.ResourceContent {
	return &toolhostv1.ResourceContent{Uri: valid(c.URI), MediaType: valid(c.MediaType), Content: toolpb.FromContent(c.Content)}
}

// ToResourceContent converts a part of a resource.
func ToResourceContent(c *toolhostv1.ResourceContent) tool.ResourceContent {
	return tool.ResourceContent{URI: c.GetUri(), MediaType: c.GetMediaType(), Content: toolpb.ToContent(c.GetContent())}
}

// FromResourceContents converts the content of a resource.
func FromResourceContents(r tool.ResourceContents) *toolhostv1.ReadResourceResponse {
	m := &toolhostv1.ReadResourceResponse{Plugin: valid(r.Plugin)}
	for _, c := range r.Parts {
		m.Contents = append(m.Contents, FromResourceContent(c))
	}
	return m
}

// ToResourceContents converts the content of a resource.
func ToResourceContents(m *toolhostv1.ReadResourceResponse) tool.ResourceContents {
	r := tool.ResourceContents{Plugin: m.GetPlugin(), Parts: []tool.ResourceContent{}}
	for _, c := range m.GetContents() {
		r.Parts = append(r.Parts, ToResourceContent(c))
	}
	return r
}

// FromResourceChange converts a notice.
func FromResourceChange(c tool.ResourceChange) *toolhostv1.WatchResourcesResponse {
	return &toolhostv1.WatchResourcesResponse{Plugin: valid(c.Plugin), ResourcesChanged: c.Resources, PromptsChanged: c.Prompts, Uri: valid(c.URI)}
}

// ToResourceChange converts a notice.
func ToResourceChange(m *toolhostv1.WatchResourcesResponse) tool.ResourceChange {
	return tool.ResourceChange{Plugin: m.GetPlugin(), Resources: m.GetResourcesChanged(), Prompts: m.GetPromptsChanged(), URI: m.GetUri()}
}

// FromResourceRefs converts names of resources.
func FromResourceRefs(refs []tool.ResourceRef) []*toolhostv1.ResourceName {
	var out []*toolhostv1.ResourceName
	for _, r := range refs {
		out = append(out, &toolhostv1.ResourceName{Plugin: valid(r.Plugin), Uri: valid(r.URI)})
	}
	return out
}

// ToResourceRefs converts names of resources.
func ToResourceRefs(names []*toolhostv1.ResourceName) []tool.ResourceRef {
	var out []tool.ResourceRef
	for _, n := range names {
		out = append(out, tool.ResourceRef{Plugin: n.GetPlugin(), URI: n.GetUri()})
	}
	return out
}

package tool

// Offers says what a plugin has for callers besides its tools. The zero value means nothing.
type Offers struct {
	Resources     bool `json:"resources,omitempty"`
	Subscriptions bool `json:"subscriptions,omitempty"` // it tells when a resource changes
	Prompts       bool `json:"prompts,omitempty"`
	Completions   bool `json:"completions,omitempty"` // it completes arguments of prompts and templates
}

// Requester identifies the caller of a request for resources or prompts. Servers set all fields but
// Session from the connection, never from the request. The zero value is code of the program
// itself.
type Requester struct {
	Principal string   // the key of the principal that the request is for
	Groups    []string // of the principal
	Via       string   // the key of the delegate that makes the request; empty: the principal itself
	From      string   // where the caller is: an IP address, or unix
	Session   string   // empty: the principal's default session
}

// Resource is data that a plugin offers by its URI, such as a file or a table. The plugin chose all
// texts.
type Resource struct {
	Plugin string `json:"plugin"`
	// URI is the name of the resource within its plugin. It says nothing about which plugin has the
	// resource: two plugins can offer the same URI.
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MediaType   string `json:"media_type,omitempty"` // IANA, such as text/plain; empty: unknown
	Size        uint64 `json:"size,omitempty"`       // in bytes, as the plugin says; 0: unknown
}

// ResourceTemplate describes resources whose URIs follow from arguments.
type ResourceTemplate struct {
	Plugin      string `json:"plugin"`
	URITemplate string `json:"uri_template"` // in the form of RFC 6570, such as db:///{table}
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MediaType   string `json:"media_type,omitempty"` // of all these resources; empty: it differs, or is unknown
}

// ResourceQuery selects resources and templates, or prompts. The zero value of Plugin selects those
// of all plugins.
type ResourceQuery struct {
	Requester
	Plugin string
}

// Unlisted is a plugin whose resources or prompts could not be listed.
type Unlisted struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
}

// Resources are the resources of several plugins, ordered by plugin and URI. A plugin that fails
// does not keep the others from being listed.
type Resources struct {
	Resources []Resource `json:"resources"`
	Unlisted  []Unlisted `json:"unlisted,omitempty"`
}

// ResourceTemplates are the templates of several plugins, ordered by plugin and template.
type ResourceTemplates struct {
	Templates []ResourceTemplate `json:"templates"`
	Unlisted  []Unlisted         `json:"unlisted,omitempty"`
}

// ResourceRead asks for the content of a resource.
type ResourceRead struct {
	Requester
	// Plugin is the plugin that has the resource. Empty: the only plugin that offers the URI, by its
	// list or by a template. If several do, the read fails, so that no plugin can answer in place of
	// another one.
	Plugin string
	URI    string
	// MaxShown is how many bytes of text the answer shows; 0: the default of the host. The answer has
	// an artifact in place of larger content.
	MaxShown int
}

// ResourceContent is one part of the content of a resource.
type ResourceContent struct {
	URI       string  `json:"uri"` // of this part, which may differ from the URI that was read
	MediaType string  `json:"media_type,omitempty"`
	Content   Content `json:"content"` // text, a file, or an artifact
}

// ResourceContents is the content of a resource.
type ResourceContents struct {
	Plugin string            `json:"plugin"` // the plugin that returned it
	Parts  []ResourceContent `json:"parts"`
}

// ResourceWatch asks for notices of changes. It selects the lists of the plugins that ResourceQuery
// selects, and some single resources.
type ResourceWatch struct {
	ResourceQuery
	// Resources are the resources whose updates are wanted. While a watch has any, their plugins have
	// a running instance. Of the fields, Plugin and URI count, as in ResourceRead.
	Resources []ResourceRef
}

// ResourceRef names a resource, as in ResourceRead.
type ResourceRef struct {
	Plugin string `json:"plugin,omitempty"`
	URI    string `json:"uri"`
}

// ResourceChange is a notice of a change. It does not have the change itself, which has to be read.
type ResourceChange struct {
	Plugin    string `json:"plugin"`
	Resources bool   `json:"resources,omitempty"` // the lists of resources and templates may have changed
	Prompts   bool   `json:"prompts,omitempty"`   // the list of prompts may have changed
	URI       string `json:"uri,omitempty"`       // the resource that may have changed; empty: none
}

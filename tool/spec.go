package tool

import (
	"encoding/json"
	"time"
)

// MaxCost is the largest cost of one call. toolhost and agentd reduce a larger cost, which a tool
// declares or reports, to MaxCost, so that the costs of many calls have a sum that JSON can
// represent.
const MaxCost = 1e9

// Spec is the declaration of a tool. The zero value of each field is the usual case. The field
// comments in proto/toolhost/tool/v1/spec.proto are the reference.
type Spec struct {
	Name                   string          `json:"name"`
	Version                string          `json:"version,omitempty"`
	DisplayName            string          `json:"display_name,omitempty"`
	Description            string          `json:"description"`
	Category               string          `json:"category,omitempty"`
	Tags                   []string        `json:"tags,omitempty"`
	InputSchema            json.RawMessage `json:"input_schema,omitempty"`  // empty: an object without properties
	OutputSchema           json.RawMessage `json:"output_schema,omitempty"` // empty: none promised
	InputExamples          []InputExample  `json:"input_examples,omitempty"`
	Timeout                time.Duration   `json:"timeout,omitempty"` // 0: the host's default
	ProgressExtendsTimeout bool            `json:"progress_extends_timeout,omitempty"`
	Retry                  RetryPolicy     `json:"retry,omitzero"`
	RateLimitPerMinute     uint32          `json:"rate_limit_per_minute,omitempty"` // 0: none
	MemoryLimitBytes       uint64          `json:"memory_limit_bytes,omitempty"`    // 0: the operator's default
	CostPerUse             float64         `json:"cost_per_use,omitempty"`
	RequiresAuth           []string        `json:"requires_auth,omitempty"` // names of secrets
	// a request; the operator can only exempt the whole plugin
	SandboxExempt    bool     `json:"sandbox_exempt,omitempty"`
	PartialArguments bool     `json:"partial_arguments,omitempty"`
	Dangerous        bool     `json:"dangerous,omitempty"`
	ReadOnly         bool     `json:"read_only,omitempty"`
	Idempotent       bool     `json:"idempotent,omitempty"`
	Serial           bool     `json:"serial,omitempty"`
	ReturnDirect     bool     `json:"return_direct,omitempty"`
	Strict           bool     `json:"strict,omitempty"`
	Dynamic          bool     `json:"dynamic,omitempty"`
	ContextKeys      []string `json:"context_keys,omitempty"`
	// the context keys that its effects may change
	EffectKeys []string                   `json:"effect_keys,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	// the tool can say later whether a call happened; see Settlement
	Settles bool `json:"settles,omitempty"`
	// the order of the side effects with those of other calls of a response does not matter
	Parallel bool `json:"parallel,omitempty"`
	// what its check says did not happen has no effect later either; see Settlement
	Seals bool `json:"seals,omitempty"`
}

// HasSideEffects reports whether two executions of the tool may differ from one. The host never
// repeats such a call after it may have begun.
func (s *Spec) HasSideEffects() bool { return !s.ReadOnly && !s.Idempotent }

// Reads reports whether the tool says that its calls change nothing. For the order of the calls of
// a response, the hint of an MCP server suffices. Whoever relies on the promise reads ReadOnly.
func (s *Spec) Reads() bool { return s.ReadOnly || SaidByMCP(s).ReadOnlyHint }

// MCPMetadata is what an MCP server says about a tool and nobody has to trust. It is in the
// metadata of the tool's Spec, under the key mcp.
type MCPMetadata struct {
	// Name is the name of the tool at the server, if it is another one.
	Name string `json:"name,omitempty"`
	// ReadOnlyHint says that the tool only reads, without a promise of the operator.
	ReadOnlyHint bool `json:"read_only_hint,omitempty"`
}

const metadataMCP = "mcp" // a key of Spec.Metadata

// SaidByMCP returns what the metadata of a tool has; the zero value if it has nothing readable.
func SaidByMCP(s *Spec) MCPMetadata {
	var said MCPMetadata
	if text, ok := s.Metadata[metadataMCP]; !ok || json.Unmarshal(text, &said) != nil {
		return MCPMetadata{}
	}
	return said
}

// Set stores the value in the metadata of a tool, which the caller owns, or removes it if it is
// zero.
func (m MCPMetadata) Set(s *Spec) {
	if m == (MCPMetadata{}) {
		if delete(s.Metadata, metadataMCP); len(s.Metadata) == 0 {
			s.Metadata = nil
		}
		return
	}
	if s.Metadata == nil {
		s.Metadata = map[string]json.RawMessage{}
	}
	s.Metadata[metadataMCP], _ = json.Marshal(m) // texts always marshal
}

// InputExample is a typical call of a tool.
type InputExample struct {
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments"`
}

// RetryPolicy says whether and when the host repeats a failed call. The zero value means never.
type RetryPolicy struct {
	// the number of executions; 0 and 1 both mean one
	MaxAttempts    uint32        `json:"max_attempts,omitempty"`
	InitialBackoff time.Duration `json:"initial_backoff,omitempty"` // 0: 200 ms
	MaxBackoff     time.Duration `json:"max_backoff,omitempty"`     // 0: 5 s
}

// Description is the declaration of a plugin.
type Description struct {
	Name        string   `json:"name"`
	Version     string   `json:"version,omitempty"`
	Description string   `json:"description,omitempty"`
	Tools       []Spec   `json:"tools"`
	DefaultTags []string `json:"default_tags,omitempty"` // for tools without tags
	Filters     []Filter `json:"filters,omitempty"`
	// Permissions are the permissions that the plugin requests. A request alone grants nothing.
	Permissions Permissions `json:"permissions,omitzero"`
	SDK         *SDKInfo    `json:"sdk,omitempty"` // nil: the plugin declares none
	// Offers is what the plugin has besides tools.
	Offers Offers `json:"offers,omitzero"`
	// Warnings are what toolhost left out of the description, and why. A plugin cannot set them. Empty
	// if nothing is left out.
	Warnings []string `json:"warnings,omitempty"`
}

// MaxOwnFilters is how many filters of its own plugin the calls of a tool may pass: each of them is
// a call of its own.
const MaxOwnFilters = 8

// Filter declares a function that the host runs before or after calls of tools.
// proto/toolhost/plugin/v1/plugin.proto describes the protocol.
type Filter struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Before      bool   `json:"before,omitempty"` // runs before calls
	After       bool   `json:"after,omitempty"`  // runs after calls
	// Tools are the tools of the same plugin, by the names that it declares, whose calls always pass
	// the filter. nil: only the operator's configuration applies it.
	Tools []string `json:"tools,omitempty"`
}

// Info is a tool that a toolhost offers.
type Info struct {
	Spec              Spec   `json:"spec"`
	Plugin            string `json:"plugin"`
	PluginVersion     string `json:"plugin_version,omitempty"`
	UnavailableReason string `json:"unavailable_reason,omitempty"` // empty: the tool is available
	// Filters are the names of the filters of its own plugin that calls of the tool always pass.
	Filters []string `json:"filters,omitempty"`
}

// Query selects tools. A tool has to match every field that is set; the zero value matches all
// tools.
type Query struct {
	Names         []string
	Categories    []string
	Tags          []string // at least one of these
	Plugins       []string // the tools of one of these plugins
	Excluded      []string // names of tools that never match
	Dangerous     *bool    // nil: both
	MaxCostPerUse *float64 // nil: any
	MaxTools      int      // 0: all
	// Principal, Session and Context select the variants of dynamic tools; see Viewer.
	Principal string
	Groups    []string // of the principal
	Session   string
	Context   map[string]json.RawMessage
}

// Viewer returns the viewer of the query.
func (q Query) Viewer() Viewer {
	return Viewer{Principal: q.Principal, Groups: q.Groups, Session: q.Session, Context: q.Context}
}

// Viewer identifies the caller for which a plugin describes its dynamic tools. The zero value
// selects their static declarations.
type Viewer struct {
	// Principal identifies the caller. Servers set it from the connection, never from the request.
	Principal string
	Groups    []string // of the principal, which servers set likewise
	Session   string   // empty: no particular session
	// the run's context by key; a tool gets only the keys that it declares
	Context map[string]json.RawMessage
}

// Match is a tool that a search found.
type Match struct {
	Info
	Score float64 `json:"score"` // higher is better; only scores of one search are comparable
}

// Format is a form of tool descriptions for a model.
type Format string

// The formats. proto/toolhost/v1/tool_service.proto documents each.
const (
	FormatOpenAI          Format = "openai"
	FormatOpenAIResponses Format = "openai-responses"
	FormatAnthropic       Format = "anthropic"
	FormatGemini          Format = "gemini"
	FormatMCP             Format = "mcp"
	FormatMarkdown        Format = "markdown"
)

// Rendered has tools in a format.
type Rendered struct {
	Content   []byte
	MediaType string   // application/json or text/markdown
	Tools     []string // the names of the tools in Content, in order
	// the other matching tools, ordered by name; nil if Content has all of them
	Omitted []OmittedTool
}

// OmittedTool is a matching tool that a rendering omits.
type OmittedTool struct {
	Name string
	// Reason says why: the tool is not available, or the API refuses every request with it.
	Reason string
}

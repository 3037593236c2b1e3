package tool

import "strconv"

// Prompt is a text that a plugin offers for a conversation with a model. A person chooses it and
// fills in its arguments. The plugin chose all texts, so they are never instructions of the
// operator.
type Prompt struct {
	Plugin string `json:"plugin"`
	// Name has the prefix of the plugin, if the operator chose one. Two plugins can offer the same
	// name.
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

// PromptArgument describes an argument of a prompt, which is a text.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// Prompts are the prompts of several plugins, ordered by name and plugin. A plugin that fails does
// not keep the others from being listed.
type Prompts struct {
	Prompts  []Prompt   `json:"prompts"`
	Unlisted []Unlisted `json:"unlisted,omitempty"`
}

// PromptRequest asks for a prompt with its arguments filled in.
type PromptRequest struct {
	Requester
	// Plugin is the plugin that has the prompt. Empty: the only plugin that offers the name. If
	// several do, the request fails.
	Plugin    string
	Name      string
	Arguments map[string]string
	// Answers are the kinds of questions that the caller answers. Empty: the request fails if the
	// plugin asks. Requests over gRPC do not carry it.
	Answers []QuestionKind
	// Round continues an earlier request: it is what that request returned, and Given has the
	// answers to its questions, in their order. Nil: nothing was asked yet.
	Round *PromptRound
	Given []Answer
}

// PromptRound is what a plugin needs to know before it can fill in a prompt. No call is open while
// the caller finds the answers. The caller keeps the round, and repeats its request with the round
// and the answers.
type PromptRound struct {
	Questions []Question // at least one; each has a Key
	// State is what the plugin wants back. It can be confidential between plugin and host, so a
	// server must neither send it to its client nor accept it from there.
	State string
	Asked int // questions in this round and all before it
}

// PromptRole says whose words a message of a prompt is.
type PromptRole string

// The roles.
const (
	PromptUser      PromptRole = "user"
	PromptAssistant PromptRole = "assistant"
)

// PromptMessage is one message of a prompt: a block of content or a resource.
type PromptMessage struct {
	Role     PromptRole       `json:"role"`
	Content  Content          `json:"content,omitzero"` // text, image or file; zero if Resource is set
	Resource *ResourceContent `json:"resource,omitempty"`
}

// PromptText is a prompt with its arguments filled in. Its messages are the words of the plugin,
// also those with the role PromptAssistant.
type PromptText struct {
	Plugin      string          `json:"plugin"` // the plugin that returned it
	Description string          `json:"description,omitempty"`
	Messages    []PromptMessage `json:"messages"`
	// Round is what the plugin asks first. Nil: the prompt is complete. If it is set, there are no
	// messages.
	Round *PromptRound `json:"-"`
}

// CompletionRequest asks for values of an argument of a prompt or a template, for a person who
// types one. One of Prompt and URITemplate must be set.
type CompletionRequest struct {
	Requester
	Plugin      string // as in PromptRequest
	Prompt      string // the name of a prompt
	URITemplate string // a template as its plugin offers it
	Argument    string
	Value       string            // what the person has typed so far
	Arguments   map[string]string // the arguments that are filled in already
}

// MaxCompletions bounds the values of a Completion.
const MaxCompletions = 100

// Completion has values of an argument, the best ones first, and at most MaxCompletions.
type Completion struct {
	Values []string `json:"values"`
	Total  int      `json:"total,omitempty"` // how many there are; 0: unknown
	More   bool     `json:"more,omitempty"`  // there are more than Values has
}

// Text returns the message as text for a model: the text itself, or a text that stands for other
// content, as in Result.Text. A resource begins with a line that names its URI.
func (m *PromptMessage) Text() string {
	if m.Resource == nil {
		return m.Content.asText()
	}
	return "[resource " + strconv.Quote(m.Resource.URI) + "]\n" + m.Resource.Content.asText()
}

package tool

import (
	"encoding/json"
	"time"
)

// QuestionKind says what a tool asks during a call: a person, a language model, or the caller's
// program for its folders.
type QuestionKind string

// The kinds of questions. The operator permits each plugin the kinds that its tools may ask, and
// the caller says in Call.Answers which kinds it answers.
const (
	QuestionPerson QuestionKind = "person"
	QuestionModel  QuestionKind = "model"
	// QuestionRoots asks for the folders in which the caller's program works. Only MCP servers ask
	// it.
	QuestionRoots QuestionKind = "roots"
)

// Question is a question that the tool of a running call asks its caller. Exactly one of Person,
// Model and Roots is set. It is open until a QuestionClosed with its ID, or the end of the call.
//
// The plugin wrote the text. A program that shows it names the plugin, and escapes what could
// control a terminal.
type Question struct {
	ID     uint32 // within the call, from 1
	CallID string
	Plugin string
	Tool   string
	// Key is the name that the tool gave to the question. It is unique among the questions that the
	// tool asks together. Only MCP servers name their questions. May be empty.
	Key string
	// Expires is when the host closes the question if no answer has come.
	Expires time.Time
	Person  *PersonQuestion
	Model   *ModelQuestion
	Roots   *RootsQuestion
}

// Kind returns the kind of the question, or "" if none of Person, Model and Roots is set.
func (q *Question) Kind() QuestionKind {
	switch {
	case q.Person != nil:
		return QuestionPerson
	case q.Model != nil:
		return QuestionModel
	case q.Roots != nil:
		return QuestionRoots
	default:
		return ""
	}
}

// PersonQuestion asks a person for values.
type PersonQuestion struct {
	// Message is what the person reads, as plain text.
	Message string `json:"message"`
	// Schema is a JSON Schema of type object for PersonAnswer.Content. A tool may leave it empty: the
	// answer is then an object with one text, answer. The host always sends a schema.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Timeout is how long the tool waits for the answer. The host shortens it to its own limit. 0
	// means that limit.
	Timeout time.Duration `json:"timeout,omitempty"`
}

// ModelQuestion asks for one response of the caller's language model. The caller chooses the model.
type ModelQuestion struct {
	// System is the system prompt. May be empty.
	System string `json:"system,omitempty"`
	// Messages is the conversation. It begins and ends with a message of the user.
	Messages []ModelMessage `json:"messages"`
	// MaxTokens bounds the response. The caller may bound it further. 0 means the caller's default.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Timeout is how long the tool waits for the answer. The host shortens it to its own limit. 0
	// means that limit.
	Timeout time.Duration `json:"timeout,omitempty"`
}

// RootsQuestion asks for the folders in which the caller's program works.
type RootsQuestion struct{}

// ModelMessage is one message of a ModelQuestion. Every caller that answers for models accepts
// text. A caller may refuse other content with KindUnsupported.
type ModelMessage struct {
	Role    ModelRole `json:"role"`
	Content []Content `json:"content"`
}

// ModelRole is the author of a ModelMessage.
type ModelRole string

// The authors of messages.
const (
	ModelUser      ModelRole = "user"
	ModelAssistant ModelRole = "assistant"
)

// Answer answers a Question. Exactly one field is set: that of the question's kind, or Err if there
// is no answer. The kind of Err is KindUnsupported if the operator does not permit the question or
// the caller cannot answer it.
type Answer struct {
	Person *PersonAnswer
	Model  *ModelAnswer
	Roots  *RootsAnswer
	Err    *Error
}

// PersonAnswer is what a person did with a question.
type PersonAnswer struct {
	Action PersonAction `json:"action"`
	// Content is an object that fits the schema of the question. It is nil unless the person
	// accepted.
	Content json.RawMessage `json:"content,omitempty"`
}

// PersonAction is what a person does with a question.
type PersonAction string

// What a person does with a question.
const (
	PersonAccept  PersonAction = "accept"  // the person gave the values
	PersonDecline PersonAction = "decline" // the person refused to give them
	PersonDismiss PersonAction = "dismiss" // the person closed the question without a choice
)

// ModelAnswer is the response of a language model.
type ModelAnswer struct {
	Model   string    `json:"model,omitempty"` // its name, as text
	Content []Content `json:"content"`
	// StopReason says in the terms of the model's provider why the response ended. May be empty.
	StopReason string `json:"stop_reason,omitempty"`
	Usage      Usage  `json:"usage,omitzero"` // the zero value if it is unknown
}

// RootsAnswer lists the folders of a caller. It grants nothing: the sandbox of the plugin decides
// what the plugin can reach.
type RootsAnswer struct {
	Roots []Root `json:"roots"`
}

// Root is a folder of a caller.
type Root struct {
	URI  string `json:"uri"` // begins with file://
	Name string `json:"name,omitempty"`
}

// Text returns the text of the response.
func (a *ModelAnswer) Text() string {
	r := Result{Content: a.Content}
	return r.Text()
}

// QuestionClosed says that a question of a call takes no answer any more.
type QuestionClosed struct {
	ID     uint32 // Question.ID
	Reason QuestionEnd
}

// QuestionEnd says why a question closed.
type QuestionEnd string

// The reasons why a question closes.
const (
	QuestionAnswered  QuestionEnd = "answered"  // the caller answered it, perhaps with an error
	QuestionExpired   QuestionEnd = "expired"   // no answer came in time
	QuestionAbandoned QuestionEnd = "abandoned" // the call ended, was cancelled, or lost its plugin
)

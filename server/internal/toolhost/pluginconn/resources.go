package pluginconn

import (
	"context"
	"errors"

	"github.com/toolhost/toolhost/tool"
)

// Resources is a Conn to a plugin that has resources. Errors wrap ErrLost if the connection was
// lost, wrap ErrStuck, are the cause of ctx, or say in words for callers why the plugin did not
// answer. The fields Plugin of all values are empty.
type Resources interface {
	// ListResources returns all resources of the plugin, in its order.
	ListResources(ctx context.Context, of Asker) ([]tool.Resource, error)
	// ListResourceTemplates returns all templates of the plugin, in its order.
	ListResourceTemplates(ctx context.Context, of Asker) ([]tool.ResourceTemplate, error)
	// ReadResource returns the content of a resource.
	ReadResource(ctx context.Context, of Asker, uri string) ([]tool.ResourceContent, error)
	// Subscribe makes the plugin tell when a resource changes; see Noticing. The subscription ends
	// with stop, which does not block, or with the connection. Several subscriptions of one resource
	// are one for the plugin.
	Subscribe(ctx context.Context, of Asker, uri string) (stop func(), err error)
}

// Prompts is a Conn to a plugin that has prompts. Errors are those of Resources.
type Prompts interface {
	// ListPrompts returns all prompts of the plugin, in its order, and without two of the same name.
	ListPrompts(ctx context.Context, of Asker) ([]tool.Prompt, error)
	// GetPrompt returns a prompt with its arguments filled in, or a round of questions of the kinds
	// in r.Answers. r.Name is one that ListPrompts returned.
	GetPrompt(ctx context.Context, of Asker, r tool.PromptRequest) (tool.PromptText, error)
	// Complete returns values of an argument of a prompt or a template.
	Complete(ctx context.Context, of Asker, req tool.CompletionRequest) (tool.Completion, error)
}

// Noticing is a Conn that tells when resources or prompts change.
type Noticing interface {
	// Notice makes the connection call f with each change until stop. f must not block, and any
	// goroutine may call it. It is called at most some hundred times in a second.
	Notice(f func(tool.ResourceChange)) (stop func())
}

// ErrStuck says that the plugin did not answer a request, nor a small one after that.
var ErrStuck = errors.New("the plugin does not answer")

// Asker is the principal that a request for resources or prompts is for.
type Asker struct {
	Principal string
	Session   string
	Secrets   map[string]string // the secrets that the plugin needs, as in Start
}

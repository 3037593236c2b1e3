//go:build demo

package provider

import (
	"errors"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// hosted returns an error, because the demo has no provider with a network API.
func (Choice) hosted(string, string) (model.Model, error) {
	return nil, errors.New("this agentd was built for `make demo` and only runs scripted models: run `make build`, which builds all providers")
}

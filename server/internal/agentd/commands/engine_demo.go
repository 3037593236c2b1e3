//go:build demo

package commands

import (
	"context"
	"iter"
	"log/slog"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// temporalEngine is not in the agentd of the demo, because Temporal's SDK takes long to compile.
type temporalEngine struct{ agent.Local }

func (s *setup) openTemporal(func(error), *slog.Logger) (*temporalEngine, error) {
	return nil, cli.Usage("engine: this agentd was built for the demo, without Temporal; build it with `make`")
}

func (*temporalEngine) close() {}

func (*temporalEngine) rebuild(context.Context, iter.Seq2[string, error]) (told, others int, err error) {
	return 0, 0, nil
}

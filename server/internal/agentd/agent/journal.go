package agent

import (
	"log/slog"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// journal reads the journals of runs and knows which runs other processes work on.
type journal struct {
	store  runstore.Store
	claims runstore.Claims // of store; nil: it has none
	log    *slog.Logger
}

func newJournal(store runstore.Store, log *slog.Logger) *journal {
	claims, _ := store.(runstore.Claims)
	return &journal{store, claims, log}
}

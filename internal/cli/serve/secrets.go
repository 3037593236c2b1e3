package serve

import (
	"log/slog"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/secrets"
)

// openSecrets returns the store of the secrets that the configuration names.
func openSecrets(named map[string]config.Secret, getenv func(string) string) *secrets.Store {
	cfg := secrets.Config{Getenv: getenv}
	for name, s := range named {
		cfg.Sources = append(cfg.Sources, secrets.Source{Name: name, Env: s.Env, File: s.File, Plugins: s.Plugins})
	}
	return secrets.New(cfg)
}

// warnOfSecrets reads the secrets for the first time, so that toolhost redacts them from then on,
// and logs errors.
func warnOfSecrets(store *secrets.Store, logger *slog.Logger) {
	for _, warning := range store.Inspect() {
		logger.Warn(warning)
	}
}
